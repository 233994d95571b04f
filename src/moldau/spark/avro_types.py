"""Converts Avro schemas to Spark types and back, with the same mapping as Spark's Avro support."""

from typing import Any, Final

import orjson
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from moldau.core.errors import ConfigError

_PLAIN: Final[dict[str, DataType]] = {
    "string": StringType(),
    "enum": StringType(),
    "bytes": BinaryType(),
    "fixed": BinaryType(),
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "null": NullType(),
}
_LOGICAL: Final[dict[str, DataType]] = {
    "date": DateType(),
    "timestamp-millis": TimestampType(),
    "timestamp-micros": TimestampType(),
    "local-timestamp-millis": TimestampNTZType(),
    "local-timestamp-micros": TimestampNTZType(),
    "uuid": StringType(),
}


def spark_type_of_avro(text: str) -> DataType:
    try:
        schema = orjson.loads(text) if text.lstrip()[:1] in ("{", "[", '"') else text
    except ValueError as failure:
        raise ConfigError(f"the Avro schema is not valid JSON: {failure}") from None
    return _Reading().kind(schema)[0]


class _Reading:
    """Remembers named types, because a schema refers to them by name."""

    def __init__(self) -> None:
        self._named: dict[str, DataType] = {}
        self._open: set[str] = set()

    def kind(self, schema: Any) -> tuple[DataType, bool]:
        """The type, and whether it may be null."""
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            return self._by_name(schema), schema == "null"
        logical = _LOGICAL.get(schema.get("logicalType", ""))
        if logical is not None:
            return logical, False
        if schema.get("logicalType") == "decimal":
            return DecimalType(schema["precision"], schema.get("scale", 0)), False
        name = schema["type"]
        if name == "array":
            element, nullable = self.kind(schema["items"])
            return ArrayType(element, nullable), False
        if name == "map":
            value, nullable = self.kind(schema["values"])
            return MapType(StringType(), value, nullable), False
        if name == "record":
            return self._record(schema), False
        if name in ("enum", "fixed"):
            self._named[schema["name"]] = _PLAIN[name]
        return self.kind(name) if isinstance(name, dict | list) else (self._by_name(name), False)

    def _record(self, schema: dict[str, Any]) -> StructType:
        name = schema["name"].rpartition(".")[2]
        self._open.add(name)
        fields = []
        for field in schema["fields"]:
            kind, nullable = self.kind(field["type"])
            fields.append(StructField(field["name"], kind, nullable))
        self._open.discard(name)
        struct = StructType(fields)
        self._named[name] = struct
        return struct

    def _by_name(self, name: str) -> DataType:
        short = name.rpartition(".")[2]
        if short in self._open:
            raise ConfigError(
                f"the Avro record {name} contains itself, which is not possible for a column: read it as binary"
            )
        found = _PLAIN.get(name) or self._named.get(short)
        if found is None:
            raise ConfigError(f"the Avro schema names the type {name}, which it does not define")
        return found

    def _union(self, branches: list[Any]) -> tuple[DataType, bool]:
        rest = [branch for branch in branches if branch != "null"]
        if len(rest) != 1:
            raise ConfigError(
                "the Avro schema has a union of several types, which no column can have: read the value as binary"
            )
        return self.kind(rest[0])[0], len(rest) < len(branches)


def avro_of(kind: DataType) -> str:
    """The schema with which rows of this type are written."""
    return orjson.dumps(_avro(kind, "Row")).decode()


_NAMES: Final[dict[type[DataType], Any]] = {
    StringType: "string",
    BinaryType: "bytes",
    BooleanType: "boolean",
    ByteType: "int",
    ShortType: "int",
    IntegerType: "int",
    LongType: "long",
    FloatType: "float",
    DoubleType: "double",
    DateType: {"type": "int", "logicalType": "date"},
    TimestampType: {"type": "long", "logicalType": "timestamp-micros"},
    TimestampNTZType: {"type": "long", "logicalType": "local-timestamp-micros"},
}


def _avro(kind: DataType, name: str) -> Any:
    if isinstance(kind, StructType):
        fields = []
        for field in kind.fields:
            inner = _nullable(_avro(field.dataType, f"{name}_{field.name}"), field.nullable)
            default = {"default": None} if field.nullable else {}
            fields.append({"name": field.name, "type": inner, **default})
        return {"type": "record", "name": name, "fields": fields}
    if isinstance(kind, ArrayType):
        return {
            "type": "array",
            "items": _nullable(_avro(kind.elementType, f"{name}_item"), kind.containsNull),
        }
    if isinstance(kind, MapType) and isinstance(kind.keyType, StringType):
        return {
            "type": "map",
            "values": _nullable(_avro(kind.valueType, f"{name}_value"), kind.valueContainsNull),
        }
    if isinstance(kind, DecimalType):
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    found = _NAMES.get(type(kind))
    if found is None:
        raise ConfigError(f"a column of type {kind.simpleString()} cannot be written as Avro: cast it")
    return found


def _nullable(schema: Any, nullable: bool) -> Any:
    return ["null", schema] if nullable else schema
