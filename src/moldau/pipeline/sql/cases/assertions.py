"""ASSERT: what has been written, and what is defined."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.cases.comparison import differs, shown
from moldau.pipeline.sql.cases.topics import StoredRecord, Topics
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.insert_values import row_of
from moldau.pipeline.sql.engine.rules.logged import Logged, existing
from moldau.pipeline.sql.engine.rules.sources import source_of
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.expressions import Constant
from moldau.pipeline.sql.translation.query import key_serde
from moldau.pipeline.sql.types import BIGINT

_ROWTIME: Final = {"ROWTIME": BIGINT}
_WINDOW: Final = {"WINDOWSTART": BIGINT, "WINDOWEND": BIGINT}


class AssertionFailed(SqlError):
    """What was asserted is not so."""


class Assertions:
    def __init__(self, catalog: Catalog, topics: Topics, functions: FunctionLibrary) -> None:
        self._catalog = catalog
        self._topics = topics
        self._functions = functions
        self._asserted: dict[str, int] = {}
        """How many records of each topic have been looked at."""

    def assert_values(self, statement: tree.AssertValues) -> None:
        """The next record of the topic has these values; a column that is not named is NULL."""
        source = existing(statement.target, statement.at, self._catalog.definitions)
        expected = self._expected(statement, source)
        records = self._topics.records(source.topic)
        place = self._asserted.get(source.topic, 0)
        if place >= len(records):
            message = f"{source.name} has {place} records; one more is expected"
            raise AssertionFailed(message, statement.at, hint=shown(expected, None))
        self._asserted[source.topic] = place + 1
        actual = _decoded(source, records[place])
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
        types = self._catalog.types
        row = row_of(source, columns, statement.values, pseudo, self._functions, types, statement.at)
        if statement.is_tombstone:
            return row
        stored = (*source.schema.key, *source.stored_columns)
        return {**row, **{column.name: row.get(column.name) for column in stored}}

    def assert_source(self, statement: tree.AssertSource) -> None:
        """The source is defined like this. WITH says what else is compared."""
        wanted = statement.source
        actual = existing(wanted.name, statement.at, self._catalog.definitions)
        if wanted.kind is not actual.kind:
            _unequal("type", actual, wanted.kind, actual.kind, statement.at)
        said = {one.name.upper() for one in wanted.properties}
        expected = source_of(_with_formats(wanted, said, actual), self._logged())
        if expected.schema != actual.schema:
            _unequal("schema", actual, _columns(expected), _columns(actual), statement.at)
        for name, words, read in _COMPARED:
            if said & set(words) and read(expected) != read(actual):
                _unequal(name, actual, read(expected), read(actual), statement.at)

    def _logged(self) -> Logged:
        catalog = self._catalog
        return Logged("", catalog.next_offset, {}, catalog.definitions, self._functions, catalog.registry)


def _with_formats(wanted: tree.CreateSource, said: set[str], actual: SourceInfo) -> tree.CreateSource:
    """Formats that the assertion leaves out are as they are."""
    if "FORMAT" in said:
        return wanted
    given = {"KEY_FORMAT": actual.key_format.name, "VALUE_FORMAT": actual.value_format.name}
    added = [
        tree.Property(name, Constant("STRING", value)) for name, value in given.items() if name not in said
    ]
    return replace(wanted, properties=(*wanted.properties, *added))


def _decoded(source: SourceInfo, record: StoredRecord) -> dict[str, Any]:
    key = key_serde(source).decoder(source.topic, is_key=True)(record.key)
    found: dict[str, Any] = {"ROWTIME": record.timestamp_ms}
    if source.window is not None and key is not None:
        found |= {"WINDOWSTART": key[1], "WINDOWEND": key[2]}
        key = key[0]
    found |= dict(zip((column.name for column in source.schema.key), key or (), strict=False))
    serde = row_serde(source.value_format, source.stored_columns, is_key=False)
    value = serde.decoder(source.topic, is_key=False)(record.value)
    return found | dict(zip((column.name for column in source.stored_columns), value or (), strict=False))


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
