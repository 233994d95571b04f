"""The sources of a query, and the columns they bring into its scope."""

from collections.abc import Mapping, Sequence
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
from moldau.pipeline.sql.definitions import KeyWindow, SourceInfo
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.relations import Source
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


def reading(source: Source, sources: Mapping[str, SourceInfo]) -> Reading:
    """Of a source that is read alone."""
    info, alias = find(source, sources), source.known_as
    bindings = [
        Binding(alias, column.name, column.type, key_code(index, info.window), is_key=True)
        for index, column in enumerate(info.schema.key)
    ]
    bindings += [
        Binding(alias, column.name, column.type, read(VALUE, index))
        for index, column in enumerate(info.schema.value)
    ]
    bindings += pseudo_columns(alias, info.window)
    return Reading(Input(info, alias), tuple(bindings))


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
