"""Confluent's serializers for Python: three formats, every way to name subjects, sync and async, over a topic."""

import contextlib
import json
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AvroDeserializer,
    AvroSerializer,
)
from confluent_kafka.schema_registry.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)
from confluent_kafka.schema_registry.protobuf import (
    AsyncProtobufDeserializer,
    AsyncProtobufSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from compat.registry.conftest import Platform
from compat.registry.messages import PURCHASE, avro_schema, json_schema, protobuf_class

Config = dict[str, Any]
FORMATS = ("avro", "json", "protobuf")
STRATEGIES = {
    "topic": (topic_subject_name_strategy, "{topic}-value"),
    "record": (record_subject_name_strategy, "{record}"),
    "topic-record": (topic_record_subject_name_strategy, "{topic}-{record}"),
}


class Serdes:
    """Both directions of one format for records called `name`."""

    def __init__(self, kind: str, registry: SchemaRegistryClient, name: str, config: Config) -> None:
        self.record = f"shop.{name}" if kind == "protobuf" else name
        self._kind, self._name = kind, name
        self._message = protobuf_class(name)
        both = {key: config[key] for key in config if key.startswith("subject.")}
        if kind == "avro":
            self._to = AvroSerializer(registry, avro_schema(name), conf=config)
            self._from = AvroDeserializer(registry, conf=both)
        elif kind == "json":
            self._to = JSONSerializer(json_schema(name), registry, conf=config)
            self._from = JSONDeserializer(json_schema(name), schema_registry_client=registry, conf=both)
        else:
            self._to = ProtobufSerializer(self._message, registry, conf=config)
            self._from = ProtobufDeserializer(self._message, both, registry)

    def write(self, context: SerializationContext) -> bytes:
        value = self._message(**PURCHASE) if self._kind == "protobuf" else dict(PURCHASE)
        return self._to(value, context)  # type: ignore[no-any-return]

    def read(self, content: bytes, context: SerializationContext) -> Config:
        found = self._from(content, context)
        if self._kind == "protobuf":
            return {"item": found.item, "amount": found.amount}
        return dict(found)


def context_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def carried(bootstrap: str, topic: str, content: bytes) -> bytes:
    """The value, over a topic and back."""
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, content)
    assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        message = consumer.poll(60)
        assert message is not None and message.error() is None
        value = message.value()
        assert isinstance(value, bytes)
        return value
    finally:
        consumer.close()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", FORMATS)
def test_records_come_back_whatever_subjects_are_called(
    kind: str, strategy: str, platform: Platform, registry: SchemaRegistryClient, name: str
) -> None:
    function, pattern = STRATEGIES[strategy]
    serdes = Serdes(kind, registry, name, {"subject.name.strategy": function})
    topic = f"orders-{name}"
    content = carried(platform.bootstrap, topic, serdes.write(context_of(topic)))
    assert content[0] == 0, "Confluent's frame: a zero, then four bytes of id"
    assert serdes.read(content, context_of(topic)) == PURCHASE
    subject = pattern.format(topic=topic, record=serdes.record)
    latest = registry.get_latest_version(subject)
    assert latest.schema_id == int.from_bytes(content[1:5], "big")


def test_a_topic_uses_the_subject_it_is_associated_with(registry: SchemaRegistryClient, name: str) -> None:
    registry.register_schema(f"{name}-shared", Schema(avro_schema(name), "AVRO"))
    wanted = AssociationCreateOrUpdateInfo(
        subject=f"{name}-shared", association_type="value", lifecycle="WEAK"
    )
    registry.create_association(
        AssociationCreateOrUpdateRequest(name, "cluster", f"{name}-id", "topic", [wanted])
    )
    config = {
        "subject.name.strategy.type": "ASSOCIATED",
        "subject.name.strategy.conf": {"kafka.cluster.id": "cluster"},
    }
    AvroSerializer(registry, avro_schema(name), conf=config)(PURCHASE, context_of(name))
    assert f"{name}-value" not in registry.get_subjects()
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.delete_subject(f"{name}-shared")
    assert (refusal.value.http_status_code, refusal.value.error_code) == (409, 40904)
    registry.delete_associations(f"{name}-id", "topic", ["value"])
    assert registry.get_associations_by_resource_name(name, "-") == []
    assert registry.delete_subject(f"{name}-shared") == [1]


@pytest.mark.parametrize("kind", FORMATS)
def test_without_auto_register_only_known_schemas_are_written(
    kind: str, registry: SchemaRegistryClient, name: str
) -> None:
    strict = Serdes(kind, registry, name, {"auto.register.schemas": False})
    with pytest.raises(SchemaRegistryError) as refusal:
        strict.write(context_of(name))
    assert refusal.value.http_status_code == 404
    Serdes(kind, registry, name, {}).write(context_of(name))
    content = Serdes(kind, registry, name, {"auto.register.schemas": False}).write(context_of(name))
    assert strict.read(content, context_of(name)) == PURCHASE


@pytest.mark.parametrize("kind", FORMATS)
def test_the_latest_version_is_used_when_asked_for(
    kind: str, platform: Platform, registry: SchemaRegistryClient, name: str
) -> None:
    newer = {
        "avro": Schema(avro_schema(name, {"name": "note", "type": "string", "default": "-"}), "AVRO"),
        "json": Schema(json_schema(name, note={"type": "string"}), "JSON"),
        "protobuf": Schema(
            f'syntax = "proto3"; package shop; message {name} '
            "{ string item = 1; double amount = 2; string note = 3; }",
            "PROTOBUF",
        ),
    }[kind]
    Serdes(kind, registry, name, {}).write(context_of(name))
    # A new client: one that has registered a schema never asks for it in another format.
    with contextlib.closing(SchemaRegistryClient({"url": platform.url})) as other:
        other.set_compatibility(f"{name}-value", "NONE")
        schema_id = other.register_schema(f"{name}-value", newer)
    latest = Serdes(kind, registry, name, {"auto.register.schemas": False, "use.latest.version": True})
    content = latest.write(context_of(name))
    assert int.from_bytes(content[1:5], "big") == schema_id
    assert latest.read(content, context_of(name)) | PURCHASE == latest.read(content, context_of(name))


@pytest.mark.parametrize("kind", FORMATS)
def test_normalised_schemas_are_registered_once(kind: str, registry: SchemaRegistryClient, name: str) -> None:
    config = {"normalize.schemas": True}
    contents = {Serdes(kind, registry, name, config).write(context_of(name))[:5] for _ in range(2)}
    assert len(contents) == 1
    assert registry.get_versions(f"{name}-value") == [1]


def test_avro_refers_to_a_named_type_of_another_subject(registry: SchemaRegistryClient, name: str) -> None:
    buyer = json.dumps(
        {"type": "record", "name": f"{name}Buyer", "fields": [{"name": "id", "type": "string"}]}
    )
    registry.register_schema(f"{name}-buyer", Schema(buyer, "AVRO"))
    schema = Schema(
        avro_schema(name, {"name": "buyer", "type": f"{name}Buyer"}),
        "AVRO",
        [SchemaReference(f"{name}Buyer", f"{name}-buyer", 1)],
    )
    value = {**PURCHASE, "buyer": {"id": "alice"}}
    content = AvroSerializer(registry, schema)(value, context_of(name))
    assert AvroDeserializer(registry)(content, context_of(name)) == value
    assert registry.get_referenced_by(f"{name}-buyer", 1) == [int.from_bytes(content[1:5], "big")]


def test_json_schema_refers_to_another_subject(registry: SchemaRegistryClient, name: str) -> None:
    buyer = json.dumps({"type": "object", "properties": {"id": {"type": "string"}}})
    registry.register_schema(f"{name}-buyer", Schema(buyer, "JSON"))
    schema = Schema(
        json_schema(name, buyer={"$ref": "buyer.json"}),
        "JSON",
        [SchemaReference("buyer.json", f"{name}-buyer", 1)],
    )
    value = {**PURCHASE, "buyer": {"id": "alice"}}
    content = JSONSerializer(schema, registry)(value, context_of(name))
    assert JSONDeserializer(schema, schema_registry_client=registry)(content, context_of(name)) == value
    with pytest.raises(Exception, match="is not of type 'string'"):
        JSONSerializer(schema, registry)({**value, "buyer": {"id": 1}}, context_of(name))


def test_protobuf_registers_the_files_it_imports(registry: SchemaRegistryClient, name: str) -> None:
    message = protobuf_class(name, buyer=f"{name}Buyer")
    value = message(**PURCHASE, buyer={"id": "alice"})
    content = ProtobufSerializer(message, registry)(value, context_of(name))
    assert ProtobufDeserializer(message, {}, registry)(content, context_of(name)) == value
    latest = registry.get_latest_version(f"{name}-value")
    assert [(item.name, item.subject) for item in latest.schema.references or ()] == [
        (f"{name}Buyer.proto", f"{name}Buyer.proto")
    ]


@pytest.mark.parametrize("kind", FORMATS)
async def test_the_asynchronous_ones(kind: str, platform: Platform, name: str) -> None:
    async with AsyncSchemaRegistryClient({"url": platform.url}) as client:
        value: Any = PURCHASE
        if kind == "avro":
            to, back = AsyncAvroSerializer(client, avro_schema(name)), AsyncAvroDeserializer(client)
        elif kind == "json":
            to = AsyncJSONSerializer(json_schema(name), client)
            back = AsyncJSONDeserializer(json_schema(name), schema_registry_client=client)
        else:
            message = protobuf_class(name)
            to, back = (
                AsyncProtobufSerializer(message, client),
                AsyncProtobufDeserializer(message, {}, client),
            )
            value = message(**PURCHASE)
        content = await (await to)(value, context_of(name))
        assert await (await back)(content, context_of(name)) == value


def test_a_change_that_breaks_consumers_is_refused(registry: SchemaRegistryClient, name: str) -> None:
    """A producer changes a string to a timestamp: the mistake a registry is meant to prevent."""
    AvroSerializer(registry, avro_schema(name))(PURCHASE, context_of(name))
    changed = json.loads(avro_schema(name))
    changed["fields"][0]["type"] = {"type": "long", "logicalType": "timestamp-millis"}
    with pytest.raises(SchemaRegistryError) as refusal:
        AvroSerializer(registry, json.dumps(changed))({"item": 1, "amount": 1.0}, context_of(name))
    assert refusal.value.http_status_code == 409
    assert "version 1" in str(refusal.value) and "item" in str(refusal.value)
