"""Registers schemas. Decisions only: nothing here changes the state."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.evolution import Evolution
from moldau.registry.decisions.governance_merge import populated, with_version
from moldau.registry.decisions.lookup import Lookup
from moldau.registry.decisions.schema_parser import SchemaParser
from moldau.registry.decisions.scope import IMPORT_MODES, Scope
from moldau.registry.entities import SchemaRequest, SchemaText, StoredSchema, check_rule_set
from moldau.registry.failures import incompatible, invalid_schema, invalid_subject, not_permitted
from moldau.registry.log.records import ContextFact, Fact, SchemaFact
from moldau.registry.state import RegistryState
from moldau.registry.subjects import context_of, is_valid


class Registration(NamedTuple):
    state: RegistryState
    scope: Scope
    parser: SchemaParser

    @property
    def lookup(self) -> Lookup:
        return Lookup(self.state, self.scope, self.parser)

    @property
    def evolution(self) -> Evolution:
        return Evolution(self.lookup)

    def check(self, subject: str, request: SchemaRequest) -> None:
        """Rejects what is wrong whatever the state."""
        check_rule_set(request.schema.rule_set)
        if not is_valid(subject):
            raise invalid_subject(subject)

    def decide_register(
        self, subject: str, request: SchemaRequest, *, normalize: bool = False, force: bool = False
    ) -> Decision[StoredSchema]:
        """`force` skips the compatibility test."""
        self.check(subject, request)
        # A schema that is already registered is answered in every mode.
        found = self.lookup.registered(subject, request, normalize=normalize)
        if found is not None:
            return Decision(found)
        self._check_mode(subject, request)
        is_import = self.scope.mode(subject) in IMPORT_MODES
        versions = self.state.versions(subject, deleted=True)
        live = [schema for schema in versions if not schema.deleted]
        version_next = versions[-1].version + 1 if versions else 1
        schema = self._complete(subject, request, live, version_next, is_import=is_import)
        as_new = request.id is None and self.scope.validates_new(subject)
        parsed, schema = self.lookup.checked(subject, schema, as_new=as_new, normalize=normalize)
        known_id, found = self.lookup.by_digest(subject, schema, live)
        if request.id is not None and known_id != request.id:
            known_id, found = None, None
        wanted_id = request.id if known_id is None else known_id
        if request.version == 0:
            found = found or self.lookup.equivalent(schema, parsed, live, wanted_id)
            if found is not None:
                return Decision(found)
        if not is_import and not force:
            verdict = self.evolution.verdict(subject, parsed, schema, live)
            if verdict.messages:
                raise incompatible(subject, verdict.messages, verdict.clashes)
        version = self._version(request, version_next, is_import=is_import)
        stored = StoredSchema(subject, version, self._id(subject, schema, wanted_id), schema, schema.digest())
        return Decision(stored, (*self._before(stored, versions), SchemaFact(subject, version, stored)))

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
        """A request may leave out what the previous version had."""
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
        """Records the context, and removes deleted versions that get a new number."""
        facts: list[Fact] = []
        context = context_of(stored.subject)
        if not self.state.knows_context(context):
            facts.append(ContextFact(context))
        for old in versions:
            is_replaced = old.deleted and old.id == stored.id and old.version < stored.version
            if is_replaced and not self.state.referrers(old.subject, old.version, deleted=True):
                facts.append(SchemaFact(old.subject, old.version, None))
        return facts
