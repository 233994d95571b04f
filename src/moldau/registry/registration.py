"""Registering, looking up and testing schemas: decisions only, nothing here changes the state."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from moldau.registry.decision import Decision
from moldau.registry.entities import SchemaRequest, SchemaText, StoredSchema, check_rule_set
from moldau.registry.failures import (
    RegistryFailure,
    incompatible,
    invalid_schema,
    invalid_subject,
    not_permitted,
    version_not_found,
)
from moldau.registry.governance_merge import populated, with_version, without_version
from moldau.registry.parsing import Parser
from moldau.registry.records import ContextFact, Fact, SchemaFact
from moldau.registry.schemas import Clash, Existing, ParsedSchema, check
from moldau.registry.scope import IMPORT_MODES, Scope
from moldau.registry.state import RegistryState
from moldau.registry.subjects import DEFAULT_CONTEXT, context_of, is_valid, prefix_of


class Registration(NamedTuple):
    state: RegistryState
    scope: Scope
    parser: Parser

    def decide_register(
        self, subject: str, request: SchemaRequest, *, normalize: bool = False, force: bool = False
    ) -> Decision[StoredSchema]:
        """`force` leaves the test of compatibility out."""
        if not is_valid(subject):
            raise invalid_subject(subject)
        check_rule_set(request.schema.rule_set)
        self._check_mode(subject, request)
        is_import = self.scope.mode(subject) in IMPORT_MODES
        versions = self.state.versions(subject, deleted=True)
        live = [schema for schema in versions if not schema.deleted]
        version_next = versions[-1].version + 1 if versions else 1
        schema = self._complete(subject, request, live, version_next, is_import=is_import)
        parsed, schema = self._understood(subject, schema, normalize=normalize and not is_import)
        digest = schema.digest()
        known_id = self.state.id_of(context_of(subject), schema.schema_type, digest)
        if request.id is not None and known_id != request.id:
            known_id = None
        if request.version == 0:
            found = self._registered(subject, live, known_id) or self._equivalent(
                schema, parsed, live, known_id or request.id
            )
            if found is not None:
                return Decision(found)
        if not is_import and not force:
            self._check_compatible(subject, parsed, schema, live)
        version = self._version(request, version_next, is_import=is_import)
        schema_id = self._id(subject, schema, request.id if known_id is None else known_id)
        stored = StoredSchema(subject, version, schema_id, schema, digest)
        return Decision(stored, (*self._before(stored, versions), SchemaFact(subject, version, stored)))

    def find(
        self, subject: str, request: SchemaRequest, *, normalize: bool = False, deleted: bool = False
    ) -> StoredSchema | None:
        """The version of the subject that holds this schema; of another context's subject of that name, if need be."""
        found = self._find(subject, request.schema, normalize=normalize, deleted=deleted)
        if found is not None or context_of(subject) != DEFAULT_CONTEXT:
            return found
        for context in self.state.contexts()[1:]:
            try:
                found = self._find(
                    prefix_of(context) + subject, request.schema, normalize=normalize, deleted=deleted
                )
            except RegistryFailure:
                continue  # Its references may not be there.
            if found is not None:
                return found
        return None

    def clashes(
        self, subject: str, request: SchemaRequest, version: int | None, *, normalize: bool = False
    ) -> list[Clash]:
        """With one version (-1 is the latest), or with as many as the subject's level asks for."""
        if version is None:
            versions = self.state.versions(subject)
        else:
            one = self.state.version(subject, version)
            if one is None and version != -1:
                raise version_not_found(version)
            versions = [one] if one is not None else []
        if not request.schema.text.strip():
            raise invalid_schema("Empty schema")
        config = self.scope.config(subject)
        parsed, schema = self._understood(
            subject, request.schema, normalize=normalize or bool(config.get("normalize"))
        )
        return self._clashes(subject, parsed, schema, versions)

    def _find(
        self, subject: str, schema: SchemaText, *, normalize: bool, deleted: bool
    ) -> StoredSchema | None:
        versions = self.state.versions(subject, deleted=deleted)
        if not versions or not schema.text.strip():
            return None
        config = self.scope.config(subject)
        parsed, schema = self._understood(
            subject, schema, normalize=normalize or bool(config.get("normalize"))
        )
        found = self._lookup(subject, schema, parsed, versions)
        latest = self.state.latest(subject)
        if found is not None or latest is None:
            return found
        completed = populated(schema, latest.schema, config, None)
        return None if completed == schema else self._lookup(subject, completed, parsed, versions)

    def _lookup(
        self, subject: str, schema: SchemaText, parsed: ParsedSchema, versions: Sequence[StoredSchema]
    ) -> StoredSchema | None:
        known_id = self.state.id_of(context_of(subject), schema.schema_type, schema.digest())
        return self._registered(subject, versions, known_id) or self._equivalent(
            schema, parsed, versions, None
        )

    def _check_mode(self, subject: str, request: SchemaRequest) -> None:
        self.scope.check_writable(subject)
        mode, where = self.scope.mode(subject), f"Subject {subject} in context {context_of(subject)}"
        if request.id is not None and mode not in IMPORT_MODES:
            raise not_permitted(f"{where} is not in import mode")
        if request.id is None and mode != "READWRITE":
            raise not_permitted(f"{where} is not in read-write mode")

    def _complete(
        self,
        subject: str,
        request: SchemaRequest,
        live: Sequence[StoredSchema],
        version: int,
        *,
        is_import: bool,
    ) -> SchemaText:
        """A request may leave out what the version before it had."""
        schema, previous = request.schema, live[-1].schema if live else None
        if not schema.text.strip():
            if previous is None or is_import:
                raise invalid_schema("Empty schema")
            schema = replace(previous, metadata=schema.metadata, rule_set=schema.rule_set)
        if is_import:
            return schema
        schema = populated(schema, previous, self.scope.config(subject), version)
        if request.version:
            return schema.with_rules(with_version(schema.metadata, version), schema.rule_set)
        return schema

    def _understood(
        self, subject: str, schema: SchemaText, *, normalize: bool
    ) -> tuple[ParsedSchema, SchemaText]:
        parsed = self.parser.parse(subject, schema)
        if normalize:
            parsed = parsed.normalized()
            schema = replace(schema, references=tuple(sorted(schema.references, key=_reference_order)))
        return parsed, schema.with_text(parsed.canonical)

    def _registered(
        self, subject: str, versions: Sequence[StoredSchema], known_id: int | None
    ) -> StoredSchema | None:
        return next((found for found in reversed(versions) if found.id == known_id), None)

    def _equivalent(
        self,
        schema: SchemaText,
        parsed: ParsedSchema,
        versions: Sequence[StoredSchema],
        wanted_id: int | None,
    ) -> StoredSchema | None:
        """The same but for the version noted in its metadata, or sent with its references put in their places."""
        bare = without_version(schema)
        for found in reversed(versions):
            if wanted_id is not None and found.id != wanted_id:
                continue
            if found.schema.schema_type != schema.schema_type:
                continue
            other = without_version(found.schema)
            if bare == other:
                return found
            if other.references and not bare.references and self._same_resolved(bare, parsed, found):
                return found
        return None

    def _same_resolved(self, schema: SchemaText, parsed: ParsedSchema, found: StoredSchema) -> bool:
        if (schema.metadata, schema.rule_set) != (found.schema.metadata, found.schema.rule_set):
            return False
        try:
            resolved = self.parser.parse_stored(found).resolved()
            return (
                self.parser.parse(found.subject, replace(schema, text=resolved)).canonical == parsed.canonical
            )
        except RegistryFailure:
            return False

    def _check_compatible(
        self, subject: str, parsed: ParsedSchema, schema: SchemaText, live: Sequence[StoredSchema]
    ) -> None:
        clashes = self._clashes(subject, parsed, schema, live)
        if clashes:
            raise incompatible(subject, self.scope.level(subject), clashes)

    def _clashes(
        self, subject: str, parsed: ParsedSchema, schema: SchemaText, versions: Sequence[StoredSchema]
    ) -> list[Clash]:
        """A compatibility group parts the versions of a subject by a property of their metadata."""
        level = self.scope.level(subject)
        group = self.scope.config(subject).get("compatibilityGroup")
        if group:
            versions = [
                found for found in versions if _property(found.schema, group) == _property(schema, group)
            ]
        if level == "NONE" or not versions:
            return []
        if not level.endswith("_TRANSITIVE"):
            versions = versions[-1:]
        existing = [Existing(found.version, self.parser.parse_stored(found)) for found in versions]
        return list(check(level, parsed, existing))

    def _version(self, request: SchemaRequest, version_next: int, *, is_import: bool) -> int:
        if request.version <= 0:
            return version_next
        if request.version != version_next and not is_import:
            raise invalid_schema(
                f"Version is not one more than previous version: it is {request.version}, the next is {version_next}"
            )
        return request.version

    def _id(self, subject: str, schema: SchemaText, wanted_id: int | None) -> int:
        context = context_of(subject)
        if wanted_id is None:
            return self.state.id_max(context) + 1
        for held in self.state.holders(context, wanted_id):
            if held.schema != schema:
                raise not_permitted(
                    f"Overwrite new schema with id {wanted_id} in context {context} is not permitted."
                )
        return wanted_id

    def _before(self, stored: StoredSchema, versions: Sequence[StoredSchema]) -> list[Fact]:
        """The context is noted; versions that were deleted and now live again under a new number go."""
        facts: list[Fact] = []
        context = context_of(stored.subject)
        if not self.state.knows_context(context):
            facts.append(ContextFact(context))
        for old in versions:
            is_replaced = old.deleted and old.id == stored.id and old.version < stored.version
            if is_replaced and not self.state.referrers(old.subject, old.version, deleted=True):
                facts.append(SchemaFact(old.subject, old.version, None))
        return facts


def _property(schema: SchemaText, name: str) -> str | None:
    found = (schema.metadata or {}).get("properties", {}).get(name)
    return None if found is None else str(found)


def _reference_order(reference: object) -> tuple[str, int, str]:
    return (reference.subject, reference.version, reference.name)  # type: ignore[attr-defined]
