"""Schemas understood: their references found, the texts parsed, what was parsed kept for the next time.

Parsing costs a millisecond or more and the same texts come again with every new client.
"""

from collections import OrderedDict
from threading import Lock
from typing import Final

from moldau.registry.entities import SCHEMA_TYPES, SchemaText, StoredSchema
from moldau.registry.failures import RegistryFailure, invalid_schema
from moldau.registry.schemas import InvalidSchema, ParsedSchema, parse
from moldau.registry.state import Place, RegistryState
from moldau.registry.subjects import in_context_of

REFERENCES_DEPTH_MAX: Final = 64
REFERENCES_COUNT_MAX: Final = 2_000


class Parser:
    def __init__(self, state: RegistryState, *, kept_max: int = 1_000) -> None:
        self._state = state
        self._kept_max = kept_max
        self._kept: OrderedDict[tuple[str, str, bytes, bool], ParsedSchema] = OrderedDict()
        self._lock = Lock()

    def parse(self, subject: str, schema: SchemaText) -> ParsedSchema:
        """RegistryFailure 42201 says what is wrong with the schema, or which reference leads nowhere."""
        return self._parse(subject, schema, (), [REFERENCES_COUNT_MAX], strict=True)

    def parse_stored(self, stored: StoredSchema) -> ParsedSchema:
        """What was registered once stays of use, though it might be refused today."""
        return self._parse(stored.subject, stored.schema, (), [REFERENCES_COUNT_MAX], strict=False)

    def _parse(
        self,
        subject: str,
        schema: SchemaText,
        path: tuple[Place, ...],
        left: list[int],
        *,
        strict: bool,
    ) -> ParsedSchema:
        if schema.schema_type not in SCHEMA_TYPES:
            raise invalid_schema(
                f"Invalid schema type {schema.schema_type}: it must be one of {', '.join(SCHEMA_TYPES)}."
            )
        references = {
            reference.name: self._referred(subject, reference.subject, reference.version, path, left)
            for reference in schema.references
        }
        # References are part of the hash, and a version never changes while something refers to it.
        key = (schema.schema_type, subject if references else "", schema.digest(), strict)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        try:
            parsed = parse(schema.schema_type, schema.text, references, strict=strict)
        except InvalidSchema as error:
            raise invalid_schema(f"Invalid schema of type {schema.schema_type}: {error}") from error
        with self._lock:
            self._kept[key] = parsed
            while len(self._kept) > self._kept_max:
                self._kept.popitem(last=False)
        return parsed

    def _referred(
        self, subject: str, target: str, version: int, path: tuple[Place, ...], left: list[int]
    ) -> ParsedSchema:
        place = (in_context_of(subject, target), version)
        if place in path or len(path) >= REFERENCES_DEPTH_MAX:
            chain = " -> ".join(f"{name} version {number}" for name, number in (*path, place))
            raise invalid_schema(f"The references go in a circle: {chain}. Break it at one of these schemas.")
        left[0] -= 1
        if left[0] < 0:
            raise invalid_schema(f"The schema leads to more than {REFERENCES_COUNT_MAX:,} references.")
        found = self._state.version(*place, deleted=True)
        if found is None:
            raise invalid_schema(_missing(self._state, *place))
        try:
            return self._parse(found.subject, found.schema, (*path, place), left, strict=False)
        except RegistryFailure as failure:
            raise invalid_schema(
                f"The reference to subject '{target}' version {version} cannot be used: {failure.message}"
            ) from failure


def _missing(state: RegistryState, subject: str, version: int) -> str:
    versions = [schema.version for schema in state.versions(subject)]
    if not versions:
        return f"No schema reference found for subject '{subject}' version {version}: register that subject first."
    return (
        f"No schema reference found for subject '{subject}' version {version}; "
        f"it has {', '.join(map(str, versions))}."
    )
