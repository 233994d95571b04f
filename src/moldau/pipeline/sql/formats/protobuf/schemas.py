"""The message of columns, with the names that Connect gives."""

import base64
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.protobuf.messages import DECIMAL_PATH, META_PATH, meta_extension
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCALARS: Final[dict[SqlType, tuple[str, str]]] = {
    BOOLEAN: ("TYPE_BOOL", "BoolValue"),
    INTEGER: ("TYPE_INT32", "Int32Value"),
    BIGINT: ("TYPE_INT64", "Int64Value"),
    DOUBLE: ("TYPE_DOUBLE", "DoubleValue"),
    STRING: ("TYPE_STRING", "StringValue"),
    BYTES: ("TYPE_BYTES", "BytesValue"),
}
"""The type, and the message that wraps it."""
_MESSAGES: Final[dict[SqlType, tuple[str, str]]] = {
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}


def protobuf_schema(form: Format, columns: Sequence[Column]) -> SubjectSchema:
    """SqlError where a message cannot hold the columns."""
    said = dict(form.properties)
    made = _File(said.get("SCHEMA_FULL_NAME"), said.get("PROTOBUF_NULLABLE_REPRESENTATION", "").upper())
    data = made.file([(column.name, column.type) for column in columns]).SerializeToString(deterministic=True)
    return SubjectSchema(base64.b64encode(data).decode(), "PROTOBUF")


class _File:
    def __init__(self, full_name: str | None, nullable: str) -> None:
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

        self._package, _, self._root = (full_name or "").rpartition(".")
        self._nullable = nullable
        self._messages = 0
        self._types: Any = FieldDescriptorProto
        self._file: Any = FileDescriptorProto(name="default.proto", syntax="proto3", package=self._package)

    def file(self, fields: Sequence[tuple[str, SqlType]]) -> Any:
        self._message(self._file.message_type.add(), fields, self._package)
        return self._file

    def _message(self, message: Any, fields: Sequence[tuple[str, SqlType]], around: str) -> str:
        """Gives the full name, with a dot in front."""
        self._messages += 1
        message.name = self._root if self._messages == 1 and self._root else f"ConnectDefault{self._messages}"
        full_name = f"{around}.{message.name}" if around else str(message.name)
        json_names = Counter(_json_name(name) for name, _ in fields)
        for number, (name, kind) in enumerate(fields, 1):
            field = self._field(message, name, kind, number, full_name)
            if json_names[_json_name(name)] > 1:
                field.json_name = name
        return f".{full_name}"

    def _field(self, message: Any, name: str, kind: SqlType, number: int, around: str) -> Any:
        if not _NAME.fullmatch(name):
            raise SqlError(
                f"{name!r} cannot be the name of a field in the format PROTOBUF",
                hint="Names in Protobuf have ASCII letters, digits and underscores, and no digit in front.",
            )
        field = message.field.add(name=name, number=number, label=self._types.LABEL_OPTIONAL)
        match kind:
            case Array(element=element):
                field.label = self._types.LABEL_REPEATED
                self._element(message, field, element, around, kind)
            case Map(value=of):
                field.label = self._types.LABEL_REPEATED
                self._map(message, field, of, around, kind)
            case _ if kind in _SCALARS and self._nullable == "WRAPPER":
                self._of_message(
                    field, f"google.protobuf.{_SCALARS[kind][1]}", "google/protobuf/wrappers.proto"
                )
            case _:
                self._type(message, field, kind, around)
                if kind in _SCALARS and self._nullable == "OPTIONAL":
                    field.proto3_optional = True
                    field.oneof_index = len(message.oneof_decl)
                    message.oneof_decl.add(name=f"_{name}")
        return field

    def _element(self, message: Any, field: Any, kind: SqlType, around: str, whole: SqlType) -> None:
        if isinstance(kind, Array | Map):
            raise SqlError(
                f"the format PROTOBUF does not hold the {whole} of {field.name}",
                hint="Neither elements of arrays nor values of maps can be arrays or maps. Use JSON or AVRO.",
            )
        self._type(message, field, kind, around)

    def _map(self, message: Any, field: Any, of: SqlType, around: str, whole: SqlType) -> None:
        self._messages += 1
        entry = message.nested_type.add(name=f"ConnectDefault{self._messages}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=self._types.LABEL_OPTIONAL, type=self._types.TYPE_STRING)
        value = entry.field.add(name="value", number=2, label=self._types.LABEL_OPTIONAL)
        self._element(message, value, of, around, whole)
        self._of_message(field, f"{around}.{entry.name}", None)

    def _type(self, message: Any, field: Any, kind: SqlType, around: str) -> None:
        match kind:
            case Struct(fields=fields):
                nested = message.nested_type.add()
                field.type = self._types.TYPE_MESSAGE
                field.type_name = self._message(nested, fields, around)
            case DecimalType(precision=precision, scale=scale):
                self._of_message(field, "confluent.type.Decimal", DECIMAL_PATH)
                self._import(META_PATH)
                params = field.options.Extensions[meta_extension()].params
                params["precision"], params["scale"] = str(precision), str(scale)
            case _ if kind in _MESSAGES:
                self._of_message(field, *_MESSAGES[kind])
            case _:
                field.type = getattr(self._types, _SCALARS[kind][0])

    def _of_message(self, field: Any, name: str, path: str | None) -> None:
        field.type = self._types.TYPE_MESSAGE
        field.type_name = f".{name}"
        if path is not None:
            self._import(path)

    def _import(self, path: str) -> None:
        if path not in self._file.dependency:
            self._file.dependency.append(path)


def _json_name(name: str) -> str:
    """Without underscores, and the letter after each in upper case: two fields must differ in it."""
    return re.sub("_+(.?)", lambda found: found[1].upper(), name)
