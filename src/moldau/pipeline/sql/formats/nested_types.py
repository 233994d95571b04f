"""Walks through the types inside a type."""

from collections.abc import Iterator

from moldau.pipeline.sql.types import Array, Map, SqlType, Struct


def types_within(kind: SqlType) -> Iterator[SqlType]:
    """The type itself and all types inside it."""
    yield kind
    match kind:
        case Array(element=element):
            yield from types_within(element)
        case Map(key=key, value=of):
            yield from types_within(key)
            yield from types_within(of)
        case Struct(fields=fields):
            for _, of in fields:
                yield from types_within(of)
