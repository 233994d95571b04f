"""Exactly once: the driver process and Spark's workers are killed while rows go from a table to a topic, and from there
to another table.

Takes minutes, so it runs with MOLDAU_KILL_ROUNDS only.
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from jdbc_kit import PostgreSqlShop

from compat.moldau_broker import MoldauBroker
from database_servers import DatabaseServer
from e2e.connect.runtime.driver_kit import Driver, Reader, eventually, plan_of

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)

CONNECTORS = "moldau.pipeline.connect.connectors.jdbc"
ROWS_PER_TURN = 50
JSON = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}
KEYED = {
    "transforms": "key",
    "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
    "transforms.key.fields": "id",
}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    settings = {"group.initial.rebalance.delay.ms": "0", "num.partitions": "1"}
    with MoldauBroker(tmp_path / "broker", settings) as broker:
        yield broker.bootstrap


def test_nothing_is_lost_or_written_twice(
    postgresql_server: DatabaseServer, servers: str, tmp_path: Path
) -> None:
    shop = PostgreSqlShop(postgresql_server)
    shop.run(
        "CREATE TABLE payments (id SERIAL PRIMARY KEY, amount INT)",
        "INSERT INTO payments (amount) VALUES (0)",
    )
    tables = shop.source_config(
        mode="incrementing", batch_max_rows="300", tables='[["payments", "public", ""]]'
    )
    source = plan_of(
        servers, "payments", "source", f"{CONNECTORS}.source:JdbcSourceConnector", {**tables, **JSON, **KEYED}
    )
    written = {
        "topics": "db-payments",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "auto.create": "true",
    }
    sink = plan_of(
        servers,
        "copies",
        "sink",
        f"{CONNECTORS}.sink:JdbcSinkConnector",
        {**shop.config, **JSON, **written, "table.name.format": "copies"},
    )
    dice = random.Random(1883)
    reader = Reader(servers, "db-payments")
    enough = threading.Event()
    writer = threading.Thread(target=insert, args=(postgresql_server, enough))
    with Driver(tmp_path / "driver", servers) as driver:
        driver.add(source)
        reader.wait(1)
        driver.add(sink)
        writer.start()
        try:
            for number in range(int(os.environ["MOLDAU_KILL_ROUNDS"])):
                reader.wait(len(reader.found) + 1)
                time.sleep(dice.uniform(0, 1.5))
                if number % 2:
                    kill_workers(driver)
                else:
                    driver.kill()
                    driver.start()
        finally:
            enough.set()
            writer.join()
        [(count,)] = shop.rows("SELECT count(*) FROM payments")
        reader.wait(count)
        keys = [one.key() for one in reader.found]
        assert len(keys) == len(set(keys)) == count
        eventually(
            lambda: shop.rows("TABLE payments ORDER BY id") == shop.rows("TABLE copies ORDER BY id"),
            "the copies are the same",
        )
        assert reader.more() == count
    reader.close()
    shop.close()


def insert(server: DatabaseServer, enough: threading.Event) -> None:
    """Transactions of many rows, until it is enough."""
    with psycopg.connect(
        host="127.0.0.1",
        port=server.port,
        user=server.user,
        password=server.password,
        dbname=server.database,
        autocommit=True,
    ) as connection:
        while not enough.wait(0.02):
            connection.execute(
                "INSERT INTO payments (amount) SELECT i FROM generate_series(1, %s) i", (ROWS_PER_TURN,)
            )


def kill_workers(driver: Driver) -> None:
    for pid in driver.python_workers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
