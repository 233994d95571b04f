"""What a schema is to the registry: a text with references, metadata and rules, and the hash of all of them.

Pure data. Metadata and rule sets are kept as JSON values in the order Confluent writes them. Serializers interpret
them, the registry does not.
"""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from moldau.registry.failures import invalid_rule_set, invalid_schema, unprocessable

AVRO: Final = "AVRO"
SCHEMA_TYPES: Final = ("JSON", "PROTOBUF", "AVRO")
RULE_FIELDS: Final = (
    "name",
    "doc",
    "kind",
    "mode",
    "type",
    "tags",
    "params",
    "expr",
    "onSuccess",
    "onFailure",
    "disabled",
)
RULE_GROUPS: Final = ("migrationRules", "domainRules", "encodingRules")
MIGRATION_MODES: Final = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
DOMAIN_MODES: Final = frozenset({"WRITE", "READ", "WRITEREAD"})
LATEST: Final = -1
"""As a version number: the newest version that is not deleted."""
VERSION_PROPERTY: Final = "confluent:version"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reference:
    name: str
    subject: str
    version: int

    def to_json(self) -> Json:
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as a client sends it or as it is stored: the parts two schemas must share to be the same."""

    text: str
    schema_type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Json | None = None
    rule_set: Json | None = None

    def digest(self) -> bytes:
        """Confluent's hash. The guid of a schema is derived from it, so every registry must compute the same."""
        md5 = hashlib.md5(self.text.encode(), usedforsecurity=False)
        for reference in self.references:
            md5.update(reference.name.encode())
            md5.update(reference.subject.encode())
            md5.update(reference.version.to_bytes(4, "big", signed=True))
        if self.metadata is not None:
            md5.update(b"\x01")
            _hash_metadata(md5, self.metadata)
        if self.rule_set is not None:
            md5.update(b"\x01")
            for group in RULE_GROUPS:
                for rule in self.rule_set.get(group) or ():
                    _hash_rule(md5, rule)
            md5.update(str(self.rule_set.get("enableAt") or "").encode())
        return md5.digest()

    def with_text(self, text: str) -> "SchemaText":
        return replace(self, text=text)

    def with_rules(self, metadata: Json | None, rule_set: Json | None) -> "SchemaText":
        return replace(self, metadata=metadata, rule_set=rule_set)


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """One version of a subject. Immutable: deleting a version replaces it with another value."""

    subject: str
    version: int
    id: int
    schema: SchemaText
    digest: bytes
    deleted: bool = False
    timestamp_ms: int | None = None

    @property
    def guid(self) -> str:
        return str(uuid.UUID(bytes=self.digest))

    def as_deleted(self) -> "StoredSchema":
        return replace(self, deleted=True)


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """The body of a registration, lookup or compatibility test. Version 0: not given; -1: the latest."""

    schema: SchemaText
    version: int = 0
    id: int | None = None

    @classmethod
    def parse(cls, body: object) -> "SchemaRequest":
        if not isinstance(body, dict):
            raise unprocessable(
                'The body must be a JSON object such as {"schema": "{\\"type\\": \\"string\\"}"}.'
            )
        text = body.get("schema")
        if text is not None and not isinstance(text, str):
            raise unprocessable(
                "The field 'schema' must be a string that holds the schema; "
                f"it is {_kind(text)}. Encode the schema as a JSON string first."
            )
        schema_type = body.get("schemaType") or AVRO
        if not isinstance(schema_type, str):
            raise unprocessable(f"The field 'schemaType' must be a string, but is {_kind(schema_type)}.")
        schema = SchemaText(
            text or "",
            schema_type,
            references_from_json(body.get("references")),
            metadata_from_json(body.get("metadata")),
            rule_set_from_json(body.get("ruleSet")),
        )
        version, schema_id = _whole(body, "version"), _whole(body, "id")
        return cls(schema, version or 0, None if schema_id is None or schema_id < 0 else schema_id)


def references_from_json(value: object) -> tuple[Reference, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise unprocessable(f"The field 'references' must be a list, but is {_kind(value)}.")
    found = []
    for item in value:
        if not isinstance(item, dict):
            raise unprocessable(f"A reference must be an object with name, subject and version: {item!r}")
        name, subject, version = item.get("name"), item.get("subject"), item.get("version")
        if not (isinstance(name, str) and isinstance(subject, str) and _is_whole(version)):
            raise invalid_schema(f"A reference needs a name, a subject and a version number: {item!r}")
        found.append(Reference(name, subject, int(version or 0)))
    return tuple(found)


def metadata_from_json(value: object) -> Json | None:
    """Sorted as Confluent sorts it: the hash depends on the order."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise unprocessable(f"'metadata' must be an object, but is {_kind(value)}.")
    found: Json = {}
    tags, properties, sensitive = value.get("tags"), value.get("properties"), value.get("sensitive")
    if tags:
        found["tags"] = {str(path): sorted(set(map(str, tags[path]))) for path in sorted(_mapping(tags))}
    if properties:
        found["properties"] = {str(key): str(properties[key]) for key in sorted(_mapping(properties))}
    if sensitive:
        found["sensitive"] = sorted(set(map(str, sensitive)))
    return found


def rule_set_from_json(value: object) -> Json | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise invalid_rule_set(f"A rule set must be an object, but is {_kind(value)}.")
    found: Json = {}
    for group in RULE_GROUPS:
        rules = value.get(group)
        if rules:
            found[group] = [_rule_from_json(rule) for rule in rules]
    if value.get("enableAt"):
        found["enableAt"] = value["enableAt"]
    return found


def check_rule_set(rule_set: Mapping[str, Any] | None) -> None:
    """Checks that a rule has a unique name and a mode that its group allows."""
    names: set[str] = set()
    for group in RULE_GROUPS:
        allowed = MIGRATION_MODES if group == "migrationRules" else DOMAIN_MODES
        for rule in (rule_set or {}).get(group, ()):
            name = rule.get("name")
            if not name:
                raise invalid_rule_set(f"A rule of {group} has no name.")
            if name in names:
                raise invalid_rule_set(f"Found rule with duplicate name '{name}'")
            names.add(name)
            if rule.get("mode") not in allowed:
                raise invalid_rule_set(
                    f"Rule '{name}' of {group} has mode {rule.get('mode')}, expected {', '.join(sorted(allowed))}."
                )


def _rule_from_json(rule: object) -> Json:
    if not isinstance(rule, dict):
        raise invalid_rule_set(f"A rule must be an object, but is {_kind(rule)}.")
    found = {field: rule[field] for field in RULE_FIELDS if rule.get(field) not in (None, "", [], {})}
    found.setdefault("kind", "TRANSFORM")
    found.setdefault("mode", "WRITEREAD")
    if isinstance(found.get("tags"), list):
        found["tags"] = sorted(set(found["tags"]))
    if isinstance(found.get("params"), dict):
        found["params"] = dict(sorted(found["params"].items()))
    found["disabled"] = bool(rule.get("disabled", False))
    return {field: found[field] for field in RULE_FIELDS if field in found}


def _hash_metadata(md5: "hashlib._Hash", metadata: Json) -> None:
    for part in ("tags", "properties"):
        for key, value in metadata.get(part, {}).items():
            md5.update(key.encode())
            _hash_texts(md5, value)
    _hash_texts(md5, metadata.get("sensitive"))


def _hash_rule(md5: "hashlib._Hash", rule: Json) -> None:
    for field in RULE_FIELDS[:-1]:
        _hash_texts(md5, rule.get(field))
    if rule.get("disabled"):
        md5.update(b"\x01")


def _hash_texts(md5: "hashlib._Hash", value: object) -> None:
    """Yields every string in document order, keys before their values."""
    if isinstance(value, str):
        md5.update(value.encode())
    elif isinstance(value, dict):
        for key, inner in value.items():
            md5.update(str(key).encode())
            _hash_texts(md5, inner)
    elif isinstance(value, list):
        for inner in value:
            _hash_texts(md5, inner)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise unprocessable(
            f"'tags' and 'properties' of metadata must be objects, but one is {_kind(value)}."
        )
    return value


def _whole(body: Json, field: str) -> int | None:
    value = body.get(field)
    if value is not None and not _is_whole(value):
        raise unprocessable(f"The field '{field}' must be an integer, but is {value!r}.")
    return None if value is None else int(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
