"""Reads captured tables whole, as they were at one moment. Owns its connection and its transaction.

Rows come in the order of the primary key, so that a reading that was interrupted can go on behind the last row.
"""

from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

import psycopg
from psycopg import sql

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.postgres_cdc.database import Database, TableName, failures
from moldau.pipeline.connect.connectors.postgres_cdc.positions import BEHIND_ALL, Key, Reading
from moldau.pipeline.connect.connectors.postgres_cdc.settings import Settings
from moldau.pipeline.connect.connectors.postgres_cdc.tables import CapturedTable

FIRST: Final = "first"
FIRST_IN_TABLE: Final = "first_in_data_collection"
LAST_IN_TABLE: Final = "last_in_data_collection"
LAST: Final = "last"
MIDDLE: Final = "true"


class SnapshotRow(NamedTuple):
    table: CapturedTable
    texts: tuple[str | None, ...]
    state: str
    """Debezium's word for where in the snapshot the row is."""
    reading: Reading
    """How far the reading has got with it."""

    @property
    def is_last(self) -> bool:
        return self.state == LAST


class Snapshot:
    def __init__(self, settings: Settings, database: Database, name: str, behind: Reading | None) -> None:
        """`name` is a snapshot that another connection has exported, and still holds."""
        self._settings = settings
        self._database = database
        self._behind = behind
        self._found = self._marked_rows()
        with failures(settings.server):
            self._connection = psycopg.connect(**settings.connection(), autocommit=True)  # type: ignore[arg-type]
        try:
            with failures(settings.server):
                self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                self._import(name)
        except ConnectError:
            self._connection.close()
            raise

    def _import(self, name: str) -> None:
        try:
            self._connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(name)))
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject) as gone:
            raise RetriableError(
                f"{self._settings.server}: the snapshot is gone, as the connection that exported it has ended: "
                f"{gone}. Another one is taken"
            ) from gone

    def close(self) -> None:
        self._connection.close()
        with suppress(psycopg.Error, ConnectError):
            self._found.close()

    def take(self, count_max: int) -> list[SnapshotRow]:
        """The next rows. None are left if there are fewer than `count_max`."""
        return list(islice(self._found, count_max))

    def _marked_rows(self) -> Generator[SnapshotRow, None, None]:
        """Each row with its state, which takes a look at the next row."""
        is_first = True
        before: SnapshotRow | None = None
        for row in self._rows():
            if before is not None:
                is_last = row.table is not before.table
                yield _marked(before, is_first=is_first, is_last_in_table=is_last)
                is_first = False
            before = row
        if before is not None:
            yield _marked(before, is_first=is_first, is_last_in_table=True)._replace(state=LAST)

    def _rows(self) -> Iterator[SnapshotRow]:
        for name in self._database.captured_tables():
            behind = self._behind
            key: Key | None = None
            if behind is not None:
                shown = ".".join(name)
                if shown < behind.table or (shown == behind.table and behind.key == BEHIND_ALL):
                    continue
                key = behind.key if shown == behind.table else None
            yield from self._rows_of(name, key)

    def _rows_of(self, name: TableName, behind: Key | None) -> Iterator[SnapshotRow]:
        shape = self._database.shape(*name)
        if shape is None:
            return
        table = CapturedTable(shape, self._settings)
        columns = sql.SQL(", ").join(sql.Identifier(one.name) for one in shape.columns)
        statement = sql.SQL("SELECT {} FROM ONLY {}").format(columns, sql.Identifier(*name))
        keys = sql.SQL(", ").join(sql.Identifier(one) for one in shape.primary_key)
        if behind and shape.primary_key:
            values = sql.SQL(", ").join(sql.Literal(one) for one in behind)
            statement += sql.SQL(" WHERE ({}) > ({})").format(keys, values)
        if shape.primary_key:
            statement += sql.SQL(" ORDER BY {}").format(keys)
        state = FIRST_IN_TABLE if behind is None else MIDDLE
        copied = sql.SQL("COPY ({}) TO STDOUT").format(statement)
        with (
            failures(self._settings.server),
            self._connection.cursor() as cursor,
            cursor.copy(copied) as copy,
        ):
            for texts in copy.rows():
                yield SnapshotRow(table, texts, state, Reading(shape.full_name, table.primary_key(texts)))
                state = MIDDLE


def _marked(row: SnapshotRow, *, is_first: bool, is_last_in_table: bool) -> SnapshotRow:
    state = row.state
    if is_last_in_table:
        row = row._replace(reading=Reading(row.reading.table, BEHIND_ALL))
        state = LAST_IN_TABLE
    if is_first:
        state = FIRST
    return row._replace(state=state)
