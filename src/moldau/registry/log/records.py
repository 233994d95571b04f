"""The records of the `_schemas` topic, as Confluent's registry writes and reads them: JSON keys, JSON values.

A record without a value removes what its key stands for. Two kinds are Moldau's own and use the key of a NOOP, which
Confluent's registry reads and ignores: which instance may write to the topic, and the highest id a context has
assigned. Compaction drops the ids of schemas that were deleted permanently, and an id must never stand for two
schemas.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Final

import orjson

from moldau.registry.entities import (
    AVRO,
    Json,
    Reference,
    SchemaText,
    StoredSchema,
    metadata_from_json,
    references_from_json,
    rule_set_from_json,
)
from moldau.registry.failures import RegistryFailure
from moldau.registry.subjects import DEFAULT_CONTEXT

CONFIG_FIELDS: Final = (
    "alias",
    "aliasForDeks",
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    "compatibilityLevel",
    "compatibilityPolicy",
    "compatibilityGroup",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
)


ASSOCIATION_KEY: Final = ("resourceName", "resourceNamespace", "resourceType", "associationType", "subject")
ASSOCIATION_FIELDS: Final = (
    "guid",
    "tenant",
    "resourceName",
    "resourceNamespace",
    "resourceId",
    "resourceType",
    "associationType",
    "subject",
    "lifecycle",
    "frozen",
)


@dataclass(frozen=True, slots=True)
class SchemaFact:
    """A version of a subject; without a schema, the version is permanently deleted."""

    subject: str
    version: int
    schema: StoredSchema | None


@dataclass(frozen=True, slots=True)
class ConfigFact:
    subject: str | None
    config: Json | None


@dataclass(frozen=True, slots=True)
class ModeFact:
    subject: str | None
    mode: str | None


@dataclass(frozen=True, slots=True)
class DeleteSubjectFact:
    """All versions up to this one are soft-deleted. Without a version it has no effect."""

    subject: str
    version: int | None


@dataclass(frozen=True, slots=True)
class ClearSubjectFact:
    """Removes the soft-deleted versions of a subject or of a whole context."""

    subject: str | None
    is_cleared: bool = True


@dataclass(frozen=True, slots=True)
class ContextFact:
    context: str
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class AssociationFact:
    """A resource uses a subject; without fields it no longer does. `key` is what its records have in common."""

    key: tuple[str, ...]
    fields: Json | None

    @classmethod
    def of(cls, fields: Json, *, is_there: bool = True) -> "AssociationFact":
        return cls(tuple(str(fields[name]) for name in ASSOCIATION_KEY), fields if is_there else None)


@dataclass(frozen=True, slots=True)
class PrimaryFact:
    """The instance that writes from here on, and its address."""

    group: str
    url: str | None


@dataclass(frozen=True, slots=True)
class IdsFact:
    """Ids of this context up to this one are never assigned again."""

    context: str
    id_max: int | None


@dataclass(frozen=True, slots=True)
class ForeignFact:
    """A record of an unknown kind. It is left alone."""

    key: bytes


Fact = (
    SchemaFact
    | ConfigFact
    | ModeFact
    | DeleteSubjectFact
    | ClearSubjectFact
    | ContextFact
    | AssociationFact
    | PrimaryFact
    | IdsFact
    | ForeignFact
)


def encode(fact: Fact) -> tuple[bytes, bytes | None]:
    key, value = _as_json(fact)
    return orjson.dumps(key), None if value is None else orjson.dumps(value)


def decode(key: bytes | None, value: bytes | None, timestamp_ms: int | None = None) -> Fact:
    """Never fails: a record that cannot be parsed is foreign."""
    try:
        said = orjson.loads(key or b"")
        told = orjson.loads(value) if value else None
        return _from_json(said, told, timestamp_ms) or ForeignFact(key or b"")
    except (ValueError, KeyError, TypeError, AttributeError, RegistryFailure):
        return ForeignFact(key or b"")


def _as_json(fact: Fact) -> tuple[Json, Json | None]:
    match fact:
        case SchemaFact(subject, version, schema):
            key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
            return key, None if schema is None else _schema_value(schema)
        case ConfigFact(subject, config):
            value = None if config is None else {**_named(subject), **_in_order(config)}
            return {"keytype": "CONFIG", **_named(subject), "magic": 0}, value
        case ModeFact(subject, mode):
            value = None if mode is None else {**_named(subject), "mode": mode}
            return {"keytype": "MODE", **_named(subject), "magic": 0}, value
        case DeleteSubjectFact(subject, version):
            key = {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}
            return key, None if version is None else {"subject": subject, "version": version}
        case ClearSubjectFact(subject, is_cleared):
            key = {"keytype": "CLEAR_SUBJECT", **_named(subject), "magic": 0}
            return key, _named(subject) if is_cleared else None
        case ContextFact(context, is_there):
            named = {"tenant": "default", "context": context}
            return {"keytype": "CONTEXT", **named, "magic": 0}, named if is_there else None
        case AssociationFact(names, fields):
            key = {
                "keytype": "ASSOC",
                "tenant": "default",
                **dict(zip(ASSOCIATION_KEY, names, strict=True)),
                "magic": 0,
            }
            return key, None if fields is None else _association_value(fields)
        case PrimaryFact(group, url):
            return {"keytype": "NOOP", "magic": 0, "primaryOf": group}, None if url is None else {"url": url}
        case IdsFact(context, id_max):
            key = {"keytype": "NOOP", "magic": 0, "idsOf": context}
            return key, None if id_max is None else {"maxId": id_max}
        case ForeignFact():
            raise AssertionError("the registry never writes a foreign record")


def _from_json(key: Json, value: Json | None, timestamp_ms: int | None) -> Fact | None:
    subject = key.get("subject")
    match key["keytype"]:
        case "SCHEMA":
            version = int(key["version"])
            stored = None if value is None else _stored_schema(subject, version, value, timestamp_ms)
            return SchemaFact(str(subject), version, stored)
        case "CONFIG":
            return ConfigFact(subject, None if value is None else _in_order(value))
        case "MODE":
            return ModeFact(subject, None if value is None else str(value["mode"]))
        case "DELETE_SUBJECT":
            return DeleteSubjectFact(str(subject), None if value is None else int(value["version"]))
        case "CLEAR_SUBJECT":
            return ClearSubjectFact(subject, value is not None)
        case "CONTEXT":
            return ContextFact(str(key.get("context") or DEFAULT_CONTEXT), value is not None)
        case "ASSOC":
            names = tuple(str(key[name]) for name in ASSOCIATION_KEY)
            named = dict(zip(ASSOCIATION_KEY, names, strict=True))
            return AssociationFact(names, None if value is None else {**_known_of(value), **named})
        case "NOOP" if "primaryOf" in key:
            return PrimaryFact(key["primaryOf"], None if value is None else str(value["url"]))
        case "NOOP" if "idsOf" in key:
            return IdsFact(key["idsOf"], None if value is None else int(value["maxId"]))
    return None


def _known_of(value: Json) -> Json:
    return {field: told for field, told in value.items() if field != "tenant"}


def _association_value(fields: Json) -> Json:
    told = {"tenant": "default", **fields}
    return {name: told[name] for name in ASSOCIATION_FIELDS if name in told}


def _schema_value(stored: StoredSchema) -> Json:
    """Leaves out empty fields, and the type of an Avro schema."""
    schema = stored.schema
    value: Json = {"subject": stored.subject, "version": stored.version, "id": stored.id}
    if schema.schema_type != AVRO:
        value["schemaType"] = schema.schema_type
    if schema.references:
        value["references"] = [reference.to_json() for reference in schema.references]
    if schema.metadata is not None:
        value["metadata"] = schema.metadata
    if schema.rule_set is not None:
        value["ruleSet"] = schema.rule_set
    return {**value, "schema": schema.text, "deleted": stored.deleted}


def _stored_schema(subject: Any, version: int, value: Json, timestamp_ms: int | None) -> StoredSchema:
    references: tuple[Reference, ...] = references_from_json(value.get("references"))
    schema = SchemaText(
        str(value["schema"]),
        value.get("schemaType") or AVRO,
        references,
        metadata_from_json(value.get("metadata")),
        rule_set_from_json(value.get("ruleSet")),
    )
    return StoredSchema(
        str(subject),
        version,
        int(value["id"]),
        schema,
        _kept_digest(value.get("md5")) or schema.digest(),
        bool(value.get("deleted", False)),
        timestamp_ms,
    )


def _kept_digest(text: object) -> bytes | None:
    """When metadata is stored encrypted, the hash of the plain metadata is stored with it."""
    if not isinstance(text, str):
        return None
    try:
        digest = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return digest if len(digest) == 16 else None


def _named(subject: str | None) -> Json:
    return {} if subject is None else {"subject": subject}


def _in_order(config: Json) -> Json:
    """The fields Confluent knows, in its order, followed by any it may add later."""
    said = {field: value for field, value in config.items() if value is not None and field != "subject"}
    return {field: said.pop(field) for field in CONFIG_FIELDS if field in said} | said
