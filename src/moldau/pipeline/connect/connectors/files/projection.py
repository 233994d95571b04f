"""Schemas that change in the middle of a topic: when a new file begins, and how records fit into an open one.

The rules are those of schema.compatibility in Confluent's sinks. Where schemas have no version, every change begins a
new file.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

Convert = Callable[[Any], Any]

COMPATIBILITIES: Final = ("NONE", "BACKWARD", "FORWARD", "FULL")
_WIDER: Final = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)
PROJECTIONS_MAX: Final = 64


def begins_file(compatibility: str, current: Schema | None, new: Schema | None) -> bool:
    """Whether a record with the schema `new` cannot go into a file with the schema `current`."""
    if current is new or current == new:
        return False
    if compatibility == "NONE" or current is None or new is None:
        return True
    if current.version is None or new.version is None or current.name != new.name:
        return True
    # An open file has the newest schema so far, with FORWARD the oldest; other records are projected to it.
    is_forward = compatibility == "FORWARD"
    begins = new.version < current.version if is_forward else new.version > current.version
    return begins or not can_project(new, current)


def can_project(found: Schema, wanted: Schema) -> bool:
    try:
        projection(found, wanted)
    except DataError:
        return False
    return True


@lru_cache(PROJECTIONS_MAX)
def projection(found: Schema, wanted: Schema) -> Convert:
    """Converts values of one schema to another. Raises DataError if it cannot always."""
    convert = _of_type(found, wanted)
    if found.optional and not wanted.optional and wanted.default is None:
        raise DataError(f"{found} may be null, and {wanted} may not")
    default = wanted.default
    return lambda value: default if value is None else convert(value)


def _of_type(found: Schema, wanted: Schema) -> Convert:
    if found.type is not wanted.type:
        if found.type in _WIDER and wanted.type in _WIDER and not found.name and not wanted.name:
            if _WIDER.index(found.type) > _WIDER.index(wanted.type):
                raise DataError(f"{found} does not fit into {wanted}")
            return float if wanted.type in (SchemaType.FLOAT32, SchemaType.FLOAT64) else int
        raise DataError(f"{found} cannot become {wanted}")
    if found.type is not SchemaType.STRUCT and (
        found.name != wanted.name or found.parameters != wanted.parameters
    ):
        raise DataError(f"{found} cannot become {wanted}")
    match wanted.type:
        case SchemaType.STRUCT:
            return _struct(found, wanted)
        case SchemaType.ARRAY if found.value_schema is not None and wanted.value_schema is not None:
            inner = projection(found.value_schema, wanted.value_schema)
            return lambda value: [inner(one) for one in value]
        case SchemaType.MAP if found.value_schema is not None and wanted.value_schema is not None:
            inner = projection(found.value_schema, wanted.value_schema)
            return lambda value: {key: inner(one) for key, one in value.items()}
    return lambda value: value


def _struct(found: Schema, wanted: Schema) -> Convert:
    parts: list[tuple[int | None, Convert]] = []
    for field in wanted.fields:
        place = found.index.get(field.name)
        if place is not None:
            parts.append((place, projection(found.fields[place].schema, field.schema)))
        elif field.schema.optional or field.schema.default is not None:
            parts.append((None, _constant(field.schema.default)))
        else:
            raise DataError(f"field {field.name} is required and missing")
    return lambda value: Struct(
        wanted, [convert(None if place is None else value.values[place]) for place, convert in parts]
    )


def _constant(given: Any) -> Convert:
    return lambda value: given
