"""Avro, JSON Schema and Protobuf converters on a real registry: what they write they read again, and so do Confluent's
clients, and the other way round."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema as RegistrySchema
from confluent_kafka.schema_registry import SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.converters.catalog import make_converter
from moldau.pipeline.connect.converters.converter import Converter
from moldau.pipeline.connect.converters.registry.protobuf.messages import Messages, message_class
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.testing import LocalCluster, LocalRegistry

ALL = ("AvroConverter", "JsonSchemaConverter", "ProtobufConverter")
WORD = replace(schemas.STRING, optional=True)
INNER = schemas.struct({"number": schemas.INT16, "word": WORD}, name="Inner")
TYPES: dict[str, tuple[Schema, Any]] = {
    "int8": (schemas.INT8, -128),
    "int16": (schemas.INT16, 32_767),
    "int32": (schemas.INT32, -(1 << 31)),
    "int64": (schemas.INT64, (1 << 63) - 1),
    "float32": (schemas.FLOAT32, 1.5),
    "float64": (schemas.FLOAT64, 0.1),
    "boolean": (schemas.BOOLEAN, True),
    "string": (schemas.STRING, "Łódź"),
    "bytes": (schemas.BYTES, b"\x00\xff"),
    "decimal": (schemas.decimal(2), Decimal("-1234567890123456789012.50")),
    "date": (schemas.date(), date(1969, 12, 31)),
    "time": (schemas.time(), time(23, 59, 59, 999_000)),
    "timestamp": (schemas.timestamp(), datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)),
    "nested": (INNER, Struct(INNER, [7, "x"])),
    "list": (schemas.array(INNER), [Struct(INNER, [1, "a"]), Struct(INNER, [2, "b"])]),
    "map": (schemas.mapping(schemas.STRING, schemas.INT64), {"a": 1, "b": 2}),
    "pairs": (schemas.mapping(schemas.INT32, schemas.date()), {3: date(2026, 1, 1)}),
    "preset": (replace(schemas.INT64, default=5), 6),
    "nothing": (schemas.timestamp(optional=True), None),
    "something": (schemas.decimal(1, optional=True), Decimal("0.5")),
}
EVERYTHING = schemas.struct({name: one[0] for name, one in TYPES.items()}, name="shop.orders.Everything")
VALUE = Struct(EVERYTHING, [value for _, value in TYPES.values()])


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    with LocalCluster() as cluster, LocalRegistry(cluster.bootstrap_servers) as registry:
        yield registry.url


@pytest.fixture(scope="module")
def subjects(registry: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry}) as client:
        yield client


def made(name: str, registry: str, use: str = "value", **more: str) -> Converter:
    texts = {"schema.registry.url": registry, **{key.replace("_", "."): text for key, text in more.items()}}
    return make_converter(name, use, {f"{use}.converter.{key}": text for key, text in texts.items()})


def plain(value: Any) -> Any:
    match value:
        case Struct():
            return {name: plain(one) for name, one in value.as_dict().items()}
        case list():
            return [plain(one) for one in value]
    return value


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("short", [False, True])
def test_every_type_is_read_as_it_was_written(registry: str, name: str, short: bool) -> None:
    converter = made(name.removesuffix("Converter").lower() if short else name, registry)
    written = converter.from_connect(f"everything-{name}", EVERYTHING, VALUE)
    assert written is not None
    # As a worker that has not seen the schema yet.
    schema, value = made(name, registry).to_connect(f"everything-{name}", written)
    assert plain(value) == plain(VALUE)
    assert schema is not None
    assert [one.schema.type for one in schema.fields] == [one.schema.type for one in EVERYTHING.fields]
    assert [one.schema.name for one in schema.fields if one.name != "nested"] == [
        one.schema.name for one in EVERYTHING.fields if one.name != "nested"
    ]
    if name != "ProtobufConverter":
        assert (schema, value) == (EVERYTHING, VALUE)
    assert converter.from_connect(f"everything-{name}", schema, value) is not None


@pytest.mark.parametrize("name", ["AvroConverter", "JsonSchemaConverter"])
@pytest.mark.parametrize("kind", [*TYPES, "null"])
def test_values_that_are_no_structs(registry: str, name: str, kind: str) -> None:
    schema, value = TYPES.get(kind, (WORD, None))
    converter = made(name, registry, "key")
    written = converter.from_connect(f"one-{kind}-{name}", schema, value)
    assert (written is None) == (value is None)
    found = converter.to_connect(f"one-{kind}-{name}", written)
    assert found == ((schema, value) if value is not None else (None, None))


def test_confluents_clients_read_what_is_written(registry: str, subjects: SchemaRegistryClient) -> None:
    fields = {"word": schemas.STRING, "when": schemas.timestamp(), "sum": schemas.decimal(2)}
    schema = schemas.struct(fields, name="a.Read")
    when = datetime(2026, 1, 2, tzinfo=UTC)
    value = Struct(schema, ["x", when, Decimal("1.50")])
    avro = made("AvroConverter", registry).from_connect("c-avro", schema, value)
    assert AvroDeserializer(subjects)(avro, context("c-avro")) == {
        "word": "x",
        "when": when,
        "sum": Decimal("1.50"),
    }
    numeric = made("JsonSchemaConverter", registry, decimal_format="NUMERIC")
    json = numeric.from_connect("c-json", schema, value)
    ms = int(when.timestamp() * 1000)
    read = JSONDeserializer(None, schema_registry_client=subjects)(json, context("c-json"))
    assert read == {"word": "x", "when": ms, "sum": 1.5}
    protobuf = made("ProtobufConverter", registry).from_connect("c-proto", schema, value)
    assert protobuf is not None
    text = subjects.get_schema(int.from_bytes(protobuf[1:5], "big"), fmt="serialized").schema_str
    assert text is not None
    kind = message_class(Messages(text, {}).named("a.Read"))
    found = ProtobufDeserializer(kind, {"use.deprecated.format": False})(protobuf, context("c-proto"))
    assert found is not None
    assert (found.word, found.when.ToMilliseconds(), found.sum.value) == ("x", ms, b"\x00\x96")


def test_unions_enums_and_references_of_avro(registry: str, subjects: SchemaRegistryClient) -> None:
    colour = '{"type": "enum", "name": "shop.Colour", "symbols": ["RED", "BLUE"]}'
    subjects.register_schema("colour", RegistrySchema(colour, "AVRO"))
    text = """{"type": "record", "name": "shop.Thing", "fields": [
        {"name": "colour", "type": "shop.Colour"},
        {"name": "maybe", "type": ["null", "shop.Colour"]},
        {"name": "either", "type": ["null", "long", "string", {"type": "fixed", "name": "shop.Four", "size": 4}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}}]}"""
    refers = RegistrySchema(text, "AVRO", [SchemaReference("shop.Colour", "colour", 1)])
    write = AvroSerializer(subjects, refers, conf={"auto.register.schemas": True})
    converter = made("AvroConverter", registry, enhanced_avro_schema_support="true")
    for either, field in ((1, "long"), ("x", "string"), (("shop.Four", b"1234"), "Four"), (None, None)):
        given = {"colour": "RED", "maybe": "BLUE", "either": either, "at": 5}
        data = write(given, context("things"))
        schema, value = converter.to_connect("things", data)
        assert schema is not None
        assert (value["colour"], value["maybe"], value["at"]) == ("RED", "BLUE", 5)
        if field is None:
            assert value["either"] is None
        else:
            wanted = either[1] if isinstance(either, tuple) else either
            assert plain(value["either"]) == {"long": None, "string": None, "Four": None} | {field: wanted}
        again = converter.from_connect("again", schema, value)
        assert converter.to_connect("again", again).value == value


def test_one_of_and_enums_of_json_schema(registry: str, subjects: SchemaRegistryClient) -> None:
    word = '{"$id": "word.json", "type": "string"}'
    subjects.register_schema("word", RegistrySchema(word, "JSON"))
    text = """{"type": "object", "title": "Thing", "properties": {
        "either": {"oneOf": [{"type": "null"}, {"type": "integer"}, {"$ref": "word.json"}]},
        "colour": {"enum": ["RED", "BLUE"]}}}"""
    refers = RegistrySchema(text, "JSON", [SchemaReference("word.json", "word", 1)])
    front = b"\0" + subjects.register_schema("one-of-value", refers).to_bytes(4, "big")
    converter = made("JsonSchemaConverter", registry)
    for json, field in ((b"1", 0), (b'"x"', 1), (b"null", None)):
        data = front + b'{"either":' + json + b',"colour":"RED"}'
        schema, value = converter.to_connect("one-of", data)
        assert value["colour"] == "RED"
        found = None if value["either"] is None else value["either"].values
        assert found == (None if field is None else ((1, None), (None, "x"))[field])
        again = converter.from_connect("one-of-again", schema, value)
        assert again is not None
        assert again[5:] == data[5:]


def test_oneofs_enums_and_optional_fields_of_protobuf(registry: str, subjects: SchemaRegistryClient) -> None:
    text = """syntax = "proto3"; package shop;
        message Other { int32 other = 1; }
        message Thing {
          oneof either { int64 number = 1; string word = 2; Other more = 3; }
          Colour colour = 4; optional int32 maybe = 5; uint64 big = 6; repeated string tags = 7;
          enum Colour { RED = 0; BLUE = 3; }
        }"""
    schema_id = subjects.register_schema("oneof-value", RegistrySchema(text, "PROTOBUF"))
    serialized = subjects.get_schema(schema_id, fmt="serialized").schema_str
    assert serialized is not None
    kind = message_class(Messages(serialized, {}).named("shop.Thing"))
    # The second message of its file.
    front = b"\0" + schema_id.to_bytes(4, "big") + bytes([2, 2])
    converter = made("ProtobufConverter", registry, optional_for_nullables="true")
    for given in (kind(number=1, colour=3), kind(word="x", maybe=0, big=7, tags=["a"]), kind()):
        data = front + given.SerializeToString(deterministic=True)
        schema, value = converter.to_connect("oneof", data)
        assert value["colour"] == ("BLUE" if given.colour else "RED")
        assert value["maybe"] == (0 if given.HasField("maybe") else None)
        assert (value["big"], value["tags"]) == (given.big, list(given.tags))
        union = value["either_0"]
        assert (None if union is None else union.values) in (None, (1, None, None), (None, "x", None))
        again = converter.from_connect("oneof-again", schema, value)
        assert again is not None
        assert again[6:] == given.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", ALL)
def test_a_record_in_another_format_is_explained(registry: str, name: str) -> None:
    converter = made(name, registry)
    with pytest.raises(
        DataError, match=r"looks like plain JSON.*with a schema id in front: use the converter"
    ):
        converter.to_connect("t", b'{"a": 1}')
    with pytest.raises(DataError, match="does not have or does not take the schema with the id 99999"):
        converter.to_connect("t", b"\0\0\1\x86\x9fxyz")
    other = "AvroConverter" if name != "AvroConverter" else "JsonSchemaConverter"
    data = made(other, registry).from_connect(f"for-{name}", INNER, Struct(INNER, [1, None]))
    with pytest.raises(DataError, match=rf"is of type .* reads .*: set value.converter={other}"):
        converter.to_connect("t", data)
    own = converter.from_connect(f"cut-{name}", INNER, Struct(INNER, [1, "long enough"]))
    assert own is not None
    with pytest.raises(DataError, match="does not fit the schema with the id"):
        converter.to_connect(f"cut-{name}", own[:-3])
    with pytest.raises(DataError, match="field number"):
        converter.from_connect(f"cut-{name}", INNER, Struct(INNER, ["no number", None]))
    with pytest.raises(DataError, match="writes values with a schema"):
        converter.from_connect(f"cut-{name}", None, {"a": 1})
    assert converter.from_connect(f"cut-{name}", None, None) is None


def test_subjects_and_registration(registry: str, subjects: SchemaRegistryClient) -> None:
    value = Struct(INNER, [1, None])
    for strategy, subject in (
        ("TopicNameStrategy", "s-value"),
        ("RecordNameStrategy", "Inner"),
        ("TopicRecordNameStrategy", "s-Inner"),
    ):
        java = f"io.confluent.kafka.serializers.subject.{strategy}"
        made("AvroConverter", registry, value_subject_name_strategy=java).from_connect("s", INNER, value)
        assert subject in subjects.get_subjects()
    strict = made("AvroConverter", registry, auto_register_schemas="false")
    assert strict.from_connect("s", INNER, value) is not None
    with pytest.raises(DataError, match=r"auto.register.schemas is false: register it first"):
        strict.from_connect("unknown", INNER, value)
    assert "unknown-value" not in subjects.get_subjects()


def test_the_latest_schema_is_written_with(registry: str, subjects: SchemaRegistryClient) -> None:
    text = """{"type": "record", "name": "Wider", "fields": [
        {"name": "word", "type": ["null", "string"]}, {"name": "number", "type": "long"},
        {"name": "more", "type": "string", "default": "preset"}]}"""
    schema_id = subjects.register_schema("latest-value", RegistrySchema(text, "AVRO"))
    converter = made("AvroConverter", registry, auto_register_schemas="false", use_latest_version="true")
    data = converter.from_connect("latest", INNER, Struct(INNER, [1, "x"]))
    assert data is not None
    assert data[1:5] == schema_id.to_bytes(4, "big")
    assert plain(converter.to_connect("latest", data).value) == {"word": "x", "number": 1, "more": "preset"}


def test_an_incompatible_schema_is_refused_with_its_reason(registry: str) -> None:
    converter = made("AvroConverter", registry)
    first = schemas.struct({"a": schemas.STRING}, name="Changing")
    converter.from_connect("changing", first, Struct(first, ["x"]))
    second = schemas.struct({"a": schemas.INT64}, name="Changing")
    with pytest.raises(DataError, match=r"does not take the AVRO schema of the subject changing-value.*409"):
        converter.from_connect("changing", second, Struct(second, [1]))


def test_a_registry_that_does_not_answer_may_answer_later() -> None:
    converter = made("AvroConverter", "http://127.0.0.1:1")
    with pytest.raises(RetriableError, match=r"Is http://127.0.0.1:1 right"):
        converter.to_connect("t", b"\0\0\0\0\1abc")


def test_wrong_settings() -> None:
    with pytest.raises(ConfigError, match=r'missing required configuration "schema.registry.url"'):
        make_converter("AvroConverter", "value", {})
    with pytest.raises(ConfigError, match="there are TopicNameStrategy"):
        made("AvroConverter", "http://r", value_subject_name_strategy="MyStrategy")
    with pytest.raises(ConfigError, match=r"has no effect with auto.register.schemas=true"):
        made("AvroConverter", "http://r", use_latest_version="true")
    with pytest.raises(ConfigError, match="convert the store to PEM"):
        made(
            "JsonSchemaConverter",
            "http://r",
            schema_registry_ssl_truststore_location="x.jks",
            schema_registry_ssl_truststore_type="JKS",
        )
    with pytest.raises(ConfigError, match="it is a converter for key and values only"):
        make_converter("ProtobufConverter", "header", {})


def test_names_and_types_that_a_format_does_not_have(registry: str) -> None:
    odd = schemas.struct({"a-b": schemas.STRING})
    for name in ("AvroConverter", "ProtobufConverter"):
        with pytest.raises(DataError, match="'a-b' has a name that"):
            made(name, registry).from_connect("odd", odd, Struct(odd, ["x"]))
    data = made("AvroConverter", registry, scrub_invalid_names="true").from_connect(
        "odd", odd, Struct(odd, ["x"])
    )
    assert plain(made("AvroConverter", registry).to_connect("odd", data).value) == {"a_b": "x"}
    with pytest.raises(DataError, match="put the value into a struct with HoistField"):
        made("ProtobufConverter", registry).from_connect("odd", schemas.STRING, "x")


def test_descriptors_are_base64() -> None:
    with pytest.raises(DataError, match="no serialized Protobuf descriptor"):
        Messages(base64.b64encode(b"\xff\xff").decode(), {})
