"""Schemas of Connect as Protobuf files, with the names and options that Confluent's ProtobufData gives them. Pure."""

import base64
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.connect.converters.registry.protobuf.messages import (
    DECIMAL_PATH,
    META_PATH,
    meta_extension,
)
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import (
    DATE,
    DECIMAL,
    SCALE,
    TIME,
    TIMESTAMP,
    Field,
    Schema,
    SchemaType,
)

PREFIX: Final = "io.confluent.connect.protobuf"
TAG: Final = f"{PREFIX}.Tag"
ENUM: Final = f"{PREFIX}.Enum"
UNION: Final = f"{PREFIX}.Union"
TYPE: Final = "connect.type"
PRECISION: Final = "connect.decimal.precision"
PRECISION_DEFAULT: Final = "64"
MESSAGES: Final = {
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
    DECIMAL: ("confluent.type.Decimal", DECIMAL_PATH),
}
_SCALARS: Final = {
    SchemaType.INT8: ("TYPE_INT32", "Int32Value"),
    SchemaType.INT16: ("TYPE_INT32", "Int32Value"),
    SchemaType.INT32: ("TYPE_INT32", "Int32Value"),
    SchemaType.INT64: ("TYPE_INT64", "Int64Value"),
    SchemaType.FLOAT32: ("TYPE_FLOAT", "FloatValue"),
    SchemaType.FLOAT64: ("TYPE_DOUBLE", "DoubleValue"),
    SchemaType.BOOLEAN: ("TYPE_BOOL", "BoolValue"),
    SchemaType.STRING: ("TYPE_STRING", "StringValue"),
    SchemaType.BYTES: ("TYPE_BYTES", "BytesValue"),
}
_KEYS: Final = frozenset(_SCALARS) - {SchemaType.FLOAT32, SchemaType.FLOAT64, SchemaType.BYTES}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = range(19_000, 20_000)


def is_union(schema: Schema) -> bool:
    """A struct that stands for a oneof."""
    name = schema.name or ""
    return schema.type is SchemaType.STRUCT and (name == UNION or name.startswith(f"{UNION}."))


def union_name(field: Field) -> str:
    """Of the oneof: a suffix with a number tells its field from others."""
    given = (field.schema.name or "").removeprefix(UNION).removeprefix(".")
    return given or re.sub(r"_\d+$", "", field.name)


class ProtobufFile:
    """Makes one file with one message on top."""

    def __init__(self, *, optionals: bool, wrappers: bool) -> None:
        """How fields that may be null are declared: `optional`, or as a wrapper message."""
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

        self._optionals, self._wrappers = optionals, wrappers
        self._messages = 0
        self._types: Any = FieldDescriptorProto
        self._file: Any = FileDescriptorProto(name="default.proto", syntax="proto3")

    def text(self, schema: Schema) -> tuple[str, str]:
        """In Base64, with the full name of the message."""
        if schema.type is not SchemaType.STRUCT or is_union(schema):
            raise DataError(
                f"a Protobuf schema is that of a message, and the record's schema is {schema}: put the value into a "
                "struct with HoistField, or use another converter"
            )
        self._file.package = (schema.name or "").rpartition(".")[0]
        name = self._message(self._file.message_type.add(), schema, self._file.package)
        return base64.b64encode(self._file.SerializeToString(deterministic=True)).decode(), name

    def _message(self, message: Any, schema: Schema, around: str) -> str:
        self._messages += 1
        message.name = (schema.name or "").rpartition(".")[2] or f"ConnectDefault{self._messages}"
        if not _NAME.fullmatch(message.name):
            raise _wrong_name("schema", message.name)
        full_name = f"{around}.{message.name}" if around else str(message.name)
        numbers = _Numbers(schema)
        for field in schema.fields:
            if not is_union(field.schema):
                self._field(message, field, numbers, full_name)
                continue
            place = len(message.oneof_decl)
            message.oneof_decl.add(name=union_name(field))
            for one in field.schema.fields:
                self._field(message, one, numbers, full_name, union=place)
        self._declare_optional(message)
        return full_name

    def _declare_optional(self, message: Any) -> None:
        """Behind real unions, as Protobuf wants it."""
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _field(
        self, message: Any, field: Field, numbers: "_Numbers", around: str, union: int | None = None
    ) -> None:
        schema = field.schema
        if not _NAME.fullmatch(field.name):
            raise _wrong_name("field", field.name)
        made = message.field.add(name=field.name, number=numbers.of(schema), label=self._types.LABEL_OPTIONAL)
        if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
            made.label = self._types.LABEL_REPEATED
            self._type(message, made, _no_collection(schema.value_schema, field.name), around)
            return
        if schema.type is SchemaType.MAP:
            made.label = self._types.LABEL_REPEATED
            self._map(message, made, schema, around)
            return
        has_wrapper = self._wrappers and schema.optional and schema.type in _SCALARS and schema.name is None
        if has_wrapper and ENUM not in schema.parameters and union is None:
            wrapper = _SCALARS[schema.type][1]
            self._of_message(made, f"google.protobuf.{wrapper}", "google/protobuf/wrappers.proto")
            return
        self._type(message, made, schema, around)
        if union is not None:
            made.oneof_index = union
        elif self._optionals and schema.optional:
            made.proto3_optional = True

    def _map(self, message: Any, field: Any, schema: Schema, around: str) -> None:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        if schema.key_schema.type not in _KEYS:
            raise DataError(
                f"keys of maps in Protobuf are texts, whole numbers or booleans, and those of {field.name} are "
                f"{schema.key_schema}: use another converter"
            )
        camel = "".join(part[:1].upper() + part[1:] for part in field.name.split("_"))
        entry = message.nested_type.add(name=f"{camel}Entry")
        entry.options.map_entry = True
        for number, (name, kind) in enumerate(
            (("key", schema.key_schema), ("value", _no_collection(schema.value_schema, field.name))), 1
        ):
            made = entry.field.add(name=name, number=number, label=self._types.LABEL_OPTIONAL)
            self._type(message, made, kind, around)
        self._of_message(field, f"{around}.{entry.name}", None)

    def _type(self, message: Any, field: Any, schema: Schema, around: str) -> None:
        if schema.type is SchemaType.STRUCT:
            nested = message.nested_type.add()
            field.type = self._types.TYPE_MESSAGE
            field.type_name = f".{self._nested(message, nested, schema, around)}"
        elif schema.name in MESSAGES:
            self._of_message(field, *MESSAGES[schema.name])
            if schema.name == DECIMAL:
                precision = schema.parameters.get(PRECISION, PRECISION_DEFAULT)
                self._params(field, precision=precision, scale=schema.parameters.get(SCALE, "0"))
        elif schema.type is SchemaType.STRING and ENUM in schema.parameters:
            self._enum(message, field, schema, around)
        else:
            field.type = getattr(self._types, _SCALARS[schema.type][0])
            if schema.type in (SchemaType.INT8, SchemaType.INT16):
                self._params(field, **{TYPE: str(schema.type)})

    def _nested(self, message: Any, nested: Any, schema: Schema, around: str) -> str:
        """A message within `message`, under a name that no other one there has."""
        name = self._message(nested, schema, around)
        base, number = str(nested.name), 1
        while sum(one.name == nested.name for one in message.nested_type) > 1:
            number += 1
            nested.name = f"{base}{number}"
        return name if nested.name == base else self._renamed(message, nested, schema, around)

    def _renamed(self, message: Any, nested: Any, schema: Schema, around: str) -> str:
        """Made again: the types of its fields have its name in theirs."""
        new = str(nested.name)
        nested.Clear()
        return self._message(nested, replace(schema, name=new), around)

    def _enum(self, message: Any, field: Any, schema: Schema, around: str) -> None:
        name = schema.parameters[ENUM].rpartition(".")[2] or f"{field.name}Enum"
        field.type = self._types.TYPE_ENUM
        field.type_name = f".{around}.{name}"
        if any(one.name == name for one in message.enum_type):
            return
        made = message.enum_type.add(name=name)
        prefix = f"{ENUM}."
        symbols = [
            (key.removeprefix(prefix), text)
            for key, text in schema.parameters.items()
            if key.startswith(prefix)
        ]
        for symbol, number in sorted(symbols, key=lambda one: int(one[1]) != 0):
            made.value.add(name=symbol, number=int(number))

    def _params(self, field: Any, **texts: str) -> None:
        self._import(META_PATH)
        params = field.options.Extensions[meta_extension()].params
        for name, text in texts.items():
            params[name] = text

    def _of_message(self, field: Any, name: str, path: str | None) -> None:
        field.type = self._types.TYPE_MESSAGE
        field.type_name = f".{name}"
        if path is not None:
            self._import(path)

    def _import(self, path: str) -> None:
        if path not in self._file.dependency:
            self._file.dependency.append(path)


class _Numbers:
    """Of fields: those that their schemas have as a parameter, and for others the next free one."""

    def __init__(self, schema: Schema) -> None:
        self._taken = {number for one in _members(schema) if (number := _tag(one)) is not None}
        self._next = 1

    def of(self, schema: Schema) -> int:
        given = _tag(schema)
        if given is not None:
            return given
        while self._next in self._taken or self._next in _RESERVED:
            self._next += 1
        self._next += 1
        return self._next - 1


def _members(schema: Schema) -> Iterable[Schema]:
    for one in schema.fields:
        if is_union(one.schema):
            yield from (inner.schema for inner in one.schema.fields)
        else:
            yield one.schema


def _tag(schema: Schema) -> int | None:
    text = schema.parameters.get(TAG, "")
    return int(text) if text.isdecimal() else None


def _no_collection(schema: Schema, name: str) -> Schema:
    if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        raise DataError(
            f"neither elements of arrays nor values of maps can be arrays or maps in Protobuf, and {name} has such: "
            "put the inner one into a struct, or use another converter"
        )
    return schema


def _wrong_name(what: str, name: str) -> DataError:
    return DataError(
        f"the {what} {name!r} has a name that Protobuf does not allow: rename it with ReplaceField or "
        "SetSchemaMetadata"
    )
