"""PostgreSQL change capture: a database whose rows change, and what the topics say about them."""

import random
from types import SimpleNamespace
from typing import Any

from e2e.connect.cdc.cdc_kit import Shop
from e2e.connect.cdc.test_postgres_kills import TABLES, Table
from e2e.connect.kills.flow import Flow, json_of
from e2e.connect.kills.topics import CommittedReader

ROWS = 20_000
"""In each table before the connector begins: enough for a kill while they are read."""


class Changes(Flow):
    name = "changes"
    tasks = 1
    step = 3_000

    def __init__(self, shop: Shop, servers: str) -> None:
        self._shop = shop
        self._dice = random.Random(1824)
        self._writer = shop.connect()
        self._table = Table()
        self._reader = CommittedReader(
            servers, dict.fromkeys((f"pg.public.{one}" for one in TABLES), 1), self._take
        )
        self.config = {
            **shop.config,
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "tombstones.on.delete": "false",
            "max.batch.size": "500",
            "key.converter": "JsonConverter",
            "key.converter.schemas.enable": "false",
            "value.converter": "JsonConverter",
            "value.converter.schemas.enable": "false",
        }
        for one in TABLES:
            shop.run(f"CREATE TABLE {one} (id int PRIMARY KEY, version int NOT NULL)")
            shop.run(f"INSERT INTO {one} SELECT i, 0 FROM generate_series(0, {ROWS - 1}) i")

    def put(self) -> None:
        """A transaction that counts up some rows, and perhaps deletes one and inserts it again."""
        dice, run = self._dice, self._writer.execute
        table, row, count = dice.choice(TABLES), dice.randrange(ROWS), dice.choice((1, 1, 3, 20, 200))
        with self._writer.transaction():
            run(f"UPDATE {table} SET version = version + 1 WHERE id >= {row} AND id < {row + count}")
            if dice.random() < 0.1:
                run(f"DELETE FROM orders WHERE id = {row}")
                run(f"INSERT INTO orders VALUES ({row}, 0)")

    def arrived(self) -> int:
        return self._reader.read()

    def is_complete(self) -> bool:
        self._reader.read()
        return self._table.rows == self._actual()

    def check(self) -> str:
        assert self._table.snapshot_rows == ROWS * len(TABLES)
        count = self._reader.count
        assert self._reader.read() == count, "there is something behind the last change"
        return f"{ROWS * len(TABLES)} rows, {count - ROWS * len(TABLES)} changes"

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def _take(self, message: Any) -> None:
        """Fails if it is not the next change of its row."""
        key, value = json_of(message.key()), json_of(message.value())
        self._table.apply(SimpleNamespace(topic=message.topic(), key=key, value=value))  # type: ignore[arg-type]

    def _actual(self) -> dict[tuple[str, int], int | None]:
        return {
            (f"pg.public.{table}", row): version
            for table in TABLES
            for row, version in self._writer.execute(f"SELECT id, version FROM {table}").fetchall()
        }
