"""Adds fields with what the record itself has (topic, partition, offset, time), or with a constant."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.key import string
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import moment_of
from moldau.pipeline.connect.data.records import Record, SinkRecord
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import fields_of, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
)

STATIC_FIELD: Final = "static.field"
STATIC_VALUE: Final = "static.value"
_OPTIONALITY: Final = "Ends with ! for a required field, or with ? for an optional one, which is the default."
_SETTINGS: Final = (
    ("topic.field", "The field for Kafka's topic."),
    ("partition.field", "The field for Kafka's partition."),
    ("offset.field", "The field for Kafka's offset; of sink connectors only."),
    ("timestamp.field", "The field for the record's time."),
    (STATIC_FIELD, "The field for a constant."),
)

ValueOf = Callable[[Record], Any]


class _Inserted(NamedTuple):
    name: str
    schema: Schema
    value_of: ValueOf
    in_object: ValueOf
    """Without a schema a time is a number."""


class InsertField(StructTransformation):
    doc = "Adds fields with the topic, partition, offset or time of the record, or with a constant."
    declarations = (
        *(Declaration(string(name, None, f"{doc} {_OPTIONALITY}")) for name, doc in _SETTINGS),
        Declaration(string(STATIC_VALUE, None, f"The constant for {STATIC_FIELD}.")),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        said = self.settings
        constant = said[STATIC_VALUE]
        if said[STATIC_FIELD] is not None and constant is None:
            raise ConfigError(
                f"Invalid value null for configuration {STATIC_VALUE}: No value specified for static field: "
                f"{said[STATIC_FIELD]}"
            )
        found = (
            self._inserted("topic.field", schemas.STRING, lambda record: record.topic),
            self._inserted("partition.field", schemas.INT32, lambda record: record.partition),
            self._inserted("offset.field", schemas.INT64, self._offset),
            self._inserted("timestamp.field", schemas.timestamp(), _time, lambda record: record.timestamp_ms),
            self._inserted(STATIC_FIELD, schemas.STRING, lambda record: constant),
        )
        self._fields = [one for one in found if one is not None]
        if not self._fields:
            raise ConfigError(
                f"{self.of}: No field insertion configured: set one of {', '.join(name for name, _ in _SETTINGS)}"
            )

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        made = dict(value)
        for one in self._fields:
            inserted = one.in_object(record)
            if inserted is not None:
                made[one.name] = inserted
        return made

    def plan(self, schema: Schema) -> Schema:
        new = [Field(one.name, one.schema) for one in self._fields]
        return with_fields(schema, [*fields_of(schema, self.of), *new], self.of)

    def of_struct(self, record: Record, plan: Schema, struct: Struct) -> tuple[Schema, Struct]:
        inserted = [one.value_of(record) for one in self._fields]
        return plan, struct_of(plan, (*self.values(struct), *inserted))

    def _inserted(
        self, setting: str, schema: Schema, value_of: ValueOf, in_object: ValueOf | None = None
    ) -> _Inserted | None:
        text = self.settings[setting]
        if text is None:
            return None
        is_optional = not text.endswith("!")
        name = text[:-1] if text.endswith(("!", "?")) else text
        made = Schema(SchemaType(schema.type), is_optional, schema.name, schema.version)
        return _Inserted(name, made, value_of, in_object or value_of)

    def _offset(self, record: Record) -> int:
        if isinstance(record, SinkRecord):
            return record.offset
        raise DataError(
            f"{self.of} cannot insert the offset: a record of a source has none before it is in Kafka; leave out "
            "offset.field"
        )


def _time(record: Record) -> Any:
    return None if record.timestamp_ms is None else moment_of(record.timestamp_ms)
