"""Protobuf messages as schemas of Connect, and what reads their values, as Confluent's ProtobufData maps them. Pure.

A oneof is a struct named `io.confluent.connect.protobuf.Union.<oneof>`: one field of it has a value.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.converters.registry.leaf_values import Convert
from moldau.pipeline.connect.converters.registry.protobuf.messages import meta_extension
from moldau.pipeline.connect.converters.registry.protobuf.protobuf_schemas import (
    ENUM,
    MESSAGES,
    TAG,
    TYPE,
    UNION,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import decimal_of, moment_of, time_of
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES

_SCALARS: Final = {
    1: schemas.FLOAT64,
    2: schemas.FLOAT32,
    3: schemas.INT64,
    4: schemas.INT64,
    5: schemas.INT32,
    6: schemas.INT64,
    7: schemas.INT64,
    8: schemas.BOOLEAN,
    9: schemas.STRING,
    12: schemas.BYTES,
    13: schemas.INT64,
    15: schemas.INT32,
    16: schemas.INT64,
    17: schemas.INT32,
    18: schemas.INT64,
}
"""By the number that descriptors have for a type: double, float, int64, uint64, int32, fixed64, fixed32, bool, string,
bytes, uint32, sfixed32, sfixed64, sint32, sint64. Enums, groups and messages are not among them."""
_ENUM: Final = 14
_UNSIGNED: Final = (4, 6)
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
)


class ReadField(NamedTuple):
    """`read` takes the message that has the field."""

    field: Field
    read: Convert


class ProtobufReading:
    def __init__(self, *, optionals: bool, wrappers: bool) -> None:
        self._optionals, self._wrappers = optionals, wrappers
        self._open: list[str] = []

    def schema(self, message: Any) -> Schema:
        return self._struct(message, {})[0]

    def reader(self, message: Any) -> tuple[Schema, Convert]:
        """Of a whole message."""
        schema, read = self._struct(message, {})
        return schema, read(schema)

    def _struct(self, message: Any, parameters: dict[str, str]) -> tuple[Schema, Callable[[Schema], Convert]]:
        if message.full_name in self._open:
            raise DataError(
                f"the message {message.full_name} contains itself: Connect has no recursive schemas here. Use "
                "ByteArrayConverter to pass the records on as they are"
            )
        self._open.append(message.full_name)
        parts: list[ReadField] = []
        unions: set[str] = set()
        for field in message.fields:
            union = field.containing_oneof
            if union is None or is_optional(field):
                parts.append(self._field(field))
            elif union.name not in unions:
                parts.append(self._union(union, len(unions)))
                unions.add(union.name)
        self._open.remove(message.full_name)
        schema = Schema(
            SchemaType.STRUCT,
            name=message.full_name,
            parameters=parameters,
            fields=tuple(part.field for part in parts),
        )
        reads = [part.read for part in parts]
        return schema, lambda of: lambda value: Struct(of, [read(value) for read in reads])

    def _union(self, union: Any, number: int) -> ReadField:
        members = [self._field(one) for one in union.fields]
        fields = tuple(Field(one.field.name, replace(one.field.schema, optional=True)) for one in members)
        schema = Schema(SchemaType.STRUCT, optional=True, name=f"{UNION}.{union.name}", fields=fields)
        places = {one.field.name: (at, one.read) for at, one in enumerate(members)}
        name = union.name

        def read(message: Any) -> Struct | None:
            which = message.WhichOneof(name)
            if which is None:
                return None
            at, read_one = places[which]
            values: list[Any] = [None] * len(members)
            values[at] = read_one(message)
            return Struct(schema, values)

        return ReadField(Field(f"{name}_{number}", schema), read)

    def _field(self, field: Any) -> ReadField:
        name, tag = field.name, {TAG: str(field.number)}
        if is_map(field):
            entry = field.message_type.fields_by_name
            keys, read_key = self._value(entry["key"], {})
            values, read = self._value(entry["value"], {})
            schema = replace(schemas.mapping(keys, values), parameters=tag)
            return ReadField(
                Field(name, self._nullable(field, schema)),
                lambda message: {read_key(key): read(one) for key, one in getattr(message, name).items()},
            )
        if field.is_repeated:
            items, read = self._value(field, {})
            schema = replace(schemas.array(items), parameters=tag)
            return ReadField(
                Field(name, self._nullable(field, schema)),
                lambda message: [read(one) for one in getattr(message, name)],
            )
        schema, read = self._value(field, tag, is_field=True)
        if field.has_presence:
            return ReadField(
                Field(name, schema),
                lambda message: read(getattr(message, name)) if message.HasField(name) else None,
            )
        return ReadField(Field(name, schema), lambda message: read(getattr(message, name)))

    def _value(self, field: Any, tag: dict[str, str], *, is_field: bool = False) -> tuple[Schema, Convert]:
        """Of one value, in a list or map too."""
        message = field.message_type
        if message is None:
            schema, read = self._scalar(field)
        elif message.full_name in _WRAPPERS and self._wrappers:
            schema, inner = self._scalar(message.fields_by_name["value"])
            read = lambda value: inner(value.value)  # noqa: E731
        elif (found := _logical(field)) is not None:
            schema, read = found
        else:
            schema, make = self._struct(message, {})
            schema = self._complete(schema, field, tag, is_field=is_field)
            return schema, make(schema)
        return self._complete(schema, field, tag, is_field=is_field), read

    def _complete(self, schema: Schema, field: Any, tag: dict[str, str], *, is_field: bool) -> Schema:
        made = replace(schema, parameters={**schema.parameters, **tag})
        return self._nullable(field, made) if is_field else made

    def _nullable(self, field: Any, schema: Schema) -> Schema:
        """Any field may be missing, unless optional ones are marked as such."""
        if self._optionals:
            return replace(schema, optional=is_optional(field) or _is_in_union(field))
        if self._wrappers:
            return replace(schema, optional=field.message_type is not None and not field.is_repeated)
        return replace(schema, optional=not field.is_required)

    def _scalar(self, field: Any) -> tuple[Schema, Convert]:
        if field.type == _ENUM:
            names = {value.number: value.name for value in field.enum_type.values}
            texts = {ENUM: field.enum_type.name, **{f"{ENUM}.{name}": str(at) for at, name in names.items()}}
            return Schema(SchemaType.STRING, parameters=texts), lambda number: names.get(number, str(number))
        schema = _SCALARS.get(field.type)
        if schema is None:
            raise DataError(f"the field {field.name} is a group of Protobuf, which Connect does not have")
        if field.type in _UNSIGNED:
            return schema, _within_int64
        said = field.GetOptions().Extensions[meta_extension()].params.get(TYPE)
        if schema is schemas.INT32 and said in (SchemaType.INT8, SchemaType.INT16):
            return Schema(SchemaType(said)), _same
        return schema, _same


def is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def is_optional(field: Any) -> bool:
    """Declared so: Protobuf has a oneof for it that nobody wrote."""
    union = field.containing_oneof
    return union is not None and len(union.fields) == 1 and union.name == f"_{field.name}"


def _is_in_union(field: Any) -> bool:
    return field.containing_oneof is not None


def _logical(field: Any) -> tuple[Schema, Convert] | None:
    name = field.message_type.full_name
    if name == MESSAGES[DECIMAL][0]:
        scale = int(field.GetOptions().Extensions[meta_extension()].params.get("scale", "0"))
        return schemas.decimal(scale), lambda value: decimal_of(value.value, value.scale)
    if name == MESSAGES[TIMESTAMP][0]:
        return schemas.timestamp(), lambda value: moment_of(value.seconds * 1000 + value.nanos // 1_000_000)
    if name == MESSAGES[TIME][0]:
        return schemas.time(), lambda value: time_of(
            ((value.hours * 60 + value.minutes) * 60 + value.seconds) * 1000 + value.nanos // 1_000_000
        )
    if name == MESSAGES[DATE][0]:
        return schemas.date(), lambda value: date(value.year, value.month, value.day)
    return None


def _within_int64(value: int) -> int:
    if value > RANGES[SchemaType.INT64][1]:
        raise DataError(f"{value} is larger than an int64, which Connect has for unsigned numbers")
    return value


def _same(value: Any) -> Any:
    return value
