"""Changes configurations and modes of a subject, of a context, or of the whole registry. Decisions only."""

from typing import Any, NamedTuple

from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.scope import Scope
from moldau.registry.entities import Json, check_rule_set, metadata_from_json, rule_set_from_json
from moldau.registry.failures import (
    COMPATIBILITY_LEVELS,
    MODES,
    invalid_compatibility,
    invalid_mode,
    invalid_subject,
    not_permitted,
    referenced,
    subject_not_found,
    unprocessable,
)
from moldau.registry.log.records import (
    CONFIG_FIELDS,
    ClearSubjectFact,
    ConfigFact,
    Fact,
    IdsFact,
    ModeFact,
    SchemaFact,
)
from moldau.registry.state import RegistryState
from moldau.registry.subjects import GLOBAL_CONTEXT, context_of, is_context, is_valid, prefix_of


class Governance(NamedTuple):
    state: RegistryState
    scope: Scope
    is_mode_mutable: bool = True

    def decide_config(self, subject: str | None, body: object) -> Decision[Json]:
        """Fields that are left out keep their value; null removes one. The answer is the whole configuration."""
        changes = config_changes(body)
        _check_subject(subject)
        self.scope.check_writable(subject)
        merged = {**self.state.configs.get(subject, {}), **changes}
        config = {field: value for field, value in merged.items() if value is not None}
        return Decision(config, (ConfigFact(subject, config),))

    def decide_delete_config(self, subject: str | None) -> Decision[Json]:
        config = self.scope.own_config(subject)
        if config is None:
            raise subject_not_found(subject)
        self.scope.check_writable(subject)
        return Decision(config, (ConfigFact(subject, None),))

    def decide_mode(self, subject: str | None, body: object, *, force: bool) -> Decision[str | None]:
        """An import starts with an empty subject: soft-deleted versions are removed for good, live ones prevent it."""
        _check_subject(subject)
        mode = _mode(body)
        if mode == "FORWARD" and subject != prefix_of(GLOBAL_CONTEXT):
            raise invalid_mode("Forward mode only supported on global level")
        self._check_mutable()
        facts: list[Fact] = []
        if mode == "IMPORT" and self.scope.mode(subject) != "IMPORT" and not force:
            facts = self._emptied(subject)
        return Decision(mode, (*facts, ModeFact(subject, mode)))

    def decide_delete_mode(self, subject: str | None, *, recursive: bool) -> Decision[str | None]:
        mode = self.scope.own_mode(subject)
        if mode is None and not recursive:
            raise subject_not_found(subject)
        self._check_mutable()
        facts: list[Fact] = [ModeFact(subject, None)]
        if recursive and (subject is None or is_context(subject)):
            facts += [
                ModeFact(other, None)
                for other in list(self.state.modes)
                if other is not None and other != subject and context_of(other) == context_of(subject)
            ]
        return Decision(mode, tuple(facts))

    def _check_mutable(self) -> None:
        if not self.is_mode_mutable:
            raise not_permitted("Mode changes are not allowed (mode.mutability=false)")

    def _emptied(self, subject: str | None) -> list[Fact]:
        subjects = self.state.matching(subject)
        if any(self.state.has_subject(found) for found in subjects):
            raise not_permitted("Cannot import since found existing subjects")
        facts: list[Fact] = []
        for context in sorted({context_of(found) for found in subjects}):
            facts.append(IdsFact(context, self.state.id_max(context)))
        for found in subjects:
            for schema in self.state.versions(found, deleted=True):
                if self.state.referrers(found, schema.version, deleted=True):
                    raise referenced(found, schema.version)
                facts.append(SchemaFact(found, schema.version, None))
        return [*facts, ClearSubjectFact(subject)]


def config_changes(body: object) -> Json:
    """Returns the checked fields of a request. Requests say `compatibility` where answers say `compatibilityLevel`."""
    if not isinstance(body, dict):
        raise unprocessable('The body must be a JSON object such as {"compatibility": "FULL"}.')
    changes: Json = {}
    for field, value in body.items():
        name = "compatibilityLevel" if field == "compatibility" else field
        is_said_otherwise = field == "compatibilityLevel" and "compatibility" in body
        if name in CONFIG_FIELDS and not is_said_otherwise:
            changes[name] = None if value is None else _config_value(name, value)
    return changes


def config_answer(config: Json) -> Json:
    """The answer to an update."""
    return {
        "compatibility" if field == "compatibilityLevel" else field: value for field, value in config.items()
    }


def _config_value(name: str, value: Any) -> Any:
    if name == "compatibilityLevel":
        level = value.upper() if isinstance(value, str) else value
        if level not in COMPATIBILITY_LEVELS:
            raise invalid_compatibility()
        return level
    if name.endswith("Metadata"):
        return metadata_from_json(value)
    if name.endswith("RuleSet"):
        rule_set = rule_set_from_json(value)
        check_rule_set(rule_set)
        return rule_set
    expected = bool if name in ("normalize", "validateFields", "validateNewSchemas", "validateRules") else str
    if not isinstance(value, expected):
        kind = "true or false" if expected is bool else "a string"
        raise unprocessable(f"The field '{name}' must be {kind}, but is {value!r}.")
    return value


def _mode(body: object) -> str | None:
    if not isinstance(body, dict):
        raise unprocessable('The body must be a JSON object such as {"mode": "READONLY"}.')
    mode = body.get("mode")
    if mode is None:
        return None
    upper = mode.upper() if isinstance(mode, str) else mode
    if upper not in MODES:
        raise invalid_mode()
    return str(upper)


def _check_subject(subject: str | None) -> None:
    if subject is not None and not is_valid(subject, for_settings=True):
        raise invalid_subject(subject)
