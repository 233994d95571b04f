"""The formats by name, and the serde of a row in each."""

from collections.abc import Callable, Sequence
from typing import Final

from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.avro.rows import avro_reader, avro_schema, avro_writer
from moldau.pipeline.sql.formats.delimited_format import DelimitedRowSerde, delimiter_of
from moldau.pipeline.sql.formats.json_format import JsonRowSerde
from moldau.pipeline.sql.formats.json_schema import json_schema, json_sr_reader, json_sr_writer
from moldau.pipeline.sql.formats.kafka_format import KafkaRowSerde
from moldau.pipeline.sql.formats.none_format import NoneRowSerde
from moldau.pipeline.sql.formats.protobuf.rows import ProtobufRowSerde, protobuf_reader, protobuf_writer
from moldau.pipeline.sql.formats.protobuf.schemas import protobuf_schema
from moldau.pipeline.sql.formats.schema_serde import SchemaLanguage, SchemaRowSerde
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.types import Column

Make = Callable[[Format, Sequence[Column], Sequence[str] | None], Serde]

AVRO: Final = SchemaLanguage("AVRO", avro_schema, avro_writer, avro_reader)
JSON_SR: Final = SchemaLanguage(
    "JSON_SR", json_schema, json_sr_writer, json_sr_reader, needs_schema_to_read=False
)
PROTOBUF: Final = SchemaLanguage(
    "PROTOBUF", protobuf_schema, protobuf_writer, protobuf_reader, can_unwrap=False
)
FORMATS: Final[dict[str, Make]] = {
    "AVRO": lambda form, columns, wanted: SchemaRowSerde(AVRO, form, columns, wanted),
    "DELIMITED": lambda form, columns, wanted: DelimitedRowSerde(columns, delimiter_of(form)),
    "JSON": lambda form, columns, wanted: JsonRowSerde(columns, is_wrapped=form.is_wrapped, wanted=wanted),
    "JSON_SR": lambda form, columns, wanted: SchemaRowSerde(JSON_SR, form, columns, wanted),
    "KAFKA": lambda form, columns, wanted: KafkaRowSerde(columns),
    "NONE": lambda form, columns, wanted: NoneRowSerde(columns),
    "PROTOBUF": lambda form, columns, wanted: SchemaRowSerde(PROTOBUF, form, columns, wanted),
    "PROTOBUF_NOSR": lambda form, columns, wanted: ProtobufRowSerde(form, columns, wanted),
}


def row_serde(
    form: Format, columns: Sequence[Column], *, is_key: bool, wanted: Sequence[str] | None = None
) -> Serde:
    """A serde of tuples of the columns. SqlError where the format cannot hold them.

    `wanted` are the names of the columns that somebody reads. A decoder may leave the others None.
    """
    make = FORMATS.get(form.name)
    if make is None:
        hint = did_you_mean(form.name, FORMATS) or f"There are {', '.join(FORMATS)}."
        raise SqlError(f"unknown format {form.name}", hint=hint)
    return make(form, columns, wanted)


def serde_again(form: Format, columns: Sequence[Column], wanted: Sequence[str] | None) -> Serde:
    """What a pickled serde becomes."""
    return row_serde(form, columns, is_key=False, wanted=wanted)
