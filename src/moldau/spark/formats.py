"""The formats of keys and values: their column types in Spark, and their codecs.

A format is sent to the tasks with its schema. The codecs are created there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql.types import (
    BinaryType,
    DataType,
    StringType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.serdes import JSON, STRING, Serde
from moldau.pipeline.serdes.registry import AvroSerde, JsonSchemaSerde
from moldau.pipeline.spark.row_values import PLAIN, from_row, to_row
from moldau.spark.avro_types import avro_of, spark_type_of_avro
from moldau.spark.json_types import json_schema_of, spark_type_of_json_schema
from moldau.spark.options import ColumnOptions, Settings
from moldau.spark.protobuf_types import ProtobufColumn

Decode = Callable[[bytes | None], Any]
Encode = Callable[[Any], bytes | None]

OF_REGISTRY: Final = ("avro", "json_schema", "protobuf")
NAMES: Final = ("binary", *PLAIN, "json", *OF_REGISTRY)


@dataclass(frozen=True)
class Format:
    """`serde` None: bytes as they are."""

    name: str
    column_type: DataType
    serde: Serde | None = None
    ddl: str = ""
    """The column's type as DDL, if only Spark can parse it."""

    def decoder(self, topic: str, *, is_key: bool) -> Decode | None:
        if self.serde is None:
            return None
        decode = self.serde.decoder(topic, is_key=is_key)
        if self.name in PLAIN or isinstance(self.serde, ProtobufColumn):
            return decode
        shape = to_row(self.column_type)
        return lambda data: None if data is None else shape(decode(data))

    def encoder(self, topic: str, *, is_key: bool) -> Encode | None:
        if self.serde is None:
            return None
        encode = self.serde.encoder(topic, is_key=is_key)
        if self.name in PLAIN:
            return encode
        plain = from_row(self.column_type, as_json=self.name in ("json", "json_schema"))
        return lambda value: None if value is None else encode(plain(value))


def format_of(wanted: ColumnOptions, registry: Settings, topics: tuple[str, ...], *, is_key: bool) -> Format:
    """For reading. The column's type must be known before the first record."""
    side = "key" if is_key else "value"
    name = _checked_name(wanted, side, registry)
    if name == "binary":
        return Format(name, BinaryType())
    if name in PLAIN:
        return Format(name, *PLAIN[name])
    if name == "json":
        if not wanted.schema:
            raise ConfigError(
                f"{side}.format json needs the columns: .option('{side}.schema', 'id LONG, name STRING')"
            )
        # Only Spark can parse it: the reader gets the result as its schema.
        return Format(name, StringType(), JSON, ddl=f"STRUCT<{wanted.schema}>")
    if name == "protobuf":
        column = _protobuf(wanted, registry, side)
        return Format(name, column.column_type, column)
    schema = wanted.schema or _newest_schema(registry, topics, side)
    if name == "avro":
        return Format(
            name, spark_type_of_avro(schema), AvroSerde(registry["url"], schema, **_client(registry))
        )
    # Each record is checked against the schema that it was written with.
    return Format(
        name, spark_type_of_json_schema(schema), JsonSchemaSerde(registry["url"], schema, **_client(registry))
    )


def format_for(wanted: ColumnOptions, registry: Settings, column: DataType, *, is_key: bool) -> Format:
    """For writing: from a column's type to a schema, unless the user gives one."""
    side = "key" if is_key else "value"
    name = _checked_name(wanted, side, registry)
    if name == "binary":
        if isinstance(column, StringType):
            return Format("string", column, STRING)
        if isinstance(column, BinaryType):
            return Format(name, column)
        raise ConfigError(
            f"the column {side} is {column.simpleString()}: cast it to STRING or BINARY, or set {side}.format"
        )
    if name in PLAIN:
        if column != PLAIN[name][0]:
            raise ConfigError(
                f"the column {side} is {column.simpleString()}, but {side}.format is {name}: "
                f"cast it to {PLAIN[name][0].simpleString()}"
            )
        return Format(name, column, PLAIN[name][1])
    if name == "json":
        return Format(name, column, JSON)
    if name == "protobuf":
        return Format(name, column, _protobuf(wanted, registry, side))
    if name == "avro":
        return Format(
            name, column, AvroSerde(registry["url"], wanted.schema or avro_of(column), **_client(registry))
        )
    schema = wanted.schema or json_schema_of(column)
    return Format(name, column, JsonSchemaSerde(registry["url"], schema, **_client(registry)))


def _checked_name(wanted: ColumnOptions, side: str, registry: Settings) -> str:
    name = (wanted.format or "binary").lower().replace("-", "_")
    if name not in NAMES:
        raise ConfigError(f"{side}.format is {wanted.format!r}, but must be one of {', '.join(NAMES)}")
    if name in OF_REGISTRY and "url" not in registry:
        raise ConfigError(f"{side}.format {name} needs .option('schema.registry.url', 'http://host:8081')")
    return name


def _client(registry: Settings) -> dict[str, str]:
    return {name: value for name, value in registry.items() if name != "url"}


def _newest_schema(registry: Settings, topics: tuple[str, ...], side: str) -> str:
    """The newest version under the topics' subjects, which must agree: a DataFrame has one schema."""
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.error import SchemaRegistryError

    if not topics:
        raise ConfigError(f"with subscribePattern, give the schema to read all topics with: {side}.schema")
    client = SchemaRegistryClient.new_client(dict(registry))
    found: dict[str, str] = {}
    for topic in topics:
        subject = f"{topic}-{side}"
        try:
            found[topic] = client.get_latest_version(subject).schema.schema_str or ""
        except SchemaRegistryError as refused:
            raise ConfigError(
                f"the registry at {registry['url']} has no schema for {subject} ({refused.error_message}): "
                f"register one, or set {side}.schema"
            ) from None
    if len(set(found.values())) > 1:
        raise ConfigError(
            f"the topics {', '.join(topics)} have different schemas: give the one to read them all with: {side}.schema"
        )
    return next(iter(found.values()))


def _protobuf(wanted: ColumnOptions, registry: Settings, side: str) -> ProtobufColumn:
    if ":" not in wanted.message:
        raise ConfigError(
            f"{side}.format protobuf needs its generated class: .option('{side}.message', 'shop.order_pb2:Order')"
        )
    return ProtobufColumn(wanted.message, registry["url"], _client(registry))
