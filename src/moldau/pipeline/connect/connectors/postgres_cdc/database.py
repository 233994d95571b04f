"""The catalog of the database, over an ordinary connection: tables, types, the slot and the publication."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.postgres_cdc.failures import SlotLost, failure_of
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import Lsn, Relation, lsn_of
from moldau.pipeline.connect.connectors.postgres_cdc.positions import Key
from moldau.pipeline.connect.connectors.postgres_cdc.settings import Settings
from moldau.pipeline.connect.connectors.postgres_cdc.tables import Column, TableShape
from moldau.pipeline.connect.connectors.postgres_cdc.types.columns import TypeInfo

VERSION_MIN: Final = 100_000
UNKNOWN: Final = TypeInfo("unknown")
TableName = tuple[str, str]

_TABLES: Final = """
    SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence = 'p'
"""
_COLUMNS: Final = """
    SELECT a.attname, a.atttypid, a.atttypmod, NOT (a.attnotnull OR (t.typtype = 'd' AND t.typnotnull))
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    ORDER BY a.attnum
"""
_PRIMARY_KEY: Final = """
    SELECT a.attname FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS part(number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = part.number
    WHERE i.indrelid = %s AND i.indisprimary ORDER BY part.place
"""
_TYPE: Final = """
    SELECT typname, typtype, typcategory, typelem, typbasetype, typtypmod FROM pg_type WHERE oid = %s
"""
_LABELS: Final = "SELECT enumlabel FROM pg_enum WHERE enumtypid = %s ORDER BY enumsortorder"
_SLOT: Final = "SELECT * FROM pg_replication_slots WHERE slot_name = %s"


class FoundSlot(NamedTuple):
    confirmed_lsn: Lsn


class Database:
    def __init__(self, settings: Settings) -> None:
        """Raises RetriableError if the server cannot be reached, ConnectError if it does not let us in."""
        self.server = settings.server
        self._settings = settings
        self._types: dict[int, TypeInfo] = {}
        with self._failures():
            self._connection = psycopg.connect(**settings.connection(), autocommit=True)  # type: ignore[arg-type]

    def close(self) -> None:
        self._connection.close()

    @property
    def is_open(self) -> bool:
        return not self._connection.closed and not self._connection.broken

    def check_server(self) -> None:
        """Raises ConnectError if it cannot be captured."""
        version = self._connection.info.server_version
        if version < VERSION_MIN:
            raise ConnectError(
                f"{self.server} is PostgreSQL {version // 10_000}: pgoutput comes with PostgreSQL 10"
            )
        ((level,),) = self._rows("SELECT current_setting('wal_level')")
        if level != "logical":
            raise ConnectError(
                f"{self.server} has wal_level={level}, which does not log what changes need: set wal_level = logical "
                "in postgresql.conf and restart the server"
            )

    def slot(self, name: str) -> FoundSlot | None:
        """Raises ConnectError for a slot that is of no use, SlotLost for one whose log has been deleted."""
        with self._failures():
            cursor = self._connection.execute(_SLOT, (name,))
            row = cursor.fetchone()
            names = [one.name for one in cursor.description or ()]
        if row is None:
            return None
        found = dict(zip(names, row, strict=True))
        database = self._settings.values["database.dbname"]
        if found["plugin"] != "pgoutput" or found["database"] != database:
            raise ConnectError(
                f"{self.server}: the replication slot {name} is for {found['plugin'] or 'physical replication'} in "
                f"{found['database'] or 'no database'}, and must be for pgoutput in {database}: "
                "choose another slot.name, or drop the slot"
            )
        if found.get("wal_status") == "lost":
            raise SlotLost(
                f"{self.server}: the replication slot {name} is lost: the server has deleted log that was not read "
                "yet (max_slot_wal_keep_size). Drop the slot with pg_drop_replication_slot, then delete the "
                "connector's offsets or set snapshot.mode=when_needed to read the tables again"
            )
        return FoundSlot(lsn_of(str(found["confirmed_flush_lsn"] or "0/0")))

    def slot_exists(self, name: str) -> bool:
        return bool(self._rows("SELECT 1 FROM pg_replication_slots WHERE slot_name = %s", (name,)))

    def drop_slot(self, name: str) -> None:
        self._run("SELECT pg_drop_replication_slot(%s)", (name,))

    def ensure_publication(self) -> None:
        """Makes the publication, as publication.autocreate.mode says."""
        name = self._settings.publication
        mode = self._settings.values["publication.autocreate.mode"]
        exists = bool(self._rows("SELECT 1 FROM pg_publication WHERE pubname = %s", (name,)))
        if exists and mode != "filtered":
            return
        quoted = sql.Identifier(name)
        match mode:
            case "disabled":
                raise ConnectError(
                    f"{self.server} has no publication {name}, and publication.autocreate.mode is disabled: "
                    f"CREATE PUBLICATION {name} FOR TABLE ..."
                )
            case "all_tables":
                self._run(sql.SQL("CREATE PUBLICATION {} FOR ALL TABLES").format(quoted))
            case "no_tables":
                self._run(sql.SQL("CREATE PUBLICATION {}").format(quoted))
            case _:
                self._publish_captured(quoted, exists=exists)

    def _publish_captured(self, name: sql.Identifier, *, exists: bool) -> None:
        tables = self.captured_tables()
        if not tables:
            raise ConnectError(
                f"{self.server} has no table that table.include.list and the others select: create it, or correct them"
            )
        listed = sql.SQL(", ").join(sql.Identifier(*one) for one in tables)
        if not exists:
            self._run(sql.SQL("CREATE PUBLICATION {} FOR TABLE {}").format(name, listed))
            return
        published = self._rows(
            "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s",
            (self._settings.publication,),
        )
        if {(str(one), str(other)) for one, other in published} != set(tables):
            self._run(sql.SQL("ALTER PUBLICATION {} SET TABLE {}").format(name, listed))

    def captured_tables(self) -> list[TableName]:
        """In the order of `schema.table`, which positions rely on."""
        selection = self._settings.selection
        names = [(str(schema), str(name)) for schema, name in self._rows(_TABLES)]
        return sorted((name for name in names if selection.has_table(*name)), key=".".join)

    def shape(self, schema: str, name: str) -> TableShape | None:
        """As the catalog has it now. None if there is no such table."""
        found = self._rows(
            "SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relname = %s",
            (schema, name),
        )
        if not found:
            return None
        ((oid,),) = found
        columns = tuple(
            Column(str(label), self._type(kind), modifier, is_optional)
            for label, kind, modifier, is_optional in self._rows(_COLUMNS, (oid,))
        )
        key = tuple(str(label) for (label,) in self._rows(_PRIMARY_KEY, (oid,)))
        return TableShape(schema, name, columns, key)

    def shape_of(self, relation: Relation) -> TableShape:
        """The columns are those of the log. What the log does not say comes from the catalog as it is now: which
        columns allow null, and the primary key."""
        current = self.shape(relation.schema, relation.table)
        known = {} if current is None else {one.name: one for one in current.columns}
        columns = tuple(
            Column(
                one.name,
                self._type(one.type_oid),
                one.type_modifier,
                known[one.name].is_optional if one.name in known else True,
            )
            for one in relation.columns
        )
        names = {one.name for one in columns}
        key = () if current is None else current.primary_key
        if not key or not names.issuperset(key):
            is_full = relation.identity == "f"
            key = () if is_full else tuple(one.name for one in relation.columns if one.is_key)
        return TableShape(relation.schema, relation.table, columns, key)

    def is_after(self, shape: TableShape, key: Key, start: Key) -> bool:
        """Whether a row's primary key comes after another in the server's order."""
        pairs = zip(key, start, strict=True)
        types = self._key_types(shape)
        ours, theirs = [], []
        parameters: list[str] = []
        for (one, other), kind in zip(pairs, types, strict=True):
            ours.append(sql.SQL("%s::{}").format(kind))
            theirs.append(sql.SQL("%s::{}").format(kind))
            parameters += (one, other)
        first, second = sql.SQL(", ").join(ours), sql.SQL(", ").join(theirs)
        statement = sql.SQL("SELECT ({}) > ({})").format(first, second)
        ((answer,),) = self._rows(statement, [*parameters[::2], *parameters[1::2]])
        return bool(answer)

    def _key_types(self, shape: TableShape) -> list[sql.SQL]:
        rows = self._rows(
            "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
            "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relname = %s",
            (shape.schema, shape.name),
        )
        types = {str(name): str(kind) for name, kind in rows}
        return [sql.SQL(types[name]) for name in shape.primary_key]

    def run(self, statement: str) -> None:
        """A statement of the user's."""
        self._run(statement)

    def _type(self, oid: int) -> TypeInfo:
        found = self._types.get(oid)
        if found is None:
            found = self._types[oid] = self._read_type(oid)
        return found

    def forget_types(self) -> None:
        """An enum may have new labels."""
        self._types.clear()

    def _read_type(self, oid: int) -> TypeInfo:
        rows = self._rows(_TYPE, (oid,))
        if not rows:
            return UNKNOWN
        ((name, kind, category, element, base, modifier),) = rows
        if kind == "d":
            found = self._type(base)
            return TypeInfo(
                found.name,
                found.kind,
                found.labels,
                found.element,
                found.modifier if modifier < 0 else modifier,
            )
        if category == "A" and element:
            return TypeInfo(name, kind, element=self._type(element))
        if kind == "e":
            return TypeInfo(name, kind, tuple(str(label) for (label,) in self._rows(_LABELS, (oid,))))
        return TypeInfo(name, kind)

    def _rows(self, statement: Any, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._failures():
            return self._connection.execute(statement, parameters).fetchall()

    def _run(self, statement: Any, parameters: Sequence[Any] | None = None) -> None:
        with self._failures():
            self._connection.execute(statement, parameters)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        with failures(self.server):
            yield


@contextmanager
def failures(server: str) -> Iterator[None]:
    """Psycopg's errors as those of connectors."""
    try:
        yield
    except psycopg.Error as failure:
        found = failure_of(str(failure), server)
        if isinstance(failure, psycopg.OperationalError) and type(found) is ConnectError:
            is_away = failure.sqlstate is None or failure.sqlstate[:2] in ("08", "53", "57")
            if is_away and "failed" not in str(failure):
                raise RetriableError(f"{server} cannot be reached: {failure}") from failure
        raise found from failure
