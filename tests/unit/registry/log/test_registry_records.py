"""The records of the topic are byte for byte those Confluent's registry writes, and all of its are read."""

import base64

import pytest

from moldau.registry.entities import Reference, SchemaText, StoredSchema
from moldau.registry.log.records import (
    AssociationFact,
    ClearSubjectFact,
    ConfigFact,
    ContextFact,
    DeleteSubjectFact,
    Fact,
    ForeignFact,
    IdsFact,
    ModeFact,
    PrimaryFact,
    SchemaFact,
    decode,
    encode,
)
from registry_kit import Ledger, record, request


def stored(schema: SchemaText, *, deleted: bool = False) -> StoredSchema:
    return StoredSchema("s", 2, 7, schema, schema.digest(), deleted)


@pytest.mark.parametrize(
    ("fact", "key", "value"),
    [
        (
            SchemaFact("s", 2, stored(SchemaText('"int"'))),
            '{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}',
            '{"subject":"s","version":2,"id":7,"schema":"\\"int\\"","deleted":false}',
        ),
        (
            SchemaFact(
                "s",
                2,
                stored(
                    SchemaText(
                        "x",
                        "PROTOBUF",
                        (Reference("a.proto", "a", 1),),
                        {"tags": {"p": ["PII"]}, "properties": {"owner": "me"}},
                        {
                            "domainRules": [
                                {"name": "r", "kind": "TRANSFORM", "mode": "WRITE", "disabled": False}
                            ]
                        },
                    ),
                    deleted=True,
                ),
            ),
            '{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}',
            '{"subject":"s","version":2,"id":7,"schemaType":"PROTOBUF",'
            '"references":[{"name":"a.proto","subject":"a","version":1}],'
            '"metadata":{"tags":{"p":["PII"]},"properties":{"owner":"me"}},'
            '"ruleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM","mode":"WRITE","disabled":false}]},"schema":"x","deleted":true}',
        ),
        (SchemaFact("s", 2, None), '{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}', None),
        (
            ConfigFact("s", {"compatibilityLevel": "FULL", "normalize": True, "alias": "t"}),
            '{"keytype":"CONFIG","subject":"s","magic":0}',
            '{"subject":"s","alias":"t","normalize":true,"compatibilityLevel":"FULL"}',
        ),
        (
            ConfigFact(None, {"compatibilityLevel": "NONE"}),
            '{"keytype":"CONFIG","magic":0}',
            '{"compatibilityLevel":"NONE"}',
        ),
        (
            ModeFact("s", "READONLY"),
            '{"keytype":"MODE","subject":"s","magic":0}',
            '{"subject":"s","mode":"READONLY"}',
        ),
        (
            DeleteSubjectFact("s", 3),
            '{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
            '{"subject":"s","version":3}',
        ),
        (
            ClearSubjectFact("s"),
            '{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}',
            '{"subject":"s"}',
        ),
        (
            ContextFact(".staging"),
            '{"keytype":"CONTEXT","tenant":"default","context":".staging","magic":0}',
            '{"tenant":"default","context":".staging"}',
        ),
        (
            AssociationFact.of(
                {
                    "guid": "g",
                    "resourceName": "t",
                    "resourceNamespace": "c",
                    "resourceId": "i",
                    "resourceType": "topic",
                    "associationType": "value",
                    "subject": "s",
                    "lifecycle": "WEAK",
                    "frozen": False,
                }
            ),
            '{"keytype":"ASSOC","tenant":"default","resourceName":"t","resourceNamespace":"c",'
            '"resourceType":"topic","associationType":"value","subject":"s","magic":0}',
            '{"guid":"g","tenant":"default","resourceName":"t","resourceNamespace":"c","resourceId":"i",'
            '"resourceType":"topic","associationType":"value","subject":"s","lifecycle":"WEAK","frozen":false}',
        ),
        (
            PrimaryFact("schema-registry", "http://a:1"),
            '{"keytype":"NOOP","magic":0,"primaryOf":"schema-registry"}',
            '{"url":"http://a:1"}',
        ),
        (IdsFact(".", 9), '{"keytype":"NOOP","magic":0,"idsOf":"."}', '{"maxId":9}'),
    ],
)
def test_records_are_confluents_bytes(fact: Fact, key: str, value: str | None) -> None:
    written = encode(fact)
    assert written == (key.encode(), None if value is None else value.encode())
    assert encode(decode(*written)) == written


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b'{"keytype":"NOOP","magic":0}', None),
        (b'{"keytype":"ASSOC","tenant":"default","magic":0}', b"{}"),
        (b'{"keytype":"ASSOC","resourceName":"t","magic":0}', None),
        (b'{"keytype":"WHAT_COMES_NEXT","magic":0}', b'{"x":1}'),
        (b"not json", b"{}"),
        (b"[]", None),
        (None, b"{}"),
        (b'{"keytype":"SCHEMA","subject":"s","magic":1}', b"{}"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', b'{"subject":"s"}'),
        (b'{"keytype":"MODE","magic":0}', b'"READONLY"'),
    ],
)
def test_what_is_not_understood_is_foreign_and_changes_nothing(
    key: bytes | None, value: bytes | None
) -> None:
    assert isinstance(decode(key, value), ForeignFact)
    ledger = Ledger([(key or b"", value)])
    assert ledger.state.subjects() == []


def test_a_topic_confluents_registry_has_written_is_taken_over() -> None:
    """Old and new forms: keys with a null subject, no type for Avro or one, fields from later versions."""
    ledger = Ledger(
        [
            (b'{"keytype":"NOOP","magic":0}', None),
            (b'{"keytype":"CONFIG","subject":null,"magic":0}', b'{"compatibilityLevel":"FULL"}'),
            (b'{"subject":"a","version":1,"magic":1,"keytype":"SCHEMA"}', _value("a", 1, 1, '"int"')),
            (
                b'{"keytype":"SCHEMA","subject":"a","version":2,"magic":1}',
                _value("a", 2, 4, '"long"', schemaType="AVRO", guid="unheard of"),
            ),
            (b'{"keytype":"SCHEMA","subject":"b","version":1,"magic":1}', _value("b", 1, 9, '"float"')),
            (b'{"keytype":"SCHEMA","subject":"b","version":1,"magic":1}', None),
            (
                b'{"keytype":"SCHEMA","subject":":.x:c","version":1,"magic":1}',
                _value(":.x:c", 1, 1, '"bytes"'),
            ),
            (b'{"keytype":"CONTEXT","tenant":"default","context":".x","magic":0}', b'{"context":".x"}'),
            (b'{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}', b'{"subject":"a","version":1}'),
        ]
    )
    assert ledger.scope.level("a") == "FULL"
    assert [
        (found.version, found.id, found.deleted) for found in ledger.state.versions("a", deleted=True)
    ] == [
        (1, 1, True),
        (2, 4, False),
    ]
    assert ledger.state.contexts() == [".", ".x"]
    assert ledger.register("d", '"string"').id == 10


def test_the_hash_kept_beside_encrypted_metadata_is_the_schemas() -> None:
    digest = bytes(range(16))
    value = _value("s", 1, 1, '"int"', md5=base64.b64encode(digest).decode())
    fact = decode(b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', value)
    assert isinstance(fact, SchemaFact) and fact.schema is not None
    assert fact.schema.digest == digest
    assert fact.schema.guid == "00010203-0405-0607-0809-0a0b0c0d0e0f"


def test_the_hash_covers_text_references_metadata_and_rules() -> None:
    schema = record("P", "a")
    plain = request(schema).schema
    variants = [
        plain,
        request(schema, references=[{"name": "n", "subject": "s", "version": 1}]).schema,
        request(schema, references=[{"name": "n", "subject": "s", "version": 2}]).schema,
        request(schema, metadata={}).schema,
        request(schema, metadata={"properties": {"a": "b"}}).schema,
        request(schema, ruleSet={"domainRules": [{"name": "r", "mode": "WRITE"}]}).schema,
        request(schema, ruleSet={"domainRules": [{"name": "r", "mode": "READ"}]}).schema,
    ]
    assert len({variant.digest() for variant in variants}) == len(variants)
    one = request(schema, metadata={"properties": {"a": "1", "b": "2"}}).schema
    other = request(schema, metadata={"properties": {"b": "2", "a": "1"}}).schema
    assert one.digest() == other.digest()


def _value(subject: str, version: int, schema_id: int, schema: str, **more: object) -> bytes:
    import orjson

    value = {
        "subject": subject,
        "version": version,
        "id": schema_id,
        **more,
        "schema": schema,
        "deleted": False,
    }
    return orjson.dumps(value)
