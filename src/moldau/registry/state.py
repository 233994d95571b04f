"""Everything the registry knows: subjects, ids, references, configurations. Replaying the topic rebuilds it.

`replay` is the only writer, and one thread calls it. Other threads read at the same time: stored values are never
changed in place, and iteration uses copies of the maps. No clock, no thread, no Kafka.
"""

from collections.abc import Iterator

from moldau.registry.entities import LATEST, Json, StoredSchema
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
)
from moldau.registry.subjects import (
    ANY_CONTEXT,
    DEFAULT_CONTEXT,
    context_of,
    has_prefix,
    in_context_of,
    is_context,
)

VersionKey = tuple[str, int]
"""A subject and a version."""


class RegistryState:
    def __init__(self) -> None:
        self.configs: dict[str | None, Json] = {}
        self.modes: dict[str | None, str] = {}
        self.associations: dict[tuple[str, ...], Json] = {}
        self.primary: PrimaryFact | None = None
        self.foreign_count = 0
        self._subjects: dict[str, dict[int, StoredSchema]] = {}
        self._contexts: dict[str, None] = {}
        self._holders: dict[tuple[str, int], dict[VersionKey, None]] = {}
        """The versions that use an id of a context."""
        self._ids: dict[tuple[str, str, bytes], dict[int, None]] = {}
        """The ids of a context, a type and a hash: one, unless another was imported."""
        self._id_max: dict[str, int] = {}
        self._referrers: dict[VersionKey, dict[VersionKey, None]] = {}

    def replay(self, fact: Fact) -> None:
        match fact:
            case SchemaFact(subject, version, None):
                self._forget(subject, version)
            case SchemaFact(subject, version, schema) if schema is not None:
                self._learn(schema)
            case ConfigFact(subject, config):
                _put(self.configs, subject, config)
            case ModeFact(subject, mode):
                _put(self.modes, subject, mode)
            case DeleteSubjectFact(subject, version) if version is not None:
                self._soft_delete(subject, version)
            case ClearSubjectFact(subject, True):
                self._clear(subject)
            case ContextFact(context, is_there):
                _put(self._contexts, context, None, is_there=is_there)
            case AssociationFact(key, fields):
                _put(self.associations, key, fields)
            case PrimaryFact():
                self.primary = fact
            case IdsFact(context, id_max) if id_max is not None:
                self._id_max[context] = max(self._id_max.get(context, 0), id_max)
            case ForeignFact():
                self.foreign_count += 1

    def subjects(self, prefix: str = ANY_CONTEXT) -> list[str]:
        """The subjects that have versions, including deleted ones, sorted."""
        return sorted(subject for subject in list(self._subjects) if has_prefix(subject, prefix))

    def contexts(self) -> list[str]:
        return [DEFAULT_CONTEXT, *sorted(list(self._contexts))]

    def knows_context(self, context: str) -> bool:
        return context == DEFAULT_CONTEXT or context in self._contexts

    def versions(self, subject: str, *, deleted: bool = False) -> list[StoredSchema]:
        """Oldest first."""
        found = list(self._subjects.get(subject, {}).values())
        if not deleted:
            found = [schema for schema in found if not schema.deleted]
        return sorted(found, key=lambda schema: schema.version)

    def version(self, subject: str, version: int, *, deleted: bool = False) -> StoredSchema | None:
        """LATEST never returns a deleted version."""
        if version == LATEST:
            return self.latest(subject)
        found = self._subjects.get(subject, {}).get(version)
        return found if found is not None and (deleted or not found.deleted) else None

    def latest(self, subject: str) -> StoredSchema | None:
        found = self.versions(subject)
        return found[-1] if found else None

    def has_subject(self, subject: str, *, deleted: bool = False) -> bool:
        return bool(self.versions(subject, deleted=deleted))

    def matching(self, subject: str | None) -> list[str]:
        """The subject itself, all subjects of the context, or all subjects."""
        if subject is None:
            return self.subjects()
        if is_context(subject):
            return [found for found in self.subjects() if context_of(found) == context_of(subject)]
        return [subject] if subject in self._subjects else []

    def id_of(self, context: str, schema_type: str, digest: bytes) -> int | None:
        return min(list(self._ids.get((context, schema_type, digest), ())), default=None)

    def id_max(self, context: str) -> int:
        return self._id_max.get(context, 0)

    def holders(self, context: str, schema_id: int, *, deleted: bool = True) -> list[StoredSchema]:
        """Every version that uses the schema with this id, oldest use first."""
        keys = list(self._holders.get((context, schema_id), ()))
        found = (self.version(subject, version, deleted=deleted) for subject, version in keys)
        return [schema for schema in found if schema is not None]

    def holders_of_guid(self, digest: bytes) -> Iterator[tuple[str, int]]:
        """Yields contexts and ids."""
        for (context, _, held), ids in list(self._ids.items()):
            if held == digest:
                for schema_id in list(ids):
                    yield context, schema_id

    def referrers(self, subject: str, version: int, *, deleted: bool = False) -> list[StoredSchema]:
        """The schemas that refer to this version."""
        keys = list(self._referrers.get((subject, version), ()))
        latest = self.latest(subject)
        if latest is not None and latest.version == version:
            # The topic may contain references to "the latest".
            keys += [key for key in self._referrers.get((subject, LATEST), ()) if key not in keys]
        found = (self.version(*key, deleted=deleted) for key in keys)
        return [schema for schema in found if schema is not None]

    def _learn(self, schema: StoredSchema) -> None:
        context = context_of(schema.subject)
        key = (schema.subject, schema.version)
        holders = self.holders(context, schema.id)
        if any(held.schema.text != schema.schema.text for held in holders if _version_key(held) != key):
            # Two registries wrote at the same time: as in Confluent's, the first to use an id keeps it.
            return
        old = self._subjects.get(schema.subject, {}).get(schema.version)
        if old is not None and (old.id != schema.id or old.digest != schema.digest):
            self._forget(*key)
        self._subjects.setdefault(schema.subject, {})[schema.version] = schema
        self._holders.setdefault((context, schema.id), {})[key] = None
        self._ids.setdefault(_likeness(schema), {})[schema.id] = None
        self._id_max[context] = max(self._id_max.get(context, 0), schema.id)
        for target in _targets(schema):
            self._referrers.setdefault(target, {})[key] = None

    def _forget(self, subject: str, version: int) -> None:
        old = self._subjects.get(subject, {}).pop(version, None)
        if old is None:
            return
        if not self._subjects[subject]:
            del self._subjects[subject]
        context = context_of(subject)
        keys = self._holders[context, old.id]
        del keys[subject, version]
        if not keys:
            del self._holders[context, old.id]
            likeness = _likeness(old)
            del self._ids[likeness][old.id]
            if not self._ids[likeness]:
                del self._ids[likeness]
        for target in _targets(old):
            self._referrers[target].pop((subject, version), None)

    def _soft_delete(self, subject: str, until_version: int) -> None:
        versions = self._subjects.get(subject, {})
        for version, schema in list(versions.items()):
            if version <= until_version:
                versions[version] = schema.as_deleted()

    def _clear(self, subject: str | None) -> None:
        for matching in self.matching(subject):
            for schema in self.versions(matching, deleted=True):
                if schema.deleted:
                    self._forget(matching, schema.version)


def _put(table: dict, key: object, value: object, *, is_there: bool | None = None) -> None:  # type: ignore[type-arg]
    if is_there if is_there is not None else value is not None:
        table[key] = value
    else:
        table.pop(key, None)


def _version_key(schema: StoredSchema) -> VersionKey:
    return schema.subject, schema.version


def _likeness(schema: StoredSchema) -> tuple[str, str, bytes]:
    return context_of(schema.subject), schema.schema.schema_type, schema.digest


def _targets(schema: StoredSchema) -> list[VersionKey]:
    return [
        (in_context_of(schema.subject, reference.subject), reference.version)
        for reference in schema.schema.references
    ]
