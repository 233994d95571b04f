"""Schemas, as in Kafka Connect.

Values without a schema are plain: None, bool, int, float, str, bytes, list, dict, and what logical types use. With a
schema a STRUCT is a `Struct`, an ARRAY a list, a MAP a dict. Logical types are named schemas over a plain type:

    Decimal      BYTES  `decimal.Decimal`; parameter `scale`
    Date         INT32  `datetime.date`
    Time         INT32  `datetime.time`, in milliseconds
    Timestamp    INT64  `datetime.datetime` in UTC, in milliseconds
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
DATE: Final = "org.apache.kafka.connect.data.Date"
TIME: Final = "org.apache.kafka.connect.data.Time"
TIMESTAMP: Final = "org.apache.kafka.connect.data.Timestamp"
SCALE: Final = "scale"


class SchemaType(StrEnum):
    """The values are those of the JSON converter's schemas."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    schema: "Schema"


@dataclass(frozen=True, slots=True)
class Schema:
    type: SchemaType
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    default: Any = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    """Of a STRUCT."""
    key_schema: "Schema | None" = None
    """Of a MAP."""
    value_schema: "Schema | None" = None
    """Of a MAP or an ARRAY: of its values."""
    index: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Where each field is, by its name."""

    def __post_init__(self) -> None:
        self.index.update((one.name, place) for place, one in enumerate(self.fields))

    def __hash__(self) -> int:
        return hash((self.type, self.optional, self.name, self.version, tuple(self.index)))

    def field(self, name: str) -> Field | None:
        place = self.index.get(name)
        return None if place is None else self.fields[place]

    def __str__(self) -> str:
        """`int32`, `array<string>`, `struct Order`, with a question mark where null is allowed."""
        inner = [str(one) for one in (self.key_schema, self.value_schema) if one is not None]
        text = f"{self.type}<{', '.join(inner)}>" if inner else str(self.type)
        return f"{text}{f' {self.name}' if self.name else ''}{'?' if self.optional else ''}"


INT8: Final = Schema(SchemaType.INT8)
INT16: Final = Schema(SchemaType.INT16)
INT32: Final = Schema(SchemaType.INT32)
INT64: Final = Schema(SchemaType.INT64)
FLOAT32: Final = Schema(SchemaType.FLOAT32)
FLOAT64: Final = Schema(SchemaType.FLOAT64)
BOOLEAN: Final = Schema(SchemaType.BOOLEAN)
STRING: Final = Schema(SchemaType.STRING)
BYTES: Final = Schema(SchemaType.BYTES)


def decimal(scale: int, *, optional: bool = False) -> Schema:
    return Schema(SchemaType.BYTES, optional, DECIMAL, 1, parameters={SCALE: str(scale)})


def date(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT32, optional, DATE, 1)


def time(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT32, optional, TIME, 1)


def timestamp(*, optional: bool = False) -> Schema:
    return Schema(SchemaType.INT64, optional, TIMESTAMP, 1)


def array(of: Schema, *, optional: bool = False) -> Schema:
    return Schema(SchemaType.ARRAY, optional, value_schema=of)


def mapping(keys: Schema, values: Schema, *, optional: bool = False) -> Schema:
    return Schema(SchemaType.MAP, optional, key_schema=keys, value_schema=values)


def struct(
    fields: Mapping[str, Schema],
    *,
    name: str | None = None,
    version: int | None = None,
    optional: bool = False,
) -> Schema:
    made = tuple(Field(label, schema) for label, schema in fields.items())
    return Schema(SchemaType.STRUCT, optional, name, version, fields=made)
