"""Executes statements over topics in memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moldau.pipeline.operators.records import NO_HEADERS, Headers
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.cases.comparison import differs, shown
from moldau.pipeline.sql.cases.definitions import source_of, target_of
from moldau.pipeline.sql.cases.local_run import LocalRun
from moldau.pipeline.sql.cases.values import row_of
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.translation.query import key_serde, topology_of
from moldau.pipeline.sql.types import BIGINT, SqlType

_ROWTIME: Final = {"ROWTIME": BIGINT}
_WINDOW: Final = {"WINDOWSTART": BIGINT, "WINDOWEND": BIGINT}


class AssertionFailed(SqlError):
    """What was asserted is not so."""


class StoredRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = NO_HEADERS


class World:
    """The topics, sources and queries of one case."""

    def __init__(self, functions: FunctionLibrary) -> None:
        self._functions = functions
        self._sources: dict[str, SourceInfo] = {}
        self._types: dict[str, SqlType] = {}
        self._topics: dict[str, list[StoredRecord]] = {}
        self._asserted: dict[str, int] = {}
        self._queries: dict[str, LocalRun] = {}
        self.failures: list[str] = []
        """What expressions and records failed with: ksqlDB's processing log."""

    def execute(self, statement: tree.Statement) -> None:
        rule = _RULES.get(type(statement))
        if rule is None:
            raise SqlError(f"{type(statement).__name__} cannot stand in a file of cases", statement.at)
        rule(self, statement)

    # Definitions

    def create_source(self, statement: tree.CreateSource) -> None:
        if not self._is_new(statement):
            return
        source = source_of(statement, self._types)
        key_serde(source)
        row_serde(source.value_format, source.stored_columns, is_key=False)
        self._sources[source.name] = source

    def create_as(self, statement: tree.CreateAsSelect) -> None:
        if not self._is_new(statement):
            return
        target = self._run(statement.query, statement.name, statement.properties, statement.kind)
        self._sources[target.name] = target

    def insert_select(self, statement: tree.InsertSelect) -> None:
        target = self.source(statement.target, statement.at)
        plan = analyse(statement.query, self._sources, self._functions, self._types, is_persistent=True)
        names = [(column.name, column.type) for column in target.schema.value]
        given = [(column.name, column.type) for column in plan.schema.value]
        kinds = [column.type for column in target.schema.key]
        if plan.kind is not target.kind or target.is_table:
            raise SqlError("INSERT INTO ... SELECT fills a stream from a stream", statement.at)
        if names != given or kinds != [column.type for column in plan.schema.key]:
            message = f"the columns of the SELECT are not those of {target.name}"
            hint = f"Expected {', '.join(map(str, target.schema))}; found {', '.join(map(str, plan.schema))}."
            raise SqlError(message, statement.at, hint=hint)
        self._start(f"INSERT_{len(self._queries)}", topology_of(plan, target, "insert"))

    def _run(
        self, query: Query, name: str, properties: tuple[tree.Property, ...], kind: tree.Kind
    ) -> SourceInfo:
        plan = analyse(query, self._sources, self._functions, self._types, is_persistent=True)
        if plan.kind is not kind:
            hint = f"Write CREATE {plan.kind} {name} AS SELECT."
            raise SqlError(f"the query makes a {plan.kind}, not a {kind}", query.at, hint=hint)
        target = target_of(name, properties, plan)
        self._start(name, topology_of(plan, target, name.lower(), on_failure=self._on_failure))
        return target

    def _start(self, name: str, topology: Any) -> None:
        self._queries[name] = LocalRun(topology)

    def _on_failure(self, text: str, failure: Exception, row: Any) -> None:
        self.failures.append(f"{text}: {failure}")

    def _is_new(self, statement: tree.CreateSource | tree.CreateAsSelect) -> bool:
        if statement.name not in self._sources or statement.or_replace:
            return True
        if statement.if_not_exists:
            return False
        raise SqlError(
            f"{statement.name} exists already", statement.at, hint="CREATE OR REPLACE replaces it."
        )

    def drop(self, statement: tree.DropSource) -> None:
        if statement.if_exists and statement.name not in self._sources:
            return
        self.source(statement.name, statement.at)
        del self._sources[statement.name]
        self._queries.pop(statement.name, None)

    def create_type(self, statement: tree.CreateType) -> None:
        self._types[statement.name] = statement.type

    def drop_type(self, statement: tree.DropType) -> None:
        self._types.pop(statement.name, None)

    def ignore(self, statement: tree.Statement) -> None:
        """SET and UNSET change nothing that a case can see."""

    def source(self, name: str, at: Position) -> SourceInfo:
        found = self._sources.get(name)
        if found is None:
            raise SqlError(f"{name} does not exist", at, hint=did_you_mean(name, self._sources))
        return found

    # Records

    def insert(self, statement: tree.InsertValues) -> None:
        source = self.source(statement.target, statement.at)
        row = row_of(
            source, statement.columns, statement.values, _ROWTIME, self._functions, self._types, statement.at
        )
        key = tuple(row.get(column.name) for column in source.schema.key)
        if source.is_table and None in key:
            raise SqlError(f"a row of the table {source.name} needs its key", statement.at)
        value = tuple(row.get(column.name) for column in source.stored_columns)
        encode_key = key_serde(replace(source, window=None)).encoder(source.topic, is_key=True)
        encode = row_serde(source.value_format, source.stored_columns, is_key=False).encoder(
            source.topic, is_key=False
        )
        has_key = any(one is not None for one in key)
        self._append(
            source.topic,
            StoredRecord(encode_key(key) if has_key else None, encode(value), row.get("ROWTIME") or 0),
        )

    def _append(self, topic: str, record: StoredRecord) -> None:
        """Writes a record, and all that queries make of it."""
        todo = [(topic, record)]
        for name, one in todo:
            records = self._topics.setdefault(name, [])
            records.append(one)
            for query in self._queries.values():
                if name in query.topics:
                    written = query.take(name, len(records) - 1, *one)
                    todo += [
                        (made.topic, StoredRecord(made.key, made.value, made.timestamp_ms, made.headers))
                        for made in written
                    ]
                    self.failures += query.dead
                    query.dead.clear()

    # Assertions

    def assert_values(self, statement: tree.AssertValues) -> None:
        """The next record of the topic has these values; a column that is not named is NULL."""
        source = self.source(statement.target, statement.at)
        expected = self._expected(statement, source)
        records = self._topics.get(source.topic, [])
        place = self._asserted.get(source.topic, 0)
        if place >= len(records):
            message = f"{source.name} has {place} records; one more is expected"
            raise AssertionFailed(message, statement.at, hint=shown(expected, None))
        self._asserted[source.topic] = place + 1
        actual = self._decoded(source, records[place])
        is_tombstone = records[place].value is None
        if is_tombstone != statement.is_tombstone:
            found = "a tombstone" if is_tombstone else "a value"
            message = f"record {place + 1} of {source.name} is {found}"
            raise AssertionFailed(message, statement.at, hint=shown(expected, actual))
        if differs(expected, actual):
            message = (
                f"record {place + 1} of {source.name} does not match: Expected record does not match actual"
            )
            raise AssertionFailed(message, statement.at, hint=shown(expected, actual))

    def _expected(self, statement: tree.AssertValues, source: SourceInfo) -> dict[str, Any]:
        pseudo = {**_ROWTIME, **(_WINDOW if source.window else {})}
        columns = statement.columns
        if statement.is_tombstone and not columns:
            columns = tuple(column.name for column in source.schema.key)
        row = row_of(source, columns, statement.values, pseudo, self._functions, self._types, statement.at)
        if statement.is_tombstone:
            return row
        return {**row, **{name: row.get(name) for name in source.schema.names}}

    def _decoded(self, source: SourceInfo, record: StoredRecord) -> dict[str, Any]:
        key = key_serde(source).decoder(source.topic, is_key=True)(record.key)
        found: dict[str, Any] = {"ROWTIME": record.timestamp_ms}
        if source.window is not None and key is not None:
            found |= {"WINDOWSTART": key[1], "WINDOWEND": key[2]}
            key = key[0]
        found |= dict(zip((column.name for column in source.schema.key), key or (), strict=False))
        serde = row_serde(source.value_format, source.stored_columns, is_key=False)
        value = serde.decoder(source.topic, is_key=False)(record.value)
        return found | dict(zip((column.name for column in source.stored_columns), value or (), strict=False))

    def assert_source(self, statement: tree.AssertSource) -> None:
        """The source is defined like this; WITH says what else is compared."""
        wanted = statement.source
        actual = self.source(wanted.name, statement.at)
        if wanted.kind is not actual.kind:
            self._unequal("type", actual, wanted.kind, actual.kind, statement.at)
        expected = source_of(wanted, self._types)
        if expected.schema != actual.schema:
            self._unequal("schema", actual, _columns(expected), _columns(actual), statement.at)
        said = {one.name.upper() for one in wanted.properties}
        for name, words, read in _COMPARED:
            if said & set(words) and read(expected) != read(actual):
                self._unequal(name, actual, read(expected), read(actual), statement.at)

    @staticmethod
    def _unequal(what: str, actual: SourceInfo, wanted: Any, found: Any, at: Position) -> None:
        message = f"Expected {what} does not match actual for source {actual.name}"
        raise AssertionFailed(message, at, hint=f"expected: {wanted}\nactual:   {found}")


def _columns(source: SourceInfo) -> str:
    word = "PRIMARY KEY" if source.is_table else "KEY"
    keys = [f"{column} {word}" for column in source.schema.key]
    return ", ".join([*keys, *map(str, source.schema.value)])


_COMPARED: Final[tuple[tuple[str, tuple[str, ...], Callable[[SourceInfo], Any]], ...]] = (
    ("kafka topic", ("KAFKA_TOPIC",), lambda one: one.topic),
    ("key format", ("KEY_FORMAT", "FORMAT"), lambda one: one.key_format.name),
    ("value format", ("VALUE_FORMAT", "FORMAT"), lambda one: one.value_format.name),
    ("timestamp column", ("TIMESTAMP",), lambda one: one.timestamp_column),
    ("timestamp format", ("TIMESTAMP_FORMAT",), lambda one: one.timestamp_format),
    ("serde options", ("WRAP_SINGLE_VALUE",), lambda one: one.value_format.is_wrapped),
    ("window", ("WINDOW_TYPE", "WINDOW_SIZE"), lambda one: one.window),
)

_RULES: Final[Mapping[type, Callable[[World, Any], None]]] = {
    tree.CreateSource: World.create_source,
    tree.CreateAsSelect: World.create_as,
    tree.InsertSelect: World.insert_select,
    tree.InsertValues: World.insert,
    tree.AssertValues: World.assert_values,
    tree.AssertSource: World.assert_source,
    tree.DropSource: World.drop,
    tree.CreateType: World.create_type,
    tree.DropType: World.drop_type,
    tree.SetProperty: World.ignore,
    tree.UnsetProperty: World.ignore,
}
