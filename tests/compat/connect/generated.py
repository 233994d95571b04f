"""Schemas, values and records by a seed."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from random import Random
from typing import Any

from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import Header, Record, SinkRecord, SourceRecord
from moldau.pipeline.connect.data.schema import (
    DATE,
    DECIMAL,
    SCALE,
    TIME,
    TIMESTAMP,
    Schema,
    SchemaType,
)
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES
from moldau.pipeline.java_texts.numbers import rounded_float

NAMES = ("a", "b", "c", "d.e", "f")
TEXTS = (
    "",
    "x",
    "12",
    "-7",
    "300",
    "3.5",
    "true",
    "TRUE",
    "2020-01-31",
    "1e3",
    "ä€",
    "NaN",
    " 12",
    "9999999999",
    "{}",
)
FLOATS = (0.0, -1.5, 2.5, 1e10, -3e38, 1e-5, 123456.789, 5e9)
PLAIN = (
    schemas.INT8,
    schemas.INT16,
    schemas.INT32,
    schemas.INT64,
    schemas.FLOAT32,
    schemas.FLOAT64,
    schemas.BOOLEAN,
    schemas.STRING,
    schemas.STRING,
    schemas.INT64,
    schemas.BYTES,
    schemas.date(),
    schemas.time(),
    schemas.timestamp(),
    schemas.decimal(2),
)


class Generated:
    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def schema(self, depth: int = 2) -> Schema:
        kind = self.random.randrange(10)
        if depth and kind == 0:
            made = schemas.array(self.schema(depth - 1))
        elif depth and kind == 1:
            made = schemas.mapping(
                schemas.STRING if self.chance(2) else schemas.INT32, self.schema(depth - 1)
            )
        elif depth and kind in (2, 3):
            made = self.struct_schema(depth - 1)
        else:
            made = self.random.choice(PLAIN)
        return self._varied(made)

    def struct_schema(self, depth: int = 2) -> Schema:
        names = self.random.sample(NAMES, self.random.randint(1, len(NAMES)))
        return schemas.struct(
            {name: self.schema(depth) for name in names}, name=self.random.choice((None, "Order"))
        )

    def _varied(self, schema: Schema) -> Schema:
        """Optional, with a default, with a text about it."""
        if self.chance(3):
            schema = replace(schema, optional=True)
        if self.chance(5):
            schema = replace(schema, doc="about it", parameters={**schema.parameters, "unit": "EUR"})
        if self.chance(4) and schema.type not in (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT):
            schema = replace(schema, default=self.value(replace(schema, optional=False)))
        return schema

    def value(self, schema: Schema) -> Any:
        if (schema.optional and self.chance(4)) or (
            schema.default is not None and schema.optional and self.chance(2)
        ):
            return None
        logical = self._logical(schema)
        if logical is not None:
            return logical
        random = self.random
        match schema.type:
            case kind if kind in RANGES:
                low, high = RANGES[kind]
                return random.choice(
                    (0, 1, -1, low, high, random.randint(low, high), min(high, 1_700_000_000_000))
                )
            case SchemaType.FLOAT32:
                return rounded_float(random.choice(FLOATS))
            case SchemaType.FLOAT64:
                return random.choice(FLOATS)
            case SchemaType.BOOLEAN:
                return random.random() < 0.5
            case SchemaType.STRING:
                return random.choice(TEXTS)
            case SchemaType.BYTES:
                return random.randbytes(random.randrange(4))
            case SchemaType.ARRAY:
                return [self.value(schema.value_schema or schema) for _ in range(random.randrange(3))]
            case SchemaType.MAP:
                keys = replace(schema.key_schema or schema, optional=False)
                return {
                    self.value(keys): self.value(schema.value_schema or schema)
                    for _ in range(random.randrange(3))
                }
        return Struct(schema, [self.value(one.schema) for one in schema.fields])

    def _logical(self, schema: Schema) -> Any:
        random = self.random
        match schema.name:
            case name if name == DATE:
                return date(random.randint(1971, 2100), random.randint(1, 12), random.randint(1, 28))
            case name if name == TIME:
                return time(
                    random.randrange(24),
                    random.randrange(60),
                    random.randrange(60),
                    random.randrange(1000) * 1000,
                )
            case name if name == TIMESTAMP:
                at = datetime(
                    random.randint(1971, 2100), random.randint(1, 12), random.randint(1, 28), tzinfo=UTC
                )
                return at.replace(hour=random.randrange(24), microsecond=random.randrange(1000) * 1000)
            case name if name == DECIMAL:
                return Decimal(random.randint(-(10**6), 10**6)).scaleb(-int(schema.parameters[SCALE]))
        return None

    def plain(self, depth: int = 2) -> Any:
        """A value without a schema."""
        random = self.random
        match random.randrange(12):
            case 0 if depth:
                return [self.plain(depth - 1) for _ in range(random.randrange(3))]
            case 1 | 2 if depth:
                return self.plain_dict(depth - 1)
            case 3:
                return None
            case 4:
                return random.random() < 0.5
            case 5 | 6:
                return random.choice((0, 7, -200, 70_000, 1_700_000_000_000, 2**63 - 1))
            case 7:
                return random.choice(FLOATS)
            case 8:
                return random.randbytes(3)
        return random.choice(TEXTS)

    def plain_dict(self, depth: int = 2) -> dict[str, Any]:
        names = self.random.sample(NAMES, self.random.randint(0, len(NAMES)))
        return {name: self.plain(depth) for name in names}

    def part(self) -> tuple[Schema | None, Any]:
        """A schema or none, and a value: most are structs or objects."""
        match self.random.randrange(12):
            case 0:
                return None, None
            case 1:
                return None, self.plain()
            case 2:
                schema = self.schema()
                return schema, self.value(schema)
            case 3:
                return replace(self.struct_schema(), optional=True), None
            case 4 | 5 | 6:
                return None, self.plain_dict()
        schema = self.struct_schema()
        if self.chance(4):
            schema = replace(schema, optional=True)
        return schema, self.value(replace(schema, optional=False)) if self.chance(2) else self.value(schema)

    def record(self, schema: Schema | None = None) -> Record:
        random = self.random
        key_schema, key = self.part()
        value_schema, value = self.part() if schema is None else (schema, self.value(schema))
        if isinstance(value, Struct):
            value = Struct(value_schema or value.schema, value.values)
        if isinstance(key, Struct):
            key = Struct(key_schema or key.schema, key.values)
        headers = []
        for _ in range(random.randrange(3)):
            inner = self.schema(0)
            headers.append(Header(random.choice(("h", "i", "j")), self.value(inner), inner))
        topic = random.choice(("orders", "orders-eu", "shop.orders", "t"))
        timestamp_ms = None if self.chance(6) else random.randrange(10**12, 2 * 10**12)
        partition = None if self.chance(6) else random.randrange(5)
        given = (topic, key, value, key_schema, value_schema)
        if self.chance(3):
            return SourceRecord(*given, partition, timestamp_ms, tuple(headers))
        return SinkRecord(*given, partition or 0, timestamp_ms, tuple(headers), offset=random.randrange(1000))
