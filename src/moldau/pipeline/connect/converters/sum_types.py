"""Structs that stand for a value of one of several types: one field has a value. Pure."""

from collections.abc import Sequence
from typing import Any

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import shown


def set_field(value: Any, schema: Schema) -> tuple[int, Any]:
    """The place and value of the field that is set."""
    if type(value) is not Struct or (value.schema is not schema and value.schema != schema):
        raise DataError(f"{shown(value)} does not fit its schema {schema}")
    found = [(at, one) for at, one in enumerate(value.values) if one is not None]
    if len(found) != 1:
        raise DataError(f"{len(found)} fields of {schema.name} have a value: exactly one must")
    return found[0]


def with_field(schema: Schema, at: int, value: Any) -> Struct:
    """A struct with this field alone."""
    values: list[Any] = [None] * len(schema.fields)
    values[at] = value
    return Struct(schema, values)


def first_that_fits(value: Any, schema: Schema, reads: Sequence[Any]) -> Struct:
    """`reads` raise DataError for a value that is not theirs."""
    for at, read in enumerate(reads):
        try:
            found = read(value)
        except DataError:
            continue
        return with_field(schema, at, found)
    raise DataError(f"{shown(value)} is of none of the types of {schema.name}")
