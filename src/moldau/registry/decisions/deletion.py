"""Deletes versions, subjects and contexts, first softly, then permanently. Decisions only."""

from typing import NamedTuple

from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.scope import Scope
from moldau.registry.entities import StoredSchema
from moldau.registry.failures import (
    context_not_empty,
    referenced,
    subject_associated,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from moldau.registry.log.records import (
    ConfigFact,
    ContextFact,
    DeleteSubjectFact,
    Fact,
    IdsFact,
    ModeFact,
    SchemaFact,
)
from moldau.registry.state import RegistryState
from moldau.registry.subjects import context_of, prefix_of


class Deletion(NamedTuple):
    state: RegistryState
    scope: Scope

    def decide_delete_version(self, subject: str, version: int, *, permanent: bool) -> Decision[int]:
        schema = self._doomed(subject, version, permanent=permanent)
        self.scope.check_writable(subject)
        if self.state.referrers(subject, schema.version, deleted=permanent):
            raise referenced(subject, schema.version)
        if not permanent:
            return Decision(schema.version, (SchemaFact(subject, schema.version, schema.as_deleted()),))
        if not schema.deleted:
            raise version_not_soft_deleted(subject, schema.version)
        facts: list[Fact] = [self._ids_kept(subject), SchemaFact(subject, schema.version, None)]
        if len(self.state.versions(subject, deleted=True)) == 1:
            facts += self._settings_gone(subject)
        return Decision(schema.version, tuple(facts))

    def decide_delete_subject(self, subject: str, *, permanent: bool) -> Decision[list[int]]:
        """Returns the deleted versions, oldest first."""
        versions = self.state.versions(subject, deleted=permanent)
        if not self.state.has_subject(subject, deleted=True):
            raise subject_not_found(subject)
        if not versions:
            raise subject_soft_deleted(subject)
        self.scope.check_writable(subject)
        if any(found["subject"] == subject for found in list(self.state.associations.values())):
            raise subject_associated(subject)
        for schema in versions:
            referrers = self.state.referrers(subject, schema.version, deleted=permanent)
            if any(referrer.subject != subject for referrer in referrers):
                raise referenced(subject, schema.version)
            if permanent and not schema.deleted:
                raise subject_not_soft_deleted(subject)
        numbers = [schema.version for schema in versions]
        if not permanent:
            return Decision(numbers, (DeleteSubjectFact(subject, numbers[-1]),))
        # The newest first: a newer version of the same subject may refer to an older one.
        gone: list[Fact] = [SchemaFact(subject, number, None) for number in reversed(numbers)]
        return Decision(numbers, (self._ids_kept(subject), *gone, *self._settings_gone(subject)))

    def decide_delete_context(self, context: str) -> Decision[None]:
        if self.state.matching(prefix_of(context)):
            raise context_not_empty(context)
        return Decision(None, (ContextFact(context, is_there=False),))

    def _doomed(self, subject: str, version: int, *, permanent: bool) -> StoredSchema:
        schema = self.state.version(subject, version, deleted=True)
        if schema is None:
            if self.state.has_subject(subject, deleted=True):
                raise version_not_found(version)
            raise subject_not_found(subject)
        if schema.deleted and not permanent:
            raise version_soft_deleted(subject, schema.version)
        return schema

    def _ids_kept(self, subject: str) -> IdsFact:
        context = context_of(subject)
        return IdsFact(context, self.state.id_max(context))

    def _settings_gone(self, subject: str) -> list[Fact]:
        facts: list[Fact] = []
        if subject in self.state.modes:
            facts.append(ModeFact(subject, None))
        if subject in self.state.configs:
            facts.append(ConfigFact(subject, None))
        return facts
