"""Protobuf messages of a generated class as rows: the column's type, and the codecs."""

import datetime
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.serdes.registry import ProtobufSerde
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde

TIMESTAMP: Final = "google.protobuf.Timestamp"
_KINDS: Final[dict[int, DataType]] = {
    FieldDescriptor.CPPTYPE_INT32: IntegerType(),
    FieldDescriptor.CPPTYPE_INT64: LongType(),
    # Unsigned integers get the next larger type.
    FieldDescriptor.CPPTYPE_UINT32: LongType(),
    FieldDescriptor.CPPTYPE_UINT64: LongType(),
    FieldDescriptor.CPPTYPE_DOUBLE: DoubleType(),
    FieldDescriptor.CPPTYPE_FLOAT: FloatType(),
    FieldDescriptor.CPPTYPE_BOOL: BooleanType(),
    FieldDescriptor.CPPTYPE_ENUM: StringType(),
}


class ProtobufColumn(Serde):
    """Rows as dicts. Pickled with the address of the message class (`module:Class`), not with the class."""

    def __init__(self, address: str, registry_url: str, client_settings: Mapping[str, str]) -> None:
        self._made_of = (address, registry_url, dict(client_settings))
        self._message = _message_class(address)
        self._serde = ProtobufSerde(registry_url, self._message, **client_settings)
        self.column_type = _struct(self._message.DESCRIPTOR, ())

    def __reduce__(self) -> tuple[type["ProtobufColumn"], tuple[str, str, dict[str, str]]]:
        return ProtobufColumn, self._made_of

    @property
    def name(self) -> str:
        return self._serde.name

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        decode = self._serde.decoder(topic, is_key=is_key)
        return lambda data: None if data is None else _row(decode(data))

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        encode, message = self._serde.encoder(topic, is_key=is_key), self._message

        def encode_row(row: Any) -> bytes | None:
            if row is None:
                return None
            made = message()
            _fill(made, row)
            return encode(made)

        return encode_row


def _message_class(address: str) -> type[Message]:
    module, _, name = address.partition(":")
    try:
        found: type[Message] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as failure:
        raise ConfigError(
            f"the Protobuf message {address!r} cannot be imported here: {failure}. It must be importable by the driver "
            "and by every executor"
        ) from None
    return found


def _struct(kind: Descriptor, outer: tuple[str, ...]) -> StructType:
    if kind.full_name in outer:
        raise ConfigError(
            f"the message {kind.full_name} contains itself, which is not possible for a column: read it as binary"
        )
    within = (*outer, kind.full_name)
    return StructType([StructField(field.name, _column(field, within)) for field in kind.fields])


def _column(field: FieldDescriptor, outer: tuple[str, ...]) -> DataType:
    if _is_map(field):
        entry = field.message_type.fields_by_name
        return MapType(_scalar(entry["key"], outer), _scalar(entry["value"], outer))
    return ArrayType(_scalar(field, outer)) if field.is_repeated else _scalar(field, outer)


def _scalar(field: FieldDescriptor, outer: tuple[str, ...]) -> DataType:
    if field.message_type is not None:
        is_time = field.message_type.full_name == TIMESTAMP
        return TimestampType() if is_time else _struct(field.message_type, outer)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return BinaryType() if field.type == FieldDescriptor.TYPE_BYTES else StringType()
    return _KINDS[field.cpp_type]


def _is_map(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated and field.message_type and field.message_type.GetOptions().map_entry)


def _row(message: Any) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            row[field.name] = None
            continue
        value = getattr(message, field.name)
        if _is_map(field):
            inner = field.message_type.fields_by_name["value"]
            row[field.name] = [(key, _value(inner, value[key])) for key in value]
        elif field.is_repeated:
            row[field.name] = [_value(field, one) for one in value]
        else:
            row[field.name] = _value(field, value)
    return row


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        is_time = field.message_type.full_name == TIMESTAMP
        return value.ToDatetime(datetime.UTC) if is_time else _row(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    return value


def _fill(message: Any, row: dict[str, Any]) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    for name, value in row.items():
        field = fields.get(name)
        if field is None:
            raise ValueError(f"the message {message.DESCRIPTOR.full_name} has no field {name}")
        if value is None:
            continue
        if _is_map(field):
            _fill_map(getattr(message, name), field, value)
        elif field.is_repeated:
            _fill_list(getattr(message, name), field, value)
        elif field.message_type is not None:
            getattr(message, name).SetInParent()
            _fill_one(getattr(message, name), value)
        else:
            setattr(message, name, _number(field, value))


def _fill_one(message: Any, value: Any) -> None:
    if isinstance(value, datetime.datetime):
        message.FromDatetime(value)
    else:
        _fill(message, value)


def _fill_list(target: Any, field: FieldDescriptor, values: list[Any]) -> None:
    for one in values:
        if field.message_type is not None:
            _fill_one(target.add(), one)
        else:
            target.append(_number(field, one))


def _fill_map(target: Any, field: FieldDescriptor, given: Any) -> None:
    inner = field.message_type.fields_by_name["value"]
    for key, value in given.items():
        if inner.message_type is not None:
            _fill_one(target[key], value)
        else:
            target[key] = _number(inner, value)


def _number(field: FieldDescriptor, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        return field.enum_type.values_by_name[value].number
    return value
