"""Converts JSON Schemas to Spark types and back."""

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
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from moldau.core.errors import ConfigError

_PLAIN: Final[dict[str, DataType]] = {
    "integer": LongType(),
    "number": DoubleType(),
    "boolean": BooleanType(),
}
_TEXTS: Final[dict[object, DataType]] = {"date-time": TimestampType(), "date": DateType()}


def spark_type_of_json_schema(text: str) -> DataType:
    """A schema without a single type (`anyOf`, any JSON) becomes a string."""
    try:
        root = orjson.loads(text)
    except ValueError as failure:
        raise ConfigError(f"the JSON Schema is not valid JSON: {failure}") from None
    return _kind(root, root, 0)


def _kind(schema: Any, root: Any, depth: int) -> DataType:
    if depth > 32:
        raise ConfigError(
            "the JSON Schema contains itself, which is not possible for a column: read the value as binary"
        )
    if not isinstance(schema, dict):
        return StringType()
    if "$ref" in schema:
        return _kind(_referred(schema["$ref"], root), root, depth + 1)
    names = schema.get("type")
    if isinstance(names, list):
        rest = [name for name in names if name != "null"]
        names = rest[0] if len(rest) == 1 else None
    choices = [one for one in schema.get("oneOf") or schema.get("anyOf") or [] if one != {"type": "null"}]
    if names is None and len(choices) == 1:
        return _kind(choices[0], root, depth + 1)
    if names == "object" or (names is None and "properties" in schema):
        return _object(schema, root, depth)
    if names == "array":
        return ArrayType(_kind(schema.get("items"), root, depth + 1))
    if names == "string":
        return (
            BinaryType()
            if schema.get("contentEncoding") == "base64"
            else _TEXTS.get(schema.get("format"), StringType())
        )
    return _PLAIN.get(str(names), StringType())


def _object(schema: dict[str, Any], root: Any, depth: int) -> DataType:
    properties = schema.get("properties")
    if properties:
        return StructType(
            [StructField(name, _kind(one, root, depth + 1)) for name, one in properties.items()]
        )
    values = schema.get("additionalProperties")
    return MapType(StringType(), _kind(values, root, depth + 1)) if isinstance(values, dict) else StringType()


def _referred(pointer: str, root: Any) -> Any:
    if not pointer.startswith("#"):
        raise ConfigError(
            f"the JSON Schema refers to {pointer}, outside itself: give the whole schema as value.schema"
        )
    for step in pointer.removeprefix("#").strip("/").split("/"):
        if step:
            root = root.get(step, {})
    return root


def json_schema_of(kind: DataType) -> str:
    """The schema with which rows of this type are written."""
    title = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Row"}
    return orjson.dumps({**title, **_json(kind)}).decode()


_WHOLE: Final = (ByteType, ShortType, IntegerType, LongType)
_REAL: Final = (FloatType, DoubleType, DecimalType)


def _json(kind: DataType) -> dict[str, Any]:
    if isinstance(kind, StructType):
        properties = {field.name: _nullable(_json(field.dataType), field.nullable) for field in kind.fields}
        required = [field.name for field in kind.fields if not field.nullable]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}
    if isinstance(kind, ArrayType):
        return {"type": "array", "items": _nullable(_json(kind.elementType), kind.containsNull)}
    if isinstance(kind, MapType) and isinstance(kind.keyType, StringType):
        return {
            "type": "object",
            "additionalProperties": _nullable(_json(kind.valueType), kind.valueContainsNull),
        }
    if isinstance(kind, _WHOLE):
        return {"type": "integer"}
    if isinstance(kind, _REAL):
        return {"type": "number"}
    if isinstance(kind, BooleanType):
        return {"type": "boolean"}
    if isinstance(kind, TimestampType | TimestampNTZType):
        return {"type": "string", "format": "date-time"}
    if isinstance(kind, DateType):
        return {"type": "string", "format": "date"}
    if isinstance(kind, BinaryType):
        return {"type": "string", "contentEncoding": "base64"}
    if isinstance(kind, StringType):
        return {"type": "string"}
    raise ConfigError(f"a column of type {kind.simpleString()} cannot be written as JSON: cast it")


def _nullable(schema: dict[str, Any], nullable: bool) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, schema]} if nullable else schema
