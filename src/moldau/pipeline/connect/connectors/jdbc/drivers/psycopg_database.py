"""PostgreSQL by psycopg 3. Rows are read through a cursor of the server, and written by COPY."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters

import logging
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from typing import Any, Final

import psycopg
from psycopg import sql as texts
from psycopg.adapt import Buffer, Loader
from psycopg.postgres import types as known_types
from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader
from psycopg.types.string import TextLoader

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
from moldau.pipeline.connect.data.schema import TIMESTAMP, Schema

log = logging.getLogger(__name__)

_KINDS: Final = {
    "bool": Kind.BOOLEAN,
    "int2": Kind.INT16,
    "int4": Kind.INT32,
    "int8": Kind.INT64,
    "oid": Kind.INT64,
    "float4": Kind.FLOAT32,
    "float8": Kind.FLOAT64,
    "numeric": Kind.DECIMAL,
    "bytea": Kind.BYTES,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMP,
}
"""Everything else is read as text, as PostgreSQL prints it."""
_OPTIONS: Final = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "options": "options",
    "gssEncMode": "gssencmode",
    "channelBinding": "channel_binding",
}
"""Options of Java's driver, and their names in libpq."""
_TABLE_KINDS: Final = {"TABLE": "rp", "VIEW": "v", "MATERIALIZED VIEW": "m", "FOREIGN TABLE": "f"}
_FIRST, _LAST = datetime.min, datetime.max

# What libpq says of a connection has no SQLSTATE.
_PERMANENT: Final = (
    "authentication failed",
    "does not exist",
    "no password",
    "pg_hba.conf",
    "invalid",
    "certificate",
)
_REJECTED: Final = ("22", "23")
_AWAY: Final = ("08", "40", "53", "57P", "55P03")


class _Timestamp(TimestampLoader):
    """The moments beyond all others, infinity, are Python's first and last one."""

    def load(self, data: Buffer) -> datetime:
        return _beyond(data) or super().load(data)


class _Timestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        found = _beyond(data)
        return found.replace(tzinfo=UTC) if found else super().load(data)


class _Date(DateLoader):
    def load(self, data: Buffer) -> date:
        found = _beyond(data)
        return found.date() if found else super().load(data)


def _beyond(data: Buffer) -> datetime | None:
    if data[-1] != 121:  # the y of infinity
        return None
    return _FIRST if data[0] == 45 else _LAST


_LOADERS: Final[dict[str, type[Loader]]] = {
    "timestamp": _Timestamp,
    "timestamptz": _Timestamptz,
    "date": _Date,
}


class PsycopgDatabase(Database):
    _connection: "psycopg.Connection[tuple[Any, ...]] | None" = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None and not self._connection.closed

    @property
    def connection(self) -> "psycopg.Connection[tuple[Any, ...]]":
        assert self._connection is not None
        return self._connection

    def connect(self) -> None:
        url = self.settings.url
        parts = _parts(url.options)
        if self.settings.user:
            parts["user"] = self.settings.user
        if self.settings.password:
            parts["password"] = self.settings.password
        with self.failing("be reached"):
            self._connection = psycopg.connect(
                **{"connect_timeout": CONNECT_TIMEOUT_S, "client_encoding": "UTF8", **parts},
                host=url.host,
                port=url.port,
                dbname=url.database or parts.get("user", ""),
                keepalives_idle=30,
                prepare_threshold=None,
            )
            for one in known_types:
                kind = _KINDS.get(one.name)
                loader = _LOADERS.get(one.name) if kind else TextLoader
                if loader is not None:
                    self._connection.adapters.register_loader(one.oid, loader)
                if one.array_oid:
                    self._connection.adapters.register_loader(one.array_oid, TextLoader)
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT set_config('TimeZone', %s, false)", (str(self.zone),))
                cursor.execute("SET bytea_output = 'hex'")
                if "currentSchema" in url.options:
                    path = texts.SQL(", ").join(
                        map(texts.Identifier, url.options["currentSchema"].split(","))
                    )
                    cursor.execute(texts.SQL("SET search_path TO {}").format(path))
                if self.settings.isolation != "DEFAULT":
                    level = self.settings.isolation.replace("_", " ")
                    cursor.execute(
                        f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}".encode()
                    )
            self._connection.commit()

    def close(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as failure:
            raise self._failure(what, failure) from failure

    def _failure(self, what: str, failure: psycopg.Error) -> ConnectError:
        code = failure.sqlstate or ""
        text = f"{self} cannot {what}: {str(failure).strip() or type(failure).__name__}"
        if code.startswith(_REJECTED) or (not code and isinstance(failure, psycopg.DataError)):
            return RowsRejected(text)
        if code.startswith(_AWAY):
            return DatabaseAway(text)
        if not code and isinstance(failure, psycopg.OperationalError | psycopg.InterfaceError):
            lines = str(failure)
            is_permanent = any(word in lines for word in _PERMANENT) and "starting up" not in lines
            return ConnectError(f"{text}: {CHECK_LOGIN}") if is_permanent else DatabaseAway(text)
        return ConnectError(text)

    # Reading.

    def tables(self, types: Sequence[str], catalog: str, schema: str) -> list[TableName]:
        kinds = list("".join(_TABLE_KINDS.get(one.upper(), "") for one in types))
        query = (
            "SELECT c.relname, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = ANY(%s) AND NOT c.relispartition AND c.relpersistence <> 't' "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname LIKE %s "
            "AND current_database() LIKE %s"
        )
        with self.failing("list its tables"):
            found = self.connection.execute(query, (kinds, schema or "%", catalog or "%")).fetchall()
            self.connection.commit()
        return [TableName(name, schema=space) for name, space in found]

    def columns(self, table: TableName) -> Sequence[Column] | None:
        text = self.dialect.table(table)
        with self.failing(f"say what the columns of {table} are"):
            [(found,)] = self.connection.execute("SELECT to_regclass(%s)::oid", (text,)).fetchall()
            columns = None if found is None else self._described(f"SELECT * FROM {text}")
            self.connection.commit()
        return columns

    def query_columns(self, query: str) -> Sequence[Column]:
        with self.failing("run the query"):
            columns = self._described(f"SELECT * FROM ({query}) AS moldau_rows")
            self.connection.commit()
        return columns

    def _described(self, query: str) -> Sequence[Column]:
        with self.connection.cursor() as cursor:
            cursor.execute(f"{query} LIMIT 0".encode())
            return self._columns(cursor)

    def _columns(self, cursor: "psycopg.Cursor[Any] | psycopg.ServerCursor[Any]") -> Sequence[Column]:
        """The result knows which table and column each of its columns comes from."""
        result = cursor.pgresult
        assert result is not None
        origins = [(result.ftable(at), result.ftablecol(at)) for at in range(result.nfields)]
        facts = self._facts(sorted({table for table, _ in origins if table}))
        types = self.connection.adapters.types
        found = []
        for origin, described in zip(origins, cursor.description or (), strict=True):
            is_required, is_key, is_auto = facts.get(origin, (False, False, False))
            known = types.get(described.type_code)
            type_name = known.name if known is not None and described.type_code == known.oid else ""
            found.append(
                Column(
                    described.name,
                    _KINDS.get(type_name, Kind.STRING),
                    is_optional=not is_required,
                    is_key=is_key,
                    is_auto=is_auto,
                    precision=described.precision,
                    scale=described.scale,
                    has_zone=type_name == "timestamptz",
                    type_name=type_name,
                )
            )
        return found

    def _facts(self, tables: Sequence[int]) -> Mapping[tuple[int, int], tuple[bool, bool, bool]]:
        """By table and number of the column: whether it is not null, of the primary key, numbered by the database."""
        if not tables:
            return {}
        query = (
            "SELECT a.attrelid::int8, a.attnum, a.attnotnull, coalesce(a.attnum = ANY(i.indkey), false), "
            "a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%%', false) "
            "FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
            "LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary "
            "WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped"
        )
        with self.connection.cursor() as cursor:
            cursor.execute(query, (list(tables),))
            return {(table, number): (must, key, auto) for table, number, must, key, auto in cursor}

    def read(self, table: TableName | None, sql: Sql) -> Rows:
        with self.failing("run the query"):
            cursor = self.connection.cursor(name="moldau_rows")
            try:
                cursor.execute(sql.marked("%s").encode(), sql.parameters or None)
                return _ServerRows(self, cursor, self._columns(cursor))
            except psycopg.Error:
                cursor.close()
                raise

    def now(self) -> datetime:
        with self.failing("tell its time"):
            [(found,)] = self.connection.execute("SELECT CURRENT_TIMESTAMP").fetchall()
            self.connection.commit()
        moment: datetime = found.astimezone(UTC)
        return moment

    def reads(self, column: Column) -> Conversion | None:
        if column.kind is not Kind.TIMESTAMP:
            return None
        if column.has_zone:
            return None if str(self.zone) == "UTC" else lambda value: value.astimezone(UTC)
        return self.moment_of_local()

    # Writing.

    def writes(self, schema: Schema, column: Column | None) -> Conversion | None:
        if schema.name == TIMESTAMP and not (column is not None and column.has_zone):
            return self.local
        return None

    def execute(self, sql: Sql) -> Sequence[Row]:
        with self.failing("execute a statement"):
            cursor = self.connection.execute(sql.marked("%s").encode(), sql.parameters or None)
            return cursor.fetchall() if cursor.description else ()

    def execute_many(self, text: str, rows: Sequence[Row]) -> None:
        with self.failing("execute a statement"), self.connection.cursor() as cursor:
            cursor.executemany(text.replace("%", "%%").replace(PARAMETER, "%s").encode(), rows)

    def insert(
        self, table: TableName, names: Sequence[str], keys: Sequence[str] | None, rows: Sequence[Row]
    ) -> None:
        dialect = self.dialect
        target, columns = dialect.table(table), dialect.quoted_all(names)
        with self.failing(f"write to {table}"), self.connection.cursor() as cursor:
            if keys is None and self._takes_copies(target):
                self._copy(cursor, target, columns, rows)
                return
            staging = f"moldau_{zlib.crc32(f'{target} {columns}'.encode()):08x}"
            cursor.execute(
                f"CREATE TEMP TABLE IF NOT EXISTS {staging} ON COMMIT DROP AS SELECT {columns} FROM {target} "
                "WITH NO DATA".encode()
            )
            self._copy(cursor, f"pg_temp.{staging}", columns, rows)
            conflict = "" if keys is None else dialect.on_conflict(names, keys)
            cursor.execute(
                f"INSERT INTO {target} ({columns}) SELECT {columns} FROM pg_temp.{staging} {conflict}".encode()
            )
            cursor.execute(f"TRUNCATE pg_temp.{staging}".encode())

    def _copy(self, cursor: "psycopg.Cursor[Any]", target: str, columns: str, rows: Sequence[Row]) -> None:
        with cursor.copy(f"COPY {target} ({columns}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def _takes_copies(self, target: str) -> bool:
        """COPY writes to tables only, and not under row level security."""
        [(is_table,)] = self.connection.execute(
            "SELECT relkind IN ('r', 'p') AND NOT row_security_active(oid) FROM pg_class "
            "WHERE oid = to_regclass(%s)",
            (target,),
        ).fetchall() or [(False,)]
        return bool(is_table)

    def commit(self) -> None:
        with self.failing("commit"):
            self.connection.commit()

    def rollback(self) -> None:
        with self.failing("roll back"):
            self.connection.rollback()


class _ServerRows(Rows):
    def __init__(
        self, database: PsycopgDatabase, cursor: "psycopg.ServerCursor[Any]", columns: Sequence[Column]
    ) -> None:
        self._database = database
        self._cursor = cursor
        self.columns = columns

    def fetch(self, count_max: int) -> Sequence[Row]:
        with self._database.failing("go on with the query"):
            return self._cursor.fetchmany(count_max)

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._cursor.close()
        if self._database.is_open:
            with suppress(psycopg.Error):
                self._database.connection.rollback()


def _parts(options: Mapping[str, str]) -> dict[str, Any]:
    parts: dict[str, Any] = {libpq: options[java] for java, libpq in _OPTIONS.items() if java in options}
    if options.get("ssl", "").lower() in ("true", "1") and "sslmode" not in parts:
        parts["sslmode"] = "require" if "NonValidating" in options.get("sslfactory", "") else "verify-full"
    ignored = set(options) - set(_OPTIONS) - {"ssl", "sslfactory", "user", "password", "currentSchema"}
    if ignored:
        log.info("connection.url has options without a meaning here: %s", ", ".join(sorted(ignored)))
    return parts
