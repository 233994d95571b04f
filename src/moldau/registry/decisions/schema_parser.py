"""Parses schemas: resolves their references, parses the texts, and caches the results.

Parsing takes a millisecond or more, and every new client sends the same texts again.
"""

from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Final

from moldau.registry.entities import LATEST, SCHEMA_TYPES, Reference, SchemaText, StoredSchema
from moldau.registry.failures import RegistryFailure, invalid_schema
from moldau.registry.schemas import InvalidSchema, ParsedSchema, read
from moldau.registry.state import RegistryState, VersionKey
from moldau.registry.subjects import in_context_of

REFERENCES_DEPTH_MAX: Final = 64
REFERENCES_COUNT_MAX: Final = 2_000


class SchemaParser:
    def __init__(self, state: RegistryState, *, kept_max: int = 1_000) -> None:
        self._state = state
        self._kept_max = kept_max
        self._kept: OrderedDict[tuple[str, str, bytes, bool], ParsedSchema] = OrderedDict()
        self._lock = Lock()

    def parse(self, subject: str, schema: SchemaText, *, as_new: bool) -> ParsedSchema:
        """Raises RegistryFailure 42201 with the error in the schema, or the reference that cannot be resolved.

        `as_new` is for a schema that is to become a version: its references must not be deleted, and Avro's names and
        defaults are checked.
        """
        return self._parse(subject, schema, (), [REFERENCES_COUNT_MAX], as_new=as_new)

    def parse_stored(self, stored: StoredSchema) -> ParsedSchema:
        """Parses a registered schema, even if it would be rejected today."""
        return self.parse(stored.subject, stored.schema, as_new=False)

    def pinned(self, subject: str, schema: SchemaText, *, as_new: bool) -> SchemaText:
        """Replaces references to the latest version (-1) with references to the version that is the latest now."""
        if all(reference.version != LATEST for reference in schema.references):
            return schema
        pinned = (self._pinned(subject, reference, as_new=as_new) for reference in schema.references)
        return replace(schema, references=tuple(pinned))

    def _pinned(self, subject: str, reference: Reference, *, as_new: bool) -> Reference:
        if reference.version != LATEST:
            return reference
        target = in_context_of(subject, reference.subject)
        versions = self._state.versions(target) or self._state.versions(target, deleted=not as_new)
        if not versions:
            raise invalid_schema(_missing(self._state, target, LATEST))
        return replace(reference, version=versions[-1].version)

    def _parse(
        self,
        subject: str,
        schema: SchemaText,
        path: tuple[VersionKey, ...],
        left: list[int],
        *,
        as_new: bool,
    ) -> ParsedSchema:
        if schema.schema_type not in SCHEMA_TYPES:
            raise invalid_schema(
                f"Invalid schema type {schema.schema_type}: it must be one of {', '.join(SCHEMA_TYPES)}."
            )
        schema = self.pinned(subject, schema, as_new=as_new)
        references = {
            reference.name: self._referred(subject, reference, path, left, as_new=as_new)
            for reference in schema.references
        }
        # References are part of the hash, and a referenced version never changes.
        key = (schema.schema_type, subject if references else "", schema.digest(), as_new and not path)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        try:
            # A referenced schema is registered already, so its names were accepted.
            parsed = read(schema.schema_type, schema.text, references, strict=as_new and not path)
        except InvalidSchema as error:
            raise unreadable(schema.schema_type, error) from error
        with self._lock:
            self._kept[key] = parsed
            while len(self._kept) > self._kept_max:
                self._kept.popitem(last=False)
        return parsed

    def _referred(
        self,
        subject: str,
        reference: Reference,
        path: tuple[VersionKey, ...],
        left: list[int],
        *,
        as_new: bool,
    ) -> ParsedSchema:
        version_key = (in_context_of(subject, reference.subject), reference.version)
        if version_key in path or len(path) >= REFERENCES_DEPTH_MAX:
            chain = " -> ".join(f"{name} version {number}" for name, number in (*path, version_key))
            raise invalid_schema(
                f"The references form a cycle: {chain}. Remove the reference from one of these schemas."
            )
        left[0] -= 1
        if left[0] < 0:
            raise invalid_schema(
                f"The schema has more than {REFERENCES_COUNT_MAX:,} references, counting those of its references."
            )
        found = self._state.version(*version_key, deleted=not as_new)
        if found is None:
            raise invalid_schema(_missing(self._state, *version_key))
        try:
            return self._parse(found.subject, found.schema, (*path, version_key), left, as_new=as_new)
        except RegistryFailure as failure:
            raise invalid_schema(
                f"The reference to subject '{reference.subject}' version {reference.version} cannot be used: "
                f"{failure.message}"
            ) from failure


def unreadable(schema_type: str, error: InvalidSchema) -> RegistryFailure:
    return invalid_schema(f"Invalid schema of type {schema_type}: {error}")


def _missing(state: RegistryState, subject: str, version: int) -> str:
    versions = [schema.version for schema in state.versions(subject)]
    if state.version(subject, version, deleted=True) is not None:
        return (
            f"No schema reference found for subject '{subject}' version {version}: it was soft-deleted. "
            "Register it again, or refer to another version."
        )
    if not versions:
        return f"No schema reference found for subject '{subject}' version {version}: register that subject first."
    return (
        f"No schema reference found for subject '{subject}' version {version}; "
        f"it has {', '.join(map(str, versions))}."
    )
