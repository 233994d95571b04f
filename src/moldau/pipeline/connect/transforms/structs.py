"""Schemas and structs that are made out of others."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct


def with_fields(schema: Schema, fields: Sequence[Field], of: str) -> Schema:
    """A required struct under the same name. `of` names the transformation in the message about a name that two fields
    would have."""
    names = set()
    for one in fields:
        if one.name in names:
            raise DataError(
                f"{of} would give {schema} two fields with the name {one.name}: choose another name, or exclude the "
                "other field first with ReplaceField"
            )
        names.add(one.name)
    return replace(schema, type=SchemaType.STRUCT, optional=False, default=None, fields=tuple(fields))


def fields_of(schema: Schema, of: str) -> tuple[Field, ...]:
    if schema.type is SchemaType.STRUCT:
        return schema.fields
    raise DataError(f"{of} takes a struct, and the schema is {schema}: wrap the value with HoistField first")


def field_of(schema: Schema, name: str, of: str) -> Field:
    found = schema.field(name)
    if found is None:
        known = ", ".join(one.name for one in schema.fields) or "none"
        raise DataError(
            f"{of} finds no field {name} in {schema}, whose fields are {known}: mend its settings"
        )
    return found


def picker(places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Takes the values in these positions."""
    if list(places) == list(range(len(places))):
        end = len(places)
        return lambda values: values[:end]
    if len(places) == 1:
        place = places[0]
        return lambda values: (values[place],)
    return itemgetter(*places)


def struct_of(schema: Schema, values: Sequence[Any]) -> Struct:
    """Raises DataError where a required field is null, with a default or not."""
    if None in values:
        for one, value in zip(schema.fields, values, strict=True):
            if value is None and not one.schema.optional:
                raise DataError(
                    f"field {one.name} is null, and its schema ({one.schema}) is required: give it a value, or make "
                    "the schema optional"
                )
    return Struct(schema, values)
