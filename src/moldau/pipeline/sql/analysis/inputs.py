"""The sources of a query, and the columns they bring into its scope."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from moldau.pipeline.code.tree import Apply, Argument, Code, Operation
from moldau.pipeline.sql.analysis.plan import Input
from moldau.pipeline.sql.analysis.scope import (
    KEY,
    PSEUDO_COLUMNS,
    TIMESTAMP_MS,
    VALUE,
    WINDOW_BOUNDS,
    Binding,
    read,
)
from moldau.pipeline.sql.analysis.walking import parts
from moldau.pipeline.sql.definitions import HeaderColumn, KeyWindow, SourceInfo
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.expressions import ColumnName
from moldau.pipeline.sql.syntax.tree.relations import OneColumn, Query, Source
from moldau.pipeline.sql.types import BIGINT

ROW_PLACE = ("ROWPARTITION", "ROWOFFSET")


@dataclass(frozen=True, slots=True)
class Reading:
    """A source in a query: what is read, and the names it brings."""

    input: Input
    bindings: tuple[Binding, ...]


def find(source: Source, sources: Mapping[str, SourceInfo]) -> SourceInfo:
    found = sources.get(source.name)
    if found is None:
        hint = did_you_mean(source.name, sources) or (
            "SHOW STREAMS; and SHOW TABLES; list them. A topic becomes a source by CREATE STREAM or CREATE TABLE."
        )
        raise SqlError(f"{source.name} does not exist", source.at, hint=hint)
    return found


def mentioned_names(query: Query) -> frozenset[str]:
    """The names of all columns that the query writes out."""
    selected = [item.expression for item in query.items if isinstance(item, OneColumn)]
    conditions = [one for one in (query.where, query.having) if one is not None]
    written = (
        *selected,
        *conditions,
        *query.group_by,
        *query.partition_by,
        *(join.on for join in query.joins),
    )
    return frozenset(part.name for one in written for part in parts(one) if isinstance(part, ColumnName))


def reading(source: Source, sources: Mapping[str, SourceInfo], mentioned: Collection[str] = ()) -> Reading:
    """Of a source that is read alone. The place of a record is read only where it is mentioned."""
    info, alias = find(source, sources), source.known_as
    place = tuple(name for name in ROW_PLACE if name in mentioned)
    metadata: tuple[HeaderColumn | str, ...] = (*info.headers, *place)
    stored = [column.name for column in info.stored_columns]
    from_headers = [one.column for one in info.headers]
    index_of = {name: index for index, name in enumerate([*stored, *from_headers, *place])}
    bindings = [
        Binding(alias, column.name, column.type, key_code(index, info.window), is_key=True)
        for index, column in enumerate(info.schema.key)
    ]
    bindings += [
        Binding(alias, column.name, column.type, read(VALUE, index_of[column.name]))
        for column in info.schema.value
    ]
    bindings += pseudo_columns(alias, info.window)
    bindings += [
        Binding(alias, name, PSEUDO_COLUMNS[name], read(VALUE, index_of[name]), is_pseudo=True)
        for name in place
    ]
    return Reading(Input(info, alias, metadata=metadata), tuple(bindings))


def key_code(index: int, window: KeyWindow | None) -> Code:
    """A column of the record's key, which may be missing."""
    text = "{0}[0]" if window else "{0}"
    operation = Operation(
        f"key[{index}]",
        f"(None if {{0}} is None or {text} is None else {text}[{index}])",
        takes_null=True,
        is_read=True,
    )
    return Apply(operation, (Argument(KEY),))


def pseudo_columns(alias: str, window: KeyWindow | None) -> list[Binding]:
    found = [Binding(alias, "ROWTIME", PSEUDO_COLUMNS["ROWTIME"], Argument(TIMESTAMP_MS), is_pseudo=True)]
    if window is not None:
        found += [
            Binding(alias, name, BIGINT, window_bound(index), is_pseudo=True)
            for index, name in enumerate(WINDOW_BOUNDS, 1)
        ]
    return found


def window_bound(index: int) -> Code:
    """1: the start, 2: the end of the window in the record's key."""
    return Apply(
        Operation(f"window[{index}]", f"{{0}}[{index}]", takes_null=True, is_read=True), (Argument(KEY),)
    )


def flattened(one: Reading, start: int) -> Reading:
    """The same as a flat tuple, whose columns lie from `start` on in the tuple of the whole join."""
    ordered: Sequence[Binding] = one.bindings
    moved = tuple(replace(binding, code=read(VALUE, start + index)) for index, binding in enumerate(ordered))
    return Reading(replace(one.input, flat=tuple(binding.code for binding in ordered)), moved)
