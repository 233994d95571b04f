"""Rows of SQL and the serializers of confluent-kafka read what the other wrote, through a real registry."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from compat.registry.messages import protobuf_class
from e2e.dataframe.shop_message import Order
from moldau.pipeline.serdes.serde import ServiceAway
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.formats.infer import generated_schema, inferred_columns
from moldau.pipeline.sql.formats.protobuf.messages import message_class, messages_of
from moldau.pipeline.sql.formats.registry import SchemaFinder, subject_of
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
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.testing import LocalCluster

COLUMNS = (
    Column("ID", BIGINT),
    Column("QTY", INTEGER),
    Column("OK", BOOLEAN),
    Column("WEIGHT", DOUBLE),
    Column("NAME", STRING),
    Column("RAW", BYTES),
    Column("PRICE", DecimalType(10, 2)),
    Column("DAY", DATE),
    Column("AT", TIME),
    Column("MADE", TIMESTAMP),
    Column("TAGS", Array(STRING)),
    Column("STOCK", Map(STRING, INTEGER)),
    Column("MAKER", Struct([("CITY", STRING), ("SINCE", DATE)])),
)
ROW = (
    *(1, 2, True, 0.5, "nail", b"\x00\xff", Decimal("-12.30"), 19_000, 3_723_004, 1_700_000_000_123),
    *(["a", "b"], {"x": 1, "y": -2}, {"CITY": "Praha", "SINCE": 12}),
)
FORMATS = ["AVRO", "JSON_SR", "PROTOBUF"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalCluster(registry=True) as cluster:
        yield cluster.registry_url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url}) as client:
        yield client


_numbers = itertools.count(1)


@pytest.fixture
def topic() -> str:
    return f"topic-{next(_numbers)}"


def form(name: str, url: str, **said: str) -> Format:
    return Format(name, (("SCHEMA_REGISTRY_URL", url), *said.items()))


def read(of: Format, columns: tuple[Column, ...], topic: str, data: bytes | None) -> Any:
    return row_serde(of, columns, is_key=False).decoder(topic, is_key=False)(data)


def written(of: Format, columns: tuple[Column, ...], topic: str, row: Any) -> bytes:
    data = row_serde(of, columns, is_key=False).encoder(topic, is_key=False)(row)
    assert data is not None
    return data


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


@pytest.mark.parametrize("name", FORMATS)
def test_all_types_and_their_inference(name: str, url: str, topic: str) -> None:
    of = form(name, url)
    data = written(of, COLUMNS, topic, ROW)
    assert read(of, COLUMNS, topic, data) == ROW
    schema = SchemaFinder(url).latest(subject_of(topic, is_key=False))
    assert schema is not None
    assert inferred_columns(of, schema, is_key=False) == COLUMNS
    own = generated_schema(of, COLUMNS, is_key=False)
    assert own is not None
    assert SchemaFinder(url).registered(schema.subject, own) == schema.id


def test_avro_of_the_client(client: SchemaRegistryClient, url: str, topic: str) -> None:
    fields = [
        {"name": "id", "type": "int"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["SMALL", "LARGE"]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "made", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "stock", "type": {"type": "map", "values": "long"}},
        {"name": "odd", "type": ["null", "string", "int"], "default": None},
    ]
    schema = json.dumps({"type": "record", "name": "shop.Item", "fields": fields})
    made = datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    item = {"id": 7, "kind": "LARGE", "price": Decimal("1.25"), "made": made, "stock": {"a": 1}, "odd": 3}
    data = AvroSerializer(client, schema)(item, context(topic))
    found = SchemaFinder(url).latest(subject_of(topic, is_key=False))
    assert found is not None
    columns = inferred_columns(form("AVRO", url), found, is_key=False)
    shown = "ID INTEGER, KIND STRING, PRICE DECIMAL(6, 2), MADE TIMESTAMP, STOCK MAP<STRING, BIGINT>"
    assert ", ".join(map(str, columns)) == shown
    odd = (*columns, Column("ODD", STRING))
    expected = (7, "LARGE", Decimal("1.25"), 1_700_000_000_123, {"a": 1}, "3")
    assert read(form("AVRO", url), odd, topic, data) == expected
    back = written(form("AVRO", url), columns, topic, expected[:-1])
    assert AvroDeserializer(client)(back, context(topic)) == {**item, "odd": None}


def test_avro_for_the_client(client: SchemaRegistryClient, url: str, topic: str) -> None:
    data = written(form("AVRO", url), COLUMNS, topic, ROW)
    found = AvroDeserializer(client)(data, context(topic))
    assert (found["ID"], found["PRICE"]) == (1, Decimal("-12.30"))
    assert (found["DAY"], found["MADE"].microsecond) == (date(2022, 1, 8), 123_000)
    assert found["STOCK"] == [{"key": "x", "value": 1}, {"key": "y", "value": -2}]


def test_json_schema_both_ways(client: SchemaRegistryClient, url: str, topic: str) -> None:
    properties = {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}, "size": {"type": "number"}}
    schema = json.dumps({"title": "Item", "type": "object", "properties": properties, "required": ["id"]})
    data = JSONSerializer(schema, client)({"id": 7, "name": "nail", "size": 1}, context(topic))
    columns = (Column("ID", BIGINT), Column("NAME", STRING), Column("SIZE", DOUBLE))
    found = SchemaFinder(url).latest(subject_of(topic, is_key=False))
    assert found is not None
    assert inferred_columns(form("JSON_SR", url), found, is_key=False) == columns
    assert read(form("JSON_SR", url), columns, topic, data) == (7, "nail", 1.0)
    back = written(form("JSON_SR", url), columns, topic, (8, None, 2.5))
    assert JSONDeserializer(schema)(back, context(topic)) == {"id": 8, "name": None, "size": 2.5}
    own = written(form("JSON_SR", url), COLUMNS, topic + "-own", ROW)
    assert (
        JSONDeserializer(None, schema_registry_client=client)(own, context(topic + "-own"))["NAME"] == "nail"
    )


@pytest.mark.parametrize("name", [None, "dataframe_shop.Order"])
def test_protobuf_of_the_client(client: SchemaRegistryClient, url: str, topic: str, name: str | None) -> None:
    """With a message of another file in it, and with one that is not the first of its file."""
    message: Any
    if name is None:
        message = protobuf_class("Purchase", buyer="Buyer")(item="nail", amount=2.5, buyer={"id": "ann"})
        expected: tuple[Any, ...] = ("nail", 2.5, {"ID": "ann"})
    else:
        message = Order(id=1, state="PAID", tags=["a"], stock={"x": 1})
        expected = (1, None, "PAID", ["a"], {"x": 1})
    settings = {"use.deprecated.format": False}
    data = ProtobufSerializer(type(message), client, settings)(message, context(topic))
    found = SchemaFinder(url).latest(subject_of(topic, is_key=False))
    assert found is not None
    of = form("PROTOBUF", url, **({} if name is None else {"SCHEMA_FULL_NAME": name}))
    columns = inferred_columns(of, found, is_key=False)[: len(expected)]
    assert read(of, columns, topic, data) == expected
    back = written(of, columns, topic, expected)
    assert ProtobufDeserializer(type(message), settings, client)(back, context(topic)) == message


def test_protobuf_for_the_client(client: SchemaRegistryClient, url: str, topic: str) -> None:
    of = form("PROTOBUF", url, PROTOBUF_NULLABLE_REPRESENTATION="OPTIONAL")
    data = written(of, COLUMNS, topic, (None, *ROW[1:]))
    found = SchemaFinder(url).latest(subject_of(topic, is_key=False))
    assert found is not None
    message = message_class(messages_of(found).named(None))
    settings = {"use.deprecated.format": False}
    value = ProtobufDeserializer(message, settings, client)(data, context(topic))
    assert not value.HasField("ID") and value.NAME == "nail" and value.MAKER.SINCE.day == 13
    again = ProtobufSerializer(
        message, client, {**settings, "auto.register.schemas": False, "use.latest.version": True}
    )
    assert read(of, COLUMNS, topic, again(value, context(topic))) == (None, *ROW[1:])


def test_references_are_followed(client: SchemaRegistryClient, url: str, topic: str) -> None:
    item = {"type": "record", "name": "shop.Item", "fields": [{"name": "sku", "type": "string"}]}
    subject = f"{topic}-item"
    client.register_schema(subject, Schema(json.dumps(item)))
    order = {"type": "record", "name": "shop.Order", "fields": [{"name": "item", "type": "shop.Item"}]}
    references = [SchemaReference("shop.Item", subject, 1)]
    number = client.register_schema(
        subject_of(topic, is_key=False), Schema(json.dumps(order), "AVRO", references)
    )
    schema = SchemaFinder(url).by_id(number)
    assert schema is not None
    columns = inferred_columns(form("AVRO", url), schema, is_key=False)
    assert columns == (Column("ITEM", Struct([("SKU", STRING)])),)
    data = written(form("AVRO", url), columns, topic, ({"SKU": "x"},))
    assert read(form("AVRO", url), columns, topic, data) == ({"SKU": "x"},)
    assert SchemaFinder(url).registered(f"{topic}-copy", schema) == number


def test_a_schema_that_the_registry_rejects(url: str, topic: str) -> None:
    of = form("AVRO", url)
    written(of, (Column("A", STRING),), topic, ("x",))
    with pytest.raises(SqlError, match=f"rejects the AVRO schema of the subject {topic}-value"):
        written(of, (Column("A", BIGINT),), topic, (1,))


def test_an_unavailable_registry_is_not_the_fault_of_the_record() -> None:
    of = Format("AVRO", (("SCHEMA_REGISTRY_URL", "http://127.0.0.1:9"), ("SCHEMA_REGISTRY_MAX_RETRIES", "0")))
    with pytest.raises(ServiceAway, match="does not answer"):
        read(of, COLUMNS, "t", b"\0\0\0\0\x01x")
