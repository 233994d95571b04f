"""Finds stored schemas: whether a subject already holds a schema, as it was stored or in another form."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from moldau.registry.decisions.governance_merge import is_same_metadata, populated
from moldau.registry.decisions.schema_parser import SchemaParser, unreadable
from moldau.registry.decisions.scope import DEFAULTS, IMPORT_MODES, Scope
from moldau.registry.entities import LATEST, SchemaRequest, SchemaText, StoredSchema
from moldau.registry.failures import RegistryFailure
from moldau.registry.schemas import InvalidSchema, ParsedSchema, verify
from moldau.registry.state import RegistryState
from moldau.registry.subjects import DEFAULT_CONTEXT, context_of, prefix_of


class Lookup(NamedTuple):
    state: RegistryState
    scope: Scope
    parser: SchemaParser

    def find(
        self, subject: str, schema: SchemaText, *, normalize: bool = False, deleted: bool = False
    ) -> StoredSchema | None:
        """Returns the version of the subject that holds this schema, else that of the subject with the same name in
        another context."""
        failure: RegistryFailure | None = None
        contexts = self.state.contexts()[1:] if context_of(subject) == DEFAULT_CONTEXT else []
        for candidate in (subject, *(prefix_of(context) + subject for context in contexts)):
            try:
                found = self._find(candidate, schema, normalize=normalize, deleted=deleted)
            except RegistryFailure as error:
                # Its references may not exist in another context.
                failure = error if candidate == subject else failure
                continue
            if found is not None:
                return found
        if failure is not None:
            raise failure
        return None

    def registered(
        self, subject: str, request: SchemaRequest, *, normalize: bool = False
    ) -> StoredSchema | None:
        """Returns the stored version when a registration needs no write because the subject already holds the schema.

        None when the configuration adds something to new versions: then only the complete schema can be compared.
        """
        if any(self.scope.config(subject).get(field) for field in DEFAULTS):
            return None
        versions = self.state.versions(subject)
        if request.version == LATEST:
            versions = versions[-1:]
        found = self._lookup(
            subject, request.schema, versions, normalize=normalize, by_id=request.version != LATEST
        )
        if found is None:
            return None
        if request.version in (0, LATEST):
            return found if request.id in (None, found.id) else None
        if found.id != request.id:
            return None
        # The same schema may have been imported with several versions.
        named = self.state.version(subject, request.version)
        same = named is not None and (named.id, named.digest) == (found.id, found.digest)
        return named if same else None

    def checked(
        self, subject: str, schema: SchemaText, *, as_new: bool, normalize: bool
    ) -> tuple[ParsedSchema, SchemaText]:
        """Returns the schema, parsed and validated, and the text that would be stored."""
        parsed, schema = self._canonicalized(subject, schema, as_new=as_new, normalize=normalize)
        self._check(subject, parsed)
        return parsed, schema

    def by_digest(
        self, subject: str, schema: SchemaText, versions: Sequence[StoredSchema]
    ) -> tuple[int | None, StoredSchema | None]:
        """Returns the schema's id in its context, and the newest of the versions with that id."""
        known_id = self.state.id_of(context_of(subject), schema.schema_type, schema.digest())
        return known_id, next((found for found in reversed(versions) if found.id == known_id), None)

    def equivalent(
        self,
        schema: SchemaText,
        parsed: ParsedSchema,
        versions: Sequence[StoredSchema],
        wanted_id: int | None = None,
    ) -> StoredSchema | None:
        """The newest version that differs only in form, in its stored version number, or in resolved references."""
        for found in reversed(versions):
            if wanted_id in (None, found.id) and self._is_equivalent(schema, parsed, found):
                return found
        return None

    def _find(
        self, subject: str, schema: SchemaText, *, normalize: bool, deleted: bool
    ) -> StoredSchema | None:
        versions = self.state.versions(subject, deleted=deleted)
        found = self._lookup(subject, schema, versions, normalize=normalize)
        latest = self.state.latest(subject)
        if found is not None or latest is None:
            return found
        completed = populated(schema, latest.schema, self.scope.config(subject), None)
        return (
            None if completed == schema else self._lookup(subject, completed, versions, normalize=normalize)
        )

    def _lookup(
        self,
        subject: str,
        schema: SchemaText,
        versions: Sequence[StoredSchema],
        *,
        normalize: bool,
        by_id: bool = True,
    ) -> StoredSchema | None:
        if not schema.text.strip():
            return None
        normalize = normalize or bool(self.scope.config(subject).get("normalize"))
        parsed, schema = self._canonicalized(subject, schema, as_new=False, normalize=normalize)
        found = self.by_digest(subject, schema, versions)[1] if by_id else None
        if found is None:
            # Only now: a schema stored with exactly this text is found even if it would be rejected today.
            self._check(subject, parsed)
            found = self.equivalent(schema, parsed, versions)
        return found

    def _canonicalized(
        self, subject: str, schema: SchemaText, *, as_new: bool, normalize: bool
    ) -> tuple[ParsedSchema, SchemaText]:
        schema = self.parser.pinned(subject, schema, as_new=as_new)
        parsed = self.parser.parse(subject, schema, as_new=as_new)
        if normalize and not self._is_importing(subject):
            self._check(subject, parsed)
            try:
                parsed = parsed.normalized()
            except InvalidSchema as error:
                raise unreadable(schema.schema_type, error) from error
            references = sorted(set(schema.references), key=lambda one: (one.subject, one.version, one.name))
            schema = replace(schema, references=tuple(references))
        return parsed, schema.with_text(parsed.canonical)

    def _check(self, subject: str, parsed: ParsedSchema) -> None:
        """An import skips the checks."""
        if self._is_importing(subject):
            return
        try:
            verify(parsed, fields=self.scope.validates_fields(subject))
        except InvalidSchema as error:
            raise unreadable(parsed.schema_type, error) from error

    def _is_importing(self, subject: str) -> bool:
        return self.scope.mode(subject) in IMPORT_MODES

    def _is_equivalent(self, schema: SchemaText, parsed: ParsedSchema, found: StoredSchema) -> bool:
        other = found.schema
        if other.schema_type != schema.schema_type or other.rule_set != schema.rule_set:
            return False
        if not is_same_metadata(schema.metadata, other.metadata, found.version):
            return False
        try:
            theirs = self.parser.pinned(found.subject, other, as_new=False).references
            is_resolved = not schema.references and bool(theirs)
            if not is_resolved and schema.references != theirs:
                return False
            if not is_resolved and schema.text == other.text:
                return True
            return self.parser.parse_stored(found).identity == parsed.identity
        except (RegistryFailure, RecursionError):
            return False  # The stored schema cannot be parsed, so it is not the one that was sent.
