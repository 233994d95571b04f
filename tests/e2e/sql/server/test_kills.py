"""Server, Spark and broker are killed again and again while queries run: every result is right, every time.

Takes minutes, so it runs with MOLDAU_KILL_ROUNDS only.
"""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.process_facts import children
from e2e.spark.kit import Sent, committed, send
from e2e.sql.server.sql_process import EARLIEST, PATIENCE_S, Refused, SqlProcess

RECORDS = 200
"""Of each round."""
USERS = 7
WINDOW_MS = 10_000
BACK_S_MAX = 30

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)


def test_results_are_exact_whatever_is_killed(own_broker: MoldauBroker, tmp_path: Path, rounds: int) -> None:
    random.seed(rounds)
    expected: Counter[tuple[str, int]] = Counter()
    sent = 0
    with SqlProcess(tmp_path / "server", own_broker.bootstrap, tmp_path / "state") as server:
        define(server)
        for number in range(rounds):
            records = [view(sent + index) for index in range(RECORDS)]
            sent += RECORDS
            expected.update(
                (str(record.key), record.timestamp_ms // WINDOW_MS * WINDOW_MS) for record in records
            )
            half = RECORDS // 2
            send(own_broker.bootstrap, "views", records[:half])
            time.sleep(random.random() * 2)
            victim = ("driver", "server", "broker", "jvm")[number % 4]
            kill(victim, server, own_broker)
            send(own_broker.bootstrap, "views", records[half:])
            wait_until(lambda: counts(server) == expected, f"round {number}: {victim} was killed", PATIENCE_S)
        wait_until(lambda: len(copied(own_broker)) >= sent, "everything is copied", PATIENCE_S)
        assert sorted(copied(own_broker)) == list(range(sent))


def define(server: SqlProcess) -> None:
    server.client.ksql(
        "CREATE STREAM VIEWS (USER_ID STRING KEY, N INT) "
        "WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=2);"
        "CREATE STREAM COPIES AS SELECT * FROM VIEWS;"
        f"CREATE TABLE COUNTS AS SELECT USER_ID, COUNT(*) AS C FROM VIEWS "
        f"WINDOW TUMBLING (SIZE {WINDOW_MS} MILLISECONDS) GROUP BY USER_ID;",
        **EARLIEST,
    )


def view(number: int) -> Sent:
    return Sent(f"user-{number % USERS}", orjson.dumps({"N": number}), timestamp_ms=1_000 + number * 37)


def kill(victim: str, server: SqlProcess, broker: MoldauBroker) -> None:
    if victim == "server":
        server.kill9()
        killed = time.monotonic()
        server.start()
        assert len(server.client.query_states()) == 2
        assert time.monotonic() - killed < BACK_S_MAX
    elif victim == "broker":
        broker.kill9()
        broker.start()
    elif (driver := server.driver_pid()) is not None:
        doomed = driver if victim == "driver" else next(iter(children(driver)), driver)
        os.kill(doomed, signal.SIGKILL)


def counts(server: SqlProcess) -> Counter[tuple[str, int]]:
    try:
        rows = server.client.rows("SELECT USER_ID, WINDOWSTART, C FROM COUNTS;")
    except Refused:
        return Counter()
    return Counter({(user, start): count for user, start, count in rows})


def copied(broker: MoldauBroker) -> list[int]:
    return [orjson.loads(record.value or b"null")["N"] for record in committed(broker.bootstrap, "COPIES")]
