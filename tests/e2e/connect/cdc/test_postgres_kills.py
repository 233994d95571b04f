"""A task that is killed, or loses its connection, at any moment: every change is written once, in order."""

import os
from random import Random
from threading import Event, Thread
from typing import Any

import pytest

from connect_kit import eventually
from e2e.connect.cdc.cdc_kit import Shop
from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.data.records import SourceRecord

KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "12"))
TABLES = ("customers", "orders")
ROWS = 300
SENDERS = "backend_type = 'walsender'"


def change(shop: Shop, stop: Event, seed: int) -> None:
    """Transactions that count up one row or several, move keys, delete rows and insert them again."""
    random = Random(seed)
    with shop.connect() as connection:
        while not stop.is_set():
            with connection.transaction():
                for _ in range(random.choice((1, 1, 3, 20))):
                    table, row = random.choice(TABLES), random.randrange(ROWS)
                    connection.execute(f"UPDATE {table} SET version = version + 1 WHERE id = {row}")
                if random.random() < 0.1:
                    connection.execute(f"DELETE FROM orders WHERE id = {row}")
                    connection.execute(f"INSERT INTO orders VALUES ({row}, 0)")
            stop.wait(0.002)
    connection.close()


class Table:
    """What a reader of the topics knows. Every record must be the next one of its row."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, int], int | None] = {}
        self.snapshot_rows = 0

    def apply(self, record: SourceRecord) -> None:
        if record.value is None:
            return
        value, name = record.value, record.topic
        row = name, record.key["id"]
        known = self.rows.get(row)
        match value["op"]:
            case "r":
                assert row not in self.rows, f"{row} was read twice"
                self.snapshot_rows += 1
            case "c":
                assert known is None, f"{row} was created twice"
            case "u":
                assert known is not None and value["after"]["version"] == known + 1, (
                    row,
                    known,
                    value["after"],
                )
            case "d":
                assert known is not None, f"{row} was deleted twice"
                self.rows[row] = None
                return
        self.rows[row] = value["after"]["version"]


@pytest.mark.slow
def test_kills(shop: Shop) -> None:
    random = Random(203)
    for name in TABLES:
        shop.run(f"CREATE TABLE {name} (id int PRIMARY KEY, version int NOT NULL)")
        shop.run(f"INSERT INTO {name} SELECT i, 0 FROM generate_series(0, {ROWS - 1}) i")
    stop = Event()
    writer = Thread(target=change, args=(shop, stop, 1))
    writer.start()
    table = Table()
    try:
        for _ in range(KILLS):
            live(shop, table, random, random.randrange(1, 12))
    finally:
        stop.set()
        writer.join()
    task = shop.task()
    eventually(lambda: written(shop, table, task) and table.rows == actual(shop), "everything is written")
    assert table.snapshot_rows == ROWS * len(TABLES)
    assert all(written(shop, table, task) for _ in range(3))


def live(shop: Shop, table: Table, random: Random, polls: int) -> None:
    """One life of a task, which ends before its records are written, before it learns of that, or after."""
    task = shop.task(max_batch_size=str(random.choice((7, 50, 400))))
    end = random.randrange(3)
    cut = random.randrange(12)
    while polls:
        if polls == cut:
            # The server ends the connection that sends the log, or that holds the snapshot.
            shop.run(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{shop.name}' AND {SENDERS}"
            )
        records = eventually_polled(task)
        polls -= 1
        if polls or end:
            shop.offsets.store(records)
            for one in records:
                table.apply(one)
        if polls or end == 2:
            task.committed()
    task.stop()


def eventually_polled(task: Any) -> Any:
    def polled() -> Any:
        try:
            return task.poll()
        except RetriableError:
            return ()

    return eventually(polled, "records")


def written(shop: Shop, table: Table, task: Any) -> bool:
    """True when nothing was left to write."""
    records = task.poll()
    shop.offsets.store(records)
    for one in records:
        table.apply(one)
    if records:
        task.committed()
    return not records


def actual(shop: Shop) -> dict[tuple[str, int], int | None]:
    return {
        (f"pg.public.{table}", row): version
        for table in TABLES
        for row, version in shop.connection.execute(f"SELECT id, version FROM {table}").fetchall()
    }
