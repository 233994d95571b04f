"""Whether a schema may follow the versions of its subject, and if not, why."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from moldau.registry.decisions.lookup import Lookup
from moldau.registry.decisions.schema_parser import unreadable
from moldau.registry.entities import SchemaRequest, SchemaText, StoredSchema
from moldau.registry.failures import RegistryFailure, invalid_schema, version_not_found
from moldau.registry.schemas import Clash, Existing, InvalidSchema, ParsedSchema, check

RESERVED_PROPERTY: Final = "confluent:reserved"
SCHEMA_SHOWN_MAX: Final = 10 * 1024


class Verdict(NamedTuple):
    """Compatible when there are no messages. A message that is not a clash names a reserved field, or quotes an old
    schema for tools."""

    clashes: list[Clash]
    messages: list[str]


class Evolution(NamedTuple):
    lookup: Lookup

    def test(
        self, subject: str, request: SchemaRequest, version: int | None, *, normalize: bool = False
    ) -> Verdict:
        """Tests against one version (-1 is the latest), or against as many as the subject's compatibility level
        requires."""
        state, scope = self.lookup.state, self.lookup.scope
        if version is None:
            versions = state.versions(subject)
        else:
            one = state.version(subject, version)
            if one is None and version != -1:
                raise version_not_found(version)
            versions = [one] if one is not None else []
        if not request.schema.text.strip():
            raise invalid_schema("Empty schema")
        parsed, schema = self.lookup.checked(
            subject,
            request.schema,
            as_new=scope.validates_new(subject),
            normalize=normalize or bool(scope.config(subject).get("normalize")),
        )
        return self.verdict(subject, parsed, schema, versions)

    def verdict(
        self, subject: str, parsed: ParsedSchema, schema: SchemaText, versions: Sequence[StoredSchema]
    ) -> Verdict:
        """`versions` are not deleted, oldest first. A compatibility group separates them by a property of their
        metadata."""
        scope = self.lookup.scope
        level, validates_fields = scope.level(subject), scope.validates_fields(subject)
        messages: list[str] = []
        if validates_fields:
            messages += _reserved(parsed, schema, versions[-1].schema if versions else None)
        group = scope.config(subject).get("compatibilityGroup")
        if group:
            versions = [one for one in versions if _property(one.schema, group) == _property(schema, group)]
        clashes = self._clashes(level, parsed, versions)
        texts = {one.version: one.schema.text for one in versions}
        for version, found in groupby(clashes, lambda clash: clash.version):
            messages += [clash.message for clash in found]
            messages += [f"{{oldSchemaVersion: {version}}}", _shown(texts[version])]
        if messages:
            messages.append(
                f"{{validateFields: '{str(validates_fields).lower()}', compatibility: '{level}'}}"
            )
        return Verdict(clashes, messages)

    def _clashes(self, level: str, parsed: ParsedSchema, versions: Sequence[StoredSchema]) -> list[Clash]:
        if level == "NONE" or not versions:
            return []
        if not level.endswith("_TRANSITIVE"):
            versions = versions[-1:]
        existing = [Existing(one.version, self._stored(one)) for one in versions]
        try:
            return list(check(level, parsed, existing))
        except InvalidSchema as error:
            raise unreadable(parsed.schema_type, error) from error

    def _stored(self, stored: StoredSchema) -> ParsedSchema:
        try:
            return self.lookup.parser.parse_stored(stored)
        except RegistryFailure as failure:
            raise invalid_schema(
                f"Version {stored.version} of subject '{stored.subject}', which the schema must be compatible with, "
                f"cannot be read: {failure.message}"
            ) from failure


def _reserved(parsed: ParsedSchema, schema: SchemaText, previous: SchemaText | None) -> Iterator[str]:
    own, before = _reserved_fields(schema), _reserved_fields(previous)
    for name in sorted(before - own):
        yield (
            f"The new schema has reserved field {name} removed from its metadata which is present in the old "
            "schema's metadata."
        )
    for name in sorted(own):
        if parsed.has_field(name):
            yield f"The new schema has field that conflicts with the reserved field {name}."


def _reserved_fields(schema: SchemaText | None) -> set[str]:
    names = (_property(schema, RESERVED_PROPERTY) or "") if schema is not None else ""
    return {name.strip() for name in names.split(",")} - {""}


def _shown(text: str) -> str:
    if len(text) <= SCHEMA_SHOWN_MAX:
        return f"{{oldSchema: '{text}'}}"
    return f"{{oldSchema: <truncated> '{text[:SCHEMA_SHOWN_MAX]}...'}}"


def _property(schema: SchemaText, name: str) -> str | None:
    found = (schema.metadata or {}).get("properties", {}).get(name)
    return None if found is None else str(found)
