"""A database of each kind for the tests of JdbcSource and JdbcSink, and tasks that run on it."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pymysql

from connect_kit import Reports, StoredOffsets, eventually, read, write
from database_servers import DatabaseServer
from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.connectors.jdbc.sink import JdbcSinkConnector, JdbcSinkTask
from moldau.pipeline.connect.connectors.jdbc.source import JdbcSourceConnector, JdbcSourceTask
from moldau.pipeline.connect.data.records import SinkRecord, SourceRecord
from moldau.pipeline.connect.data.validation import check

FAST = {"poll.interval.ms": "1", "connection.attempts": "1", "connection.backoff.ms": "0"}


class Shop(ABC):
    """An empty database. Names are quoted by `mark`."""

    kind: str
    mark = '"'

    def __init__(self) -> None:
        self.offsets = StoredOffsets()
        self.reports = Reports()
        self._tasks: list[Any] = []

    @property
    @abstractmethod
    def config(self) -> dict[str, str]:
        """What a connector needs to reach it."""

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Executes and commits a statement, on a connection of the test."""

    @abstractmethod
    def close_connection(self) -> None: ...

    def run(self, *statements: str) -> None:
        for one in statements:
            self.rows(one)

    def typed(self, **texts: str) -> str:
        """The text for this kind of database, or `other`."""
        return texts.get(self.kind, texts.get("other", ""))

    # Connectors.

    def source_config(self, **settings: str) -> dict[str, str]:
        """Underscores in the names of settings are points."""
        given = {name.replace("_", "."): value for name, value in settings.items()}
        return {**self.config, **FAST, "topic.prefix": "db-", **given}

    def source(self, **settings: str) -> JdbcSourceTask:
        """A started task for all tables or the query. It goes on from the offsets of the one before."""
        connector = JdbcSourceConnector()
        connector.start(self.source_config(**settings))
        [config] = connector.task_configs(1)
        connector.stop()
        made = JdbcSourceTask()
        made.start(config, self.offsets)
        self._tasks.append(made)
        return made

    def read(self, task: JdbcSourceTask, count: int) -> list[SourceRecord]:
        """As many records, exactly; they fit their schemas."""
        found = read(task, self.offsets, count)
        assert len(found) == count, [one.value for one in found]
        for one in found:
            assert one.value_schema is not None
            check(one.value_schema, one.value)
        return found

    def read_nothing(self, task: JdbcSourceTask) -> None:
        """There is nothing new after several readings."""
        for _ in range(3):
            eventually(lambda: task.next_poll_ms() <= 1, "the next reading is due")
            assert not task.poll()

    def sink(self, **settings: str) -> JdbcSinkTask:
        """A started task."""
        config = {
            **self.config,
            **FAST,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        config.pop("poll.interval.ms")
        connector = JdbcSinkConnector()
        connector.start(config)
        [config] = connector.task_configs(1)
        made = JdbcSinkTask()
        made.start(config, self.reports)
        self._tasks.append(made)
        return made

    def write(self, task: JdbcSinkTask, records: Sequence[SinkRecord]) -> None:
        """As a worker does: again while the task asks for it. Records that are reported fail the test."""
        self.write_some(task, records)
        assert not self.reports.failed, self.reports.failed

    def write_some(self, task: JdbcSinkTask, records: Sequence[SinkRecord]) -> None:
        def is_written() -> bool:
            try:
                write(task, records)
            except RetriableError:
                return False
            return True

        eventually(is_written, "the records are written")

    def close(self) -> None:
        for one in self._tasks:
            one.stop()
        self.close_connection()


class ServedShop(Shop):
    """A database of a server, which may end and start again."""

    server: DatabaseServer

    @property
    def config(self) -> dict[str, str]:
        return self.server.config

    def end_server(self) -> None:
        self.close_connection()
        self.server.stop()

    def start_server(self) -> None:
        """On the same port; returns when it lets clients in."""
        eventually(self.server.start, "the server's port is free")

        def answers() -> bool:
            try:
                return bool(self.rows("SELECT 1"))
            except (psycopg.OperationalError, pymysql.OperationalError):
                return False

        eventually(answers, "the server lets clients in")


class SqliteShop(Shop):
    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "shop.db"
        self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")

    @property
    def config(self) -> dict[str, str]:
        return {"connection.url": f"jdbc:sqlite:{self.path}"}

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.replace("%s", "?"), parameters).fetchall()

    def close_connection(self) -> None:
        self._connection.close()


class PostgreSqlShop(ServedShop):
    kind = "postgresql"

    def __init__(self, server: DatabaseServer) -> None:
        super().__init__()
        self.server = server
        self._connection: Any = None
        self.run("DROP SCHEMA IF EXISTS public, archive CASCADE", "CREATE SCHEMA public")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                host="127.0.0.1",
                port=self.server.port,
                user=self.server.user,
                password=self.server.password,
                dbname=self.server.database,
                autocommit=True,
            )
        cursor = self._connection.execute(sql, parameters or None)
        found: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        return found

    def close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class MariaDbShop(ServedShop):
    kind = "mariadb"
    mark = "`"

    def __init__(self, server: DatabaseServer) -> None:
        super().__init__()
        self.server = server
        self._connection: Any = None
        self.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "USE shop")

    def start_server(self) -> None:
        super().start_server()
        self.run("USE shop")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = pymysql.connect(
                host="127.0.0.1",
                port=self.server.port,
                user=self.server.user,
                password=self.server.password.encode(),
                autocommit=True,
                charset="utf8mb4",
                init_command="SET time_zone = '+00:00'",
            )
        with self._connection.cursor() as cursor:
            cursor.execute(sql, tuple(parameters) or None)
            return list(cursor.fetchall()) if cursor.description else []

    def close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def shop_of(server: DatabaseServer | Path) -> Shop:
    """`server`: a running one, or the folder for a file of SQLite."""
    if isinstance(server, Path):
        return SqliteShop(server)
    return PostgreSqlShop(server) if server.scheme == "postgresql" else MariaDbShop(server)
