"""Confluent's registry client for Python: every method at least once."""

import json

import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    ServerConfig,
)

from compat.registry.conftest import Platform
from compat.registry.messages import avro_schema

NOTE = {"name": "note", "type": "string", "default": ""}
NOTE_REQUIRED = {"name": "note", "type": "string"}


def avro(name: str, *more: dict[str, str]) -> Schema:
    return Schema(avro_schema(name, *more), "AVRO")


def test_schemas_and_versions(registry: SchemaRegistryClient, name: str) -> None:
    schema_id = registry.register_schema(name, avro(name))
    full = registry.register_schema_full_response(name, avro(name, NOTE))
    assert (full.version, full.schema_id) == (2, schema_id + 1)
    assert registry.get_versions(name) == [1, 2]
    assert registry.get_version(name, 1).schema_id == schema_id
    assert registry.get_latest_version(name).version == 2
    assert registry.lookup_schema(name, avro(name)).version == 1
    assert name in registry.get_subjects()
    assert registry.get_subjects_by_schema_id(schema_id) == [name]
    assert [(found.subject, found.version) for found in registry.get_schema_versions(schema_id)] == [
        (name, 1)
    ]
    assert set(registry.get_schema_types()) == {"AVRO", "JSON", "PROTOBUF"}
    assert full.guid is not None
    registry.clear_caches()
    by_guid = registry.get_schema_by_guid(full.guid)
    assert json.loads(by_guid.schema_str or "")["name"] == name


def test_metadata_finds_a_version(registry: SchemaRegistryClient, name: str) -> None:
    owned = Metadata(None, MetadataProperties({"owner": "me"}), None)
    registry.register_schema(name, Schema(avro_schema(name), "AVRO", [], owned))
    assert registry.get_latest_with_metadata(name, {"owner": "me"}).version == 1
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.get_latest_with_metadata(name, {"owner": "you"})
    assert refusal.value.error_code == 40403


def test_compatibility(registry: SchemaRegistryClient, name: str) -> None:
    registry.register_schema(name, avro(name))
    assert registry.test_compatibility(name, avro(name, NOTE))
    assert not registry.test_compatibility(name, avro(name, NOTE_REQUIRED))
    assert not registry.test_compatibility_all_versions(name, avro(name, NOTE_REQUIRED), verbose=True)
    assert registry.get_compatibility() == "BACKWARD"
    registry.set_compatibility(name, "NONE")
    assert registry.get_compatibility(name) == "NONE"
    config = ServerConfig(compatibility=ConfigCompatibilityLevel.FULL, compatibility_group="major")
    registry.set_config(name, config)
    found = registry.get_config(name)
    assert found.compatibility_level == ConfigCompatibilityLevel.FULL
    assert found.compatibility_group == "major"
    registry.delete_config(name)
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.get_config(name)
    assert refusal.value.error_code == 40408


def test_modes(registry: SchemaRegistryClient, name: str) -> None:
    assert registry.get_global_mode() == "READWRITE"
    assert registry.update_global_mode("READWRITE") == "READWRITE"
    assert registry.update_mode(name, "READONLY") == "READONLY"
    assert registry.get_mode(name) == "READONLY"
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.register_schema(name, avro(name))
    assert refusal.value.error_code == 42205
    assert registry.delete_mode(name) == "READONLY"


def test_references_and_deleting(registry: SchemaRegistryClient, name: str) -> None:
    registry.register_schema(f"{name}-item", avro(f"{name}Item"))
    order = json.dumps({"type": "record", "name": name, "fields": [{"name": "item", "type": f"{name}Item"}]})
    reference = SchemaReference(f"{name}Item", f"{name}-item", 1)
    schema_id = registry.register_schema(name, Schema(order, "AVRO", [reference]))
    assert registry.get_referenced_by(f"{name}-item", 1) == [schema_id]
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.delete_version(f"{name}-item", 1)
    assert refusal.value.error_code == 42206
    assert registry.delete_version(name, 1) == 1
    assert registry.delete_subject(f"{name}-item") == [1]
    # The client itself makes a soft delete first.
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.delete_subject(f"{name}-item", permanent=True)
    assert refusal.value.error_code in (40404, 42206)


def test_a_context_is_a_registry_of_its_own(
    platform: Platform, registry: SchemaRegistryClient, name: str
) -> None:
    inner = SchemaRegistryClient({"url": f"{platform.url}/contexts/{name}"})
    try:
        assert inner.register_schema("orders-value", avro(name)) == 1
        assert inner.get_subjects() == [f":.{name}:orders-value"]
        assert inner.get_latest_version("orders-value").schema_id == 1
    finally:
        inner.close()
    assert f".{name}" in registry.get_contexts()


def test_a_reference_to_the_latest_version(registry: SchemaRegistryClient, name: str) -> None:
    item = f"{name}-item"
    registry.register_schema(item, avro(f"{name}Item"))
    text = json.dumps({"type": "record", "name": name, "fields": [{"name": "item", "type": f"{name}Item"}]})
    latest = Schema(text, "AVRO", [SchemaReference(f"{name}Item", item, -1)])
    schema_id = registry.register_schema(name, latest)
    (stored,) = registry.get_latest_version(name).schema.references or []
    assert (stored.subject, stored.version) == (item, 1)
    registry.clear_caches()
    for version in (1, -1):
        sent = Schema(text, "AVRO", [SchemaReference(f"{name}Item", item, version)])
        assert registry.lookup_schema(name, sent).schema_id == schema_id
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.delete_subject(item)
    assert refusal.value.error_code == 42206


def test_an_incompatible_schema_shows_the_old_one(registry: SchemaRegistryClient, name: str) -> None:
    registry.register_schema(name, avro(name))
    with pytest.raises(SchemaRegistryError) as refusal:
        registry.register_schema(name, avro(name, NOTE_REQUIRED))
    assert refusal.value.http_status_code == 409
    for part in ("oldSchemaVersion: 1", "oldSchema: '", "validateFields: 'false', compatibility: 'BACKWARD'"):
        assert part in refusal.value.error_message


def test_properties_in_another_order_are_the_same_schema(registry: SchemaRegistryClient, name: str) -> None:
    def schema(**properties: str) -> Schema:
        text = {"type": "record", "name": name, **properties, "fields": [{"name": "a", "type": "string"}]}
        return Schema(json.dumps(text), "AVRO")

    schema_id = registry.register_schema(name, schema(owner="me", team="core"))
    assert registry.register_schema(name, schema(team="core", owner="me")) == schema_id
    assert registry.lookup_schema(name, schema(team="core", owner="me")).version == 1
