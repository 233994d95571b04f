"""MySQL and MariaDB by PyMySQL. Rows are read as the server sends them, and written many to a statement."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters
# mypy: disable-error-code="import-untyped,no-untyped-call"

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, time
from typing import Any, Final

import pymysql
from pymysql.constants import CLIENT, ER, FIELD_TYPE, FLAG
from pymysql.converters import conversions, through
from pymysql.cursors import Cursor, SSCursor

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.columns import Column, Kind
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import PARAMETER, Sql
from moldau.pipeline.connect.connectors.jdbc.drivers.database import (
    CHECK_LOGIN,
    CONNECT_TIMEOUT_S,
    Conversion,
    Database,
    DatabaseAway,
    Row,
    Rows,
    RowsRejected,
)
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data.schema import TIMESTAMP, Schema, SchemaType

log = logging.getLogger(__name__)

STATEMENT_BYTES: Final = 1 << 20
"""Of values in one statement; servers take at least 16 MB by default."""
BINARY_CHARSET: Final = 63
_TABLE_TYPES: Final = {"TABLE": "BASE TABLE", "VIEW": "VIEW"}

_KINDS: Final = {
    FIELD_TYPE.SHORT: (Kind.INT16, Kind.INT32),
    FIELD_TYPE.TINY: (Kind.INT8, Kind.INT16),
    FIELD_TYPE.INT24: (Kind.INT32, Kind.INT32),
    FIELD_TYPE.LONG: (Kind.INT32, Kind.INT64),
    FIELD_TYPE.LONGLONG: (Kind.INT64, Kind.INT64),
    FIELD_TYPE.YEAR: (Kind.INT16, Kind.INT16),
    FIELD_TYPE.FLOAT: (Kind.FLOAT32, Kind.FLOAT32),
    FIELD_TYPE.DOUBLE: (Kind.FLOAT64, Kind.FLOAT64),
    FIELD_TYPE.DECIMAL: (Kind.DECIMAL, Kind.DECIMAL),
    FIELD_TYPE.NEWDECIMAL: (Kind.DECIMAL, Kind.DECIMAL),
    FIELD_TYPE.DATE: (Kind.DATE, Kind.DATE),
    FIELD_TYPE.NEWDATE: (Kind.DATE, Kind.DATE),
    FIELD_TYPE.TIME: (Kind.TIME, Kind.TIME),
    FIELD_TYPE.DATETIME: (Kind.TIMESTAMP, Kind.TIMESTAMP),
    FIELD_TYPE.TIMESTAMP: (Kind.TIMESTAMP, Kind.TIMESTAMP),
    FIELD_TYPE.GEOMETRY: (Kind.BYTES, Kind.BYTES),
}
"""Signed, and unsigned, which fits the next larger kind."""
_TYPE_NAMES: Final = {
    **{
        code: name.lower()
        for name, code in vars(FIELD_TYPE).items()
        if isinstance(code, int) and name.isupper()
    },
    FIELD_TYPE.TINY: "tinyint",
    FIELD_TYPE.SHORT: "smallint",
    FIELD_TYPE.INT24: "mediumint",
    FIELD_TYPE.LONG: "int",
    FIELD_TYPE.LONGLONG: "bigint",
    FIELD_TYPE.NEWDECIMAL: "decimal",
    FIELD_TYPE.VAR_STRING: "varchar",
    FIELD_TYPE.STRING: "char",
}
"""As a declaration has them."""
_AWAY: Final = frozenset(
    {
        1040,
        1053,
        1158,
        1159,
        1160,
        1161,
        ER.LOCK_WAIT_TIMEOUT,
        ER.LOCK_DEADLOCK,
        1927,
        2002,
        2003,
        2006,
        2013,
        2055,
    }
)
_LOGIN: Final = frozenset({ER.ACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR, ER.BAD_DB_ERROR})
_REJECTED: Final = frozenset({1264, 1265, 1292, 1364, 1366, 1406, 3819, 4025})
_DECODERS: Final = {**conversions, FIELD_TYPE.TIME: through}
_SECURE: Final = {"TRUST", "REQUIRED", "REQUIRE", "PREFERRED", "VERIFY_CA", "VERIFY_FULL", "VERIFY_IDENTITY"}


class PyMySqlDatabase(Database):
    _connection: Any = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None and bool(self._connection.open)

    def connect(self) -> None:
        url, settings = self.settings.url, self.settings
        with self.failing("be reached"):
            self._connection = pymysql.connect(
                host=url.host,
                port=url.port,
                user=settings.user or None,
                # As bytes: of a text PyMySQL takes Latin-1 only.
                password=settings.password.encode(),
                database=url.database or None,
                charset="utf8mb4",
                connect_timeout=CONNECT_TIMEOUT_S,
                conv=_DECODERS,
                # The count of rows that are found, not of those that change.
                client_flag=CLIENT.FOUND_ROWS,
                **_secure(url.options),
            )
            statements = ["SET time_zone = '+00:00'", "SET net_write_timeout = 3600"]
            if settings.isolation != "DEFAULT":
                level = settings.isolation.replace("_", " ")
                statements.append(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
            for one in statements:
                self._run(one)

    def close(self) -> None:
        if self._connection is not None:
            # Neither `close` nor the end of the cursor may read what is left of a large result.
            result = self._connection._result
            if result is not None:
                result.unbuffered_active = False
                self._connection._result = None
            with suppress(Exception):
                self._connection._force_close()
            self._connection = None

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except pymysql.Error as failure:
            raise self._failure(what, failure) from failure
        except (OSError, RuntimeError) as failure:
            kind = DatabaseAway if isinstance(failure, OSError) else ConnectError
            raise kind(f"{self} cannot {what}: {failure}") from failure

    def _failure(self, what: str, failure: pymysql.Error) -> ConnectError:
        code = failure.args[0] if failure.args and isinstance(failure.args[0], int) else None
        shown = f"{failure.args[1]} ({code})" if len(failure.args) > 1 else str(failure)
        text = f"{self} cannot {what}: {shown}"
        if code in _LOGIN:
            return ConnectError(f"{text}: {CHECK_LOGIN}")
        if code in _AWAY or isinstance(failure, pymysql.InterfaceError):
            return DatabaseAway(text)
        is_rejected = code in _REJECTED or isinstance(failure, pymysql.DataError | pymysql.IntegrityError)
        # Without a number: PyMySQL itself cannot write a value, such as a float that is no number.
        if is_rejected or (code is None and isinstance(failure, pymysql.ProgrammingError)):
            return RowsRejected(text)
        return ConnectError(text)

    def _run(self, text: str, parameters: Sequence[Any] = ()) -> Sequence[Row]:
        with self._connection.cursor() as cursor:
            cursor.execute(text, tuple(parameters) or None)
            return cursor.fetchall() if cursor.description else ()

    # Reading.

    def tables(self, types: Sequence[str], catalog: str, schema: str) -> list[TableName]:
        kinds = [_TABLE_TYPES[one.upper()] for one in types if one.upper() in _TABLE_TYPES] or [""]
        marks = ", ".join(["%s"] * len(kinds))
        place = "table_schema LIKE %s" if catalog else "table_schema = DATABASE()"
        query = (
            "SELECT table_name, table_schema FROM information_schema.tables "
            f"WHERE table_type IN ({marks}) AND {place}"
        )
        with self.failing("list its tables"):
            found = self._run(query, [*kinds, catalog] if catalog else kinds)
            self._connection.commit()
        return [TableName(name, catalog=database) for name, database in found]

    def columns(self, table: TableName) -> Sequence[Column] | None:
        try:
            with self.failing(f"say what the columns of {table} are"):
                return self._described(f"SELECT * FROM {self.dialect.table(table)}")
        except ConnectError as failure:
            cause = failure.__cause__
            if isinstance(cause, pymysql.Error) and cause.args[0] == ER.NO_SUCH_TABLE:
                return None
            raise

    def query_columns(self, query: str) -> Sequence[Column]:
        with self.failing("run the query"):
            return self._described(f"SELECT * FROM ({query}) AS moldau_rows")

    def _described(self, query: str) -> Sequence[Column]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"{query} LIMIT 0")
            columns = _columns(cursor)
        self._connection.commit()
        return columns

    def read(self, table: TableName | None, sql: Sql) -> Rows:
        with self.failing("run the query"):
            cursor = self._connection.cursor(SSCursor)
            cursor.execute(sql.marked("%s"), tuple(sql.parameters) or None)
            return _StreamedRows(self, cursor)

    def now(self) -> datetime:
        with self.failing("tell its time"):
            [(found,)] = self._run("SELECT UTC_TIMESTAMP()")
            self._connection.commit()
        moment: datetime = found.replace(tzinfo=UTC)
        return moment

    def moment(self, moment: datetime, columns: Sequence[Column]) -> Any:
        if columns[0].has_zone:
            return moment.astimezone(UTC).replace(tzinfo=None)
        return self.local(moment)

    def reads(self, column: Column) -> Conversion | None:
        match column.kind:
            case Kind.TIMESTAMP:
                convert = (
                    (lambda value: value.replace(tzinfo=UTC)) if column.has_zone else self.moment_of_local()
                )
                # The driver leaves what is no date as text: 0000-00-00, which means that there is none.
                return lambda value: convert(value) if type(value) is datetime else None
            case Kind.DATE:
                return lambda value: value if type(value) is date else None
            case Kind.TIME:
                return lambda text: _time_of(column.name, text)
            case Kind.INT8 if column.type_name == "bit":
                return lambda value: int.from_bytes(value, "big")
        return None

    # Writing.

    def writes(self, schema: Schema, column: Column | None) -> Conversion | None:
        if schema.name == TIMESTAMP:
            if column is not None and column.has_zone:
                return lambda value: value.astimezone(UTC).replace(tzinfo=None)
            return self.local
        if schema.type is SchemaType.BYTES and schema.name is None:
            return bytes
        return None

    def execute(self, sql: Sql) -> Sequence[Row]:
        with self.failing("execute a statement"):
            return self._run(sql.marked("%s"), sql.parameters)

    def execute_many(self, text: str, rows: Sequence[Row]) -> None:
        marked = text.replace("%", "%%").replace(PARAMETER, "%s")
        with self.failing("execute a statement"), self._connection.cursor() as cursor:
            for row in rows:
                cursor.execute(marked, tuple(row))

    def insert(
        self, table: TableName, names: Sequence[str], keys: Sequence[str] | None, rows: Sequence[Row]
    ) -> None:
        dialect = self.dialect
        prefix = f"INSERT INTO {dialect.table(table)} ({dialect.quoted_all(names)}) VALUES "
        suffix = "" if keys is None else f" {dialect.on_conflict(names, keys)}"
        marks = f"({','.join(['%s'] * len(names))})"
        with self.failing(f"write to {table}"), self._connection.cursor() as cursor:
            values: list[str] = []
            size = 0
            for row in rows:
                text = cursor.mogrify(marks, tuple(row))
                if size + len(text) > STATEMENT_BYTES and values:
                    cursor.execute(f"{prefix}{','.join(values)}{suffix}")
                    values, size = [], 0
                values.append(text)
                size += len(text)
            if values:
                cursor.execute(f"{prefix}{','.join(values)}{suffix}")

    def commit(self) -> None:
        with self.failing("commit"):
            self._connection.commit()

    def rollback(self) -> None:
        with self.failing("roll back"):
            self._connection.rollback()


class _StreamedRows(Rows):
    def __init__(self, database: PyMySqlDatabase, cursor: Any) -> None:
        self._database = database
        self._cursor = cursor
        self._is_ended = False
        self.columns = _columns(cursor)

    def fetch(self, count_max: int) -> Sequence[Row]:
        with self._database.failing("go on with the query"):
            found: Sequence[Row] = self._cursor.fetchmany(count_max)
        self._is_ended = len(found) < count_max
        return found

    def close(self) -> None:
        """What is not read yet would have to be read first: the connection is closed instead."""
        if not self._is_ended:
            self._database.close()
            return
        with suppress(Exception):
            self._cursor.close()
            self._database.rollback()


def _columns(cursor: Cursor) -> Sequence[Column]:
    # The public description leaves out the flags.
    return [_column(one) for one in cursor._result.fields]


def _column(field: Any) -> Column:
    code, flags = field.type_code, field.flags
    is_unsigned = bool(flags & FLAG.UNSIGNED)
    is_binary = field.charsetnr == BINARY_CHARSET
    precision = scale = None
    if code in _KINDS:
        kind = _KINDS[code][is_unsigned]
    elif code == FIELD_TYPE.BIT:
        kind = Kind.INT8 if field.length == 1 else Kind.BYTES
    else:
        kind = Kind.BYTES if is_binary and code != FIELD_TYPE.JSON else Kind.STRING
    if kind is Kind.DECIMAL:
        scale = field.scale
        precision = field.length - (scale > 0) - (not is_unsigned)
    return Column(
        field.name,
        kind,
        is_optional=not flags & FLAG.NOT_NULL,
        is_key=bool(flags & FLAG.PRI_KEY),
        is_auto=bool(flags & FLAG.AUTO_INCREMENT),
        precision=precision,
        scale=scale,
        has_zone=code == FIELD_TYPE.TIMESTAMP,
        type_name=_TYPE_NAMES.get(code, ""),
    )


def _time_of(column: str, text: Any) -> time:
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise ConnectError(
            f"the column {column} has {text}, which is a length of time and no time of a day: cast it in a query"
        ) from None


def _secure(options: Mapping[str, str]) -> dict[str, Any]:
    """TLS, from the options of the Java drivers."""
    mode = options.get("sslMode", options.get("ssl-mode", "")).upper().replace("-", "_")
    if not mode and options.get("useSSL", "").lower() == "true":
        mode = "VERIFY_CA" if options.get("verifyServerCertificate", "").lower() == "true" else "REQUIRED"
    if mode in ("DISABLE", "DISABLED"):
        return {"ssl_disabled": True}
    if mode not in _SECURE:
        return {}
    if "KeyStoreUrl" in "".join(options):
        log.warning(
            "connection.url names a Java key store, which is not read: give serverSslCert a file in PEM form"
        )
    if not mode.startswith("VERIFY"):
        return {"ssl": {"check_hostname": False, "verify_mode": False}}
    given = {"ca": options["serverSslCert"]} if "serverSslCert" in options else {}
    return {"ssl": {**given, "check_hostname": mode != "VERIFY_CA", "verify_mode": True}}
