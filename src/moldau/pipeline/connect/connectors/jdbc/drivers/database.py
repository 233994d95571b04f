"""A connection to a database, as source and sink use it: what every driver can do, and the ways in which it fails.

Methods raise `DatabaseAway` if the connection is lost or the server asks to try again, `RowsRejected` if values do not
fit their table, and ConnectError for everything else. After the first and the last the connection is to be closed.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.jdbc.columns import Column, Kind
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Dialect, Sql
from moldau.pipeline.connect.connectors.jdbc.settings import ConnectionSettings
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data.schema import Schema

Conversion = Callable[[Any], Any]
"""Of a value that is not null."""
Row = Sequence[Any]

CONNECT_TIMEOUT_S: Final = 10
CHECK_LOGIN: Final = "check connection.url, connection.user and connection.password"
_WAIT_S: Final = 0.1


class DatabaseAway(RetriableError):
    """It cannot be reached, or asks to try again."""


class RowsRejected(ConnectError):
    """A value does not fit its column, or a row violates a constraint."""


class Rows(ABC):
    """The result of a query, read in portions. `columns` are known from the beginning."""

    columns: Sequence[Column]

    @abstractmethod
    def fetch(self, count_max: int) -> Sequence[Row]:
        """Fewer than asked for, or none, at the end."""

    @abstractmethod
    def close(self) -> None:
        """Ends the transaction in which the rows were read."""


class Database(ABC):
    def __init__(self, settings: ConnectionSettings, dialect: Dialect) -> None:
        self.settings = settings
        self.dialect = dialect
        self.zone = settings.zone

    def __str__(self) -> str:
        return str(self.settings.url)

    @property
    @abstractmethod
    def is_open(self) -> bool: ...

    @abstractmethod
    def connect(self) -> None:
        """One attempt."""

    @abstractmethod
    def close(self) -> None:
        """Never fails. What was not committed is lost."""

    @abstractmethod
    def failing(self, what: str) -> AbstractContextManager[None]:
        """Turns the driver's errors into ours. `what` completes "cannot ..."."""

    # Reading.

    @abstractmethod
    def tables(self, types: Sequence[str], catalog: str, schema: str) -> list[TableName]:
        """Of these types. `catalog` and `schema` are patterns of LIKE; empty: all that the user works with."""

    @abstractmethod
    def columns(self, table: TableName) -> Sequence[Column] | None:
        """None if there is no such table."""

    @abstractmethod
    def query_columns(self, query: str) -> Sequence[Column]:
        """Of the result of a query, without running it."""

    @abstractmethod
    def read(self, table: TableName | None, sql: Sql) -> Rows:
        """`table` is the one that is read, if it is a single one. There is one result at a time."""

    @abstractmethod
    def now(self) -> datetime:
        """The database's clock in UTC: rows that are written from now on have no earlier timestamp. It is as coarse as
        the database's default for timestamps."""

    @abstractmethod
    def reads(self, column: Column) -> Conversion | None:
        """From what the driver gives for a column to the value of its kind."""

    def moment(self, moment: datetime, columns: Sequence[Column]) -> Any:
        """As a parameter that is compared with timestamp columns."""
        if any(one.has_zone for one in columns):
            return moment
        return self.local(moment)

    # Writing.

    @abstractmethod
    def writes(self, schema: Schema, column: Column | None) -> Conversion | None:
        """From a value of a schema to what the driver takes for a column."""

    @abstractmethod
    def execute(self, sql: Sql) -> Sequence[Row]: ...

    @abstractmethod
    def execute_many(self, text: str, rows: Sequence[Row]) -> None:
        """A statement for each row."""

    @abstractmethod
    def insert(
        self, table: TableName, names: Sequence[str], keys: Sequence[str] | None, rows: Sequence[Row]
    ) -> None:
        """With `keys`: or update, if a row with the same key exists. `rows` do not have a key twice then."""

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def rollback(self) -> None: ...

    # Times in columns without a zone.

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone).replace(tzinfo=None)

    def moment_of_local(self) -> Conversion:
        if str(self.zone) == "UTC":
            return lambda value: value.replace(tzinfo=UTC)
        zone = self.zone
        return lambda value: value.replace(tzinfo=zone).astimezone(UTC)

    def moment_reader(self, column: Column) -> Conversion:
        """For a timestamp column that is compared: to a moment in UTC."""
        if column.kind is not Kind.TIMESTAMP:
            raise ConnectError(
                f"{self}: the column {column.name} is no timestamp ({column.type_name or column.kind.name}): name one "
                "in timestamp.column.name"
            )
        return self.reads(column) or (lambda value: value)


def open_database(database: Database, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """As often as `connection.attempts` says. Raises DatabaseAway, or ConnectError for what another attempt will not
    change, such as a wrong password."""
    settings = database.settings
    for attempt in range(1, settings.attempts + 1):
        try:
            database.connect()
        except DatabaseAway:
            if attempt == settings.attempts or is_stopping():
                raise
        else:
            return
        end = time.monotonic() + settings.backoff_ms / 1_000
        while time.monotonic() < end and not is_stopping():
            time.sleep(min(_WAIT_S, max(end - time.monotonic(), 0)))
