"""SQLite. A result is copied to a temporary table first, so that a reader does not keep writers waiting."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.columns import Column, Kind
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import PARAMETER, Dialect, Sql
from moldau.pipeline.connect.connectors.jdbc.drivers.database import (
    CONNECT_TIMEOUT_S,
    Conversion,
    Database,
    DatabaseAway,
    Row,
    Rows,
    RowsRejected,
)
from moldau.pipeline.connect.connectors.jdbc.settings import ConnectionSettings
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.logical import EPOCH, days_of, ms_of, ms_of_time
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.validation import RANGES

_SPOOL: Final = "temp.moldau_rows"
_VIEW: Final = "temp.moldau_query"

# As Java's driver reads the declared type; the first that fits. SQLite itself keeps any value in any column.
_EXACT: Final = {
    "TINYINT": Kind.INT8,
    "SMALLINT": Kind.INT16,
    "INT2": Kind.INT16,
    "BIGINT": Kind.INT64,
    "INT8": Kind.INT64,
    "UNSIGNED BIG INT": Kind.INT64,
    "BOOLEAN": Kind.BOOLEAN,
    "BOOL": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIME": Kind.TIME,
}
_CONTAINED: Final = (
    ("DATETIME", Kind.TIMESTAMP),
    ("TIMESTAMP", Kind.TIMESTAMP),
    ("INT", Kind.INT32),
    ("CHAR", Kind.STRING),
    ("CLOB", Kind.STRING),
    ("TEXT", Kind.STRING),
    ("BLOB", Kind.BYTES),
    ("BINARY", Kind.BYTES),
    ("REAL", Kind.FLOAT64),
    ("FLOA", Kind.FLOAT64),
    ("DOUBLE", Kind.FLOAT64),
    ("NUMERIC", Kind.DECIMAL),
    ("DECIMAL", Kind.DECIMAL),
)
_TEXTUAL: Final = (Kind.STRING, Kind.TIMESTAMP, Kind.DATE, Kind.TIME)


class SqliteDatabase(Database):
    _connection: sqlite3.Connection | None = None

    def __init__(self, settings: ConnectionSettings, dialect: Dialect) -> None:
        super().__init__(settings, dialect)
        self._large: set[tuple[TableName | None, str]] = set()
        """Columns for whole numbers that had one of more than 32 bits: an INTEGER may have 64."""

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def connection(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    def connect(self) -> None:
        path = self.settings.url.database
        if not Path(path).parent.is_dir():
            raise ConnectError(f"{self} cannot be reached: there is no folder {Path(path).parent}")
        with self.failing("be reached"):
            self._connection = sqlite3.connect(
                path, CONNECT_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA schema_version")

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as failure:
            raise self._failure(what, failure) from failure
        except OverflowError as failure:
            raise RowsRejected(f"{self} cannot {what}: {failure}") from failure

    def _failure(self, what: str, failure: sqlite3.Error) -> ConnectError:
        text = f"{self} cannot {what}: {failure}"
        code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            return DatabaseAway(text)
        is_rejected = isinstance(failure, sqlite3.IntegrityError | sqlite3.DataError | sqlite3.InterfaceError)
        return (RowsRejected if is_rejected else ConnectError)(text)

    # Reading.

    def tables(self, types: Sequence[str], catalog: str, schema: str) -> list[TableName]:
        asked = {one.lower() for one in types}
        with self.failing("list its tables"):
            found = self.connection.execute(
                "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            ).fetchall()
        return [TableName(name) for name, kind in found if kind in asked]

    def columns(self, table: TableName) -> Sequence[Column] | None:
        with self.failing(f"say what the columns of {table} are"):
            found = self.connection.execute(
                'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1',
                (table.name, table.catalog or "main"),
            ).fetchall()
        keys = [one for one in found if one[3]]
        return [_column(*one, is_only_key=len(keys) == 1) for one in found] or None

    def query_columns(self, query: str) -> Sequence[Column]:
        with self.failing("run the query"):
            self.connection.execute(f"CREATE TEMP VIEW moldau_query AS SELECT * FROM ({query})")
            try:
                found = self.connection.execute(
                    "SELECT name, type FROM pragma_table_info('moldau_query', 'temp')"
                ).fetchall()
            finally:
                self.connection.execute(f"DROP VIEW {_VIEW}")
        return [_column(name, declared, 0, 0, is_only_key=False) for name, declared in found]

    def read(self, table: TableName | None, sql: Sql) -> Rows:
        columns = self.columns(table) if table is not None else self.query_columns(_unbound(sql))
        if columns is None:
            raise ConnectError(f"{self} cannot run the query: there is no table {table}")
        with self.failing("run the query"):
            self.connection.execute(f"DROP TABLE IF EXISTS {_SPOOL}")
            self.connection.execute(
                f"CREATE TEMP TABLE moldau_rows AS {sql.text.replace(PARAMETER, '?')}", sql.parameters
            )
            columns = [self._widened(table, column) for column in columns]
            cursor = self.connection.execute(f"SELECT * FROM {_SPOOL} ORDER BY rowid")
        return _SpooledRows(self, cursor, columns)

    def _widened(self, table: TableName | None, column: Column) -> Column:
        if column.kind is not Kind.INT32:
            return column
        if (table, column.name) not in self._large:
            name = self.dialect.quoted(column.name)
            large = self.connection.execute(
                f"SELECT 1 FROM {_SPOOL} WHERE typeof({name}) = 'integer' AND {name} NOT BETWEEN ? AND ? LIMIT 1",
                RANGES[SchemaType.INT32],
            ).fetchone()
            if large is None:
                return column
            self._large.add((table, column.name))
        return replace(column, kind=Kind.INT64)

    def now(self) -> datetime:
        with self.failing("tell its time"):
            [(found,)] = self.connection.execute("SELECT CURRENT_TIMESTAMP").fetchall()
        return datetime.fromisoformat(found).replace(tzinfo=UTC)

    def moment(self, moment: datetime, columns: Sequence[Column]) -> Any:
        return self.local(moment).isoformat(" ", "microseconds")

    def reads(self, column: Column) -> Conversion | None:
        convert = self._reader(column)
        return None if convert is None else self._checked(column, convert)

    def _checked(self, column: Column, convert: Conversion) -> Conversion:
        def checked(value: Any) -> Any:
            try:
                return convert(value)
            except (ValueError, TypeError, OverflowError, InvalidOperation, KeyError):
                raise ConnectError(
                    f"{self}: the column {column.name} has {value!r}, which is no {column.kind.name.lower()}: "
                    "correct the row, or cast the column in a query"
                ) from None

        return checked

    def _reader(self, column: Column) -> Conversion | None:
        match column.kind:
            case Kind.TIMESTAMP:
                localized = self.moment_of_local()
                return lambda value: _moment(value, localized)
            case Kind.DATE:
                return lambda value: _moment(value, _same).date()
            case Kind.TIME:
                return lambda value: (
                    time.fromisoformat(value) if isinstance(value, str) else _of_ms(value).time()
                )
            case Kind.STRING:
                return lambda value: value if isinstance(value, str) else _text(value)
            case Kind.BYTES:
                return lambda value: value if isinstance(value, bytes) else str(value).encode()
            case Kind.DECIMAL:
                return lambda value: Decimal(str(value))
            case Kind.FLOAT64:
                return float
            case Kind.BOOLEAN:
                return _truth
        return _whole

    # Writing.

    def writes(self, schema: Schema, column: Column | None) -> Conversion | None:
        # A column of Java's connector has numbers.
        is_number = column is not None and column.kind not in _TEXTUAL
        match schema.name:
            case schemas.TIMESTAMP if is_number:
                return ms_of
            case schemas.TIMESTAMP:
                return lambda value: self.local(value).isoformat(" ", "milliseconds")
            case schemas.DATE:
                return (lambda value: days_of(value) * 86_400_000) if is_number else date.isoformat
            case schemas.TIME:
                return ms_of_time if is_number else _time_text
            case schemas.DECIMAL:
                return str
        return bytes if schema.type is SchemaType.BYTES else None

    def execute(self, sql: Sql) -> Sequence[Row]:
        with self.failing("execute a statement"):
            self._begin()
            return self.connection.execute(sql.text.replace(PARAMETER, "?"), sql.parameters).fetchall()

    def execute_many(self, text: str, rows: Sequence[Row]) -> None:
        with self.failing("execute a statement"):
            self._begin()
            self.connection.executemany(text.replace(PARAMETER, "?"), rows)

    def insert(
        self, table: TableName, names: Sequence[str], keys: Sequence[str] | None, rows: Sequence[Row]
    ) -> None:
        text = self.dialect.insert(table, names) if keys is None else self.dialect.upsert(table, names, keys)
        with self.failing(f"write to {table}"):
            self._begin()
            self.connection.executemany(text.replace(PARAMETER, "?"), rows)

    def _begin(self) -> None:
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        with self.failing("commit"):
            self.connection.commit()

    def rollback(self) -> None:
        with self.failing("roll back"):
            self.connection.rollback()


class _SpooledRows(Rows):
    def __init__(self, database: SqliteDatabase, cursor: sqlite3.Cursor, columns: Sequence[Column]) -> None:
        self._database = database
        self._cursor = cursor
        self.columns = columns

    def fetch(self, count_max: int) -> Sequence[Row]:
        with self._database.failing("go on with the query"):
            return self._cursor.fetchmany(count_max)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._cursor.close()
            self._database.connection.execute(f"DROP TABLE IF EXISTS {_SPOOL}")


def _unbound(sql: Sql) -> str:
    """For the columns only: a view takes no parameters."""
    return sql.text.replace(PARAMETER, "NULL")


def _column(name: str, declared: str, is_required: int, key: int, *, is_only_key: bool) -> Column:
    type_name, _, sizes = declared.upper().partition("(")
    type_name = type_name.strip()
    kind = _EXACT.get(type_name)
    if kind is None:
        kind = next((kind for word, kind in _CONTAINED if word in type_name), Kind.STRING)
    precision, scale = _sizes(sizes)
    # An INTEGER PRIMARY KEY is the number of the row.
    is_row_number = bool(key) and is_only_key and type_name == "INTEGER"
    return Column(
        name,
        kind,
        is_optional=not is_required and not is_row_number,
        is_key=bool(key),
        is_auto=is_row_number,
        precision=precision,
        scale=scale,
        type_name=declared,
    )


def _sizes(text: str) -> tuple[int | None, int | None]:
    digits = [one.strip() for one in text.strip(" )").split(",")]
    if not all(one.isdigit() for one in digits):
        return None, None
    return int(digits[0]), int(digits[1]) if len(digits) > 1 else 0


def _moment(value: Any, localized: Callable[[datetime], datetime]) -> datetime:
    if isinstance(value, int):
        return _of_ms(value)
    found = datetime.fromisoformat(value)
    return localized(found) if found.tzinfo is None else found.astimezone(UTC)


def _of_ms(value: int) -> datetime:
    return EPOCH + timedelta(milliseconds=value)


def _same(value: datetime) -> datetime:
    return value


def _time_text(value: time) -> str:
    return value.isoformat("milliseconds")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}[value.lower()]
    return bool(value)


def _whole(value: Any) -> int:
    if isinstance(value, int):
        return value
    number = int(value)
    if number != float(value):
        raise ValueError
    return number
