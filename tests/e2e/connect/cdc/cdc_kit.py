"""A database to capture, and a task that captures it."""

from itertools import count
from typing import Any

import psycopg

from connect_kit import StoredOffsets, eventually, read
from database_servers import DatabaseServer
from moldau.pipeline.connect.connectors.postgres_cdc.source import PostgresCdcSourceTask
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import check

_NUMBERS = count(1)


class Shop:
    """A database of its own. `config` captures it."""

    def __init__(self, server: DatabaseServer, name: str) -> None:
        self.server = server
        self.name = name
        self.offsets = StoredOffsets()
        self.config = {
            "database.hostname": "127.0.0.1",
            "database.port": str(server.port),
            "database.user": server.user,
            "database.password": server.password,
            "database.dbname": name,
            "topic.prefix": "pg",
            "slot.name": name,
            "poll.interval.ms": "20",
            "slot.retry.delay.ms": "100",
        }
        self._tasks: list[PostgresCdcSourceTask] = []
        self.connection = self.connect()

    def connect(self, database: str | None = None) -> Any:
        return connect_to(self.server, database or self.name)

    def run(self, statement: str) -> None:
        self.connection.execute(statement)

    def task(self, **settings: str) -> PostgresCdcSourceTask:
        """A started task. Underscores in the names of settings are points."""
        made = PostgresCdcSourceTask()
        given = {name.replace("_", "."): value for name, value in settings.items()}
        made.start({**self.config, **given}, self.offsets)
        self._tasks.append(made)
        return made

    def read(self, task: PostgresCdcSourceTask, number: int) -> list[SourceRecord]:
        """As many records, exactly; they fit their schemas."""
        found = read(task, self.offsets, number)
        assert len(found) == number, [shown(one) for one in found]
        for one in found:
            if one.value_schema is not None:
                check(one.value_schema, one.value)
            if one.key_schema is not None:
                check(one.key_schema, one.key)
        return found

    def until_logging(self, task: PostgresCdcSourceTask) -> None:
        """Until the task waits for changes."""
        eventually(lambda: not task.poll() and self.is_slot_active(), "the task reads the log")

    def is_slot_active(self) -> bool:
        query = "SELECT active FROM pg_replication_slots WHERE slot_name = %s"
        row = self.connection.execute(query, (self.name,)).fetchone()
        return bool(row and row[0])

    def close(self) -> None:
        for one in self._tasks:
            one.stop()
        self.connection.close()
        with self.connect("postgres") as admin:
            eventually(lambda: not self._slots(admin, "active"), "the slots are free")
            self._slots(admin, "pg_drop_replication_slot(slot_name)")
            admin.execute(f'DROP DATABASE "{self.name}" WITH (FORCE)')

    def _slots(self, admin: Any, what: str) -> list[Any]:
        condition = "AND active" if what == "active" else ""
        query = f"SELECT {what} FROM pg_replication_slots WHERE database = %s {condition}"
        found: list[Any] = admin.execute(query, (self.name,)).fetchall()
        return found


def connect_to(server: DatabaseServer, database: str) -> Any:
    return psycopg.connect(
        host="127.0.0.1",
        port=server.port,
        user=server.user,
        password=server.password,
        dbname=database,
        autocommit=True,
    )


def new_shop(server: DatabaseServer) -> Shop:
    name = f"shop_{next(_NUMBERS)}"
    with connect_to(server, "postgres") as admin:
        admin.execute(f"CREATE DATABASE {name}")
    return Shop(server, name)


def plain(value: Struct | None) -> dict[str, Any] | None:
    return None if value is None else value.as_dict()


def shown(record: SourceRecord) -> tuple[Any, ...]:
    """Topic, key, kind, before and after of a record; a tombstone has no more than its key."""
    key = plain(record.key)
    if record.value is None:
        return record.topic, key, None
    value = record.value
    return record.topic, key, value["op"], plain(value["before"]), plain(value["after"])
