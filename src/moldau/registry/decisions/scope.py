"""Which configuration and mode apply to a subject: its own, its context's, or the global ones. Pure."""

from typing import Any, Final, NamedTuple

from moldau.registry.entities import Json
from moldau.registry.failures import not_permitted
from moldau.registry.state import RegistryState
from moldau.registry.subjects import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    context_of,
    has_prefix,
    in_context_of,
    prefix_of,
)

READ_ONLY_MODES: Final = frozenset({"READONLY", "READONLY_OVERRIDE"})
IMPORT_MODES: Final = frozenset({"IMPORT", "FORWARD"})
INHERITED: Final = (
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    "compatibilityPolicy",
    "compatibilityGroup",
)
"""Fields that a subject's own configuration inherits from the global one. All others come from its own."""

DEFAULTS: Final = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
"""Fields that add something to every new version."""


class Scope(NamedTuple):
    state: RegistryState
    default_level: str
    default_validates_fields: bool = False
    default_validates_new: bool = True

    def own_config(self, subject: str | None) -> Json | None:
        """Returns the configuration set for the subject itself. The global one always exists."""
        config = self.state.configs.get(subject)
        if config is None:
            is_top = subject is None or context_of(subject) == GLOBAL_CONTEXT
            return {"compatibilityLevel": self.default_level} if is_top else None
        return {"compatibilityLevel": self.default_level, **config}

    def config(self, subject: str | None) -> Json:
        own = None if subject is None else self.own_config(subject)
        if own is None:
            return self._outer(self.state.configs, subject) or {"compatibilityLevel": self.default_level}
        top = self.own_config(None) or {}
        return {**{field: top[field] for field in INHERITED if field in top}, **own}

    def own_mode(self, subject: str | None) -> str | None:
        mode = self.state.modes.get(subject)
        is_top = subject is None or context_of(subject) == GLOBAL_CONTEXT
        return mode or ("READWRITE" if is_top else None)

    def mode(self, subject: str | None) -> str:
        if self.state.modes.get(None) == "READONLY_OVERRIDE":
            return "READONLY_OVERRIDE"
        return self.state.modes.get(subject) or self._outer(self.state.modes, subject) or "READWRITE"

    def level(self, subject: str) -> str:
        return str(self.config(subject).get("compatibilityLevel") or self.default_level)

    def validates_fields(self, subject: str) -> bool:
        """Whether field names are checked against the reserved ones."""
        found = self.config(subject).get("validateFields")
        return self.default_validates_fields if found is None else bool(found)

    def validates_new(self, subject: str) -> bool:
        """Whether Avro's names and defaults are checked in new versions."""
        found = self.config(subject).get("validateNewSchemas")
        return self.default_validates_new if found is None else bool(found)

    def check_writable(self, subject: str | None) -> None:
        if self.mode(subject) in READ_ONLY_MODES:
            whole = (
                "The registry" if subject is None else f"Subject {subject} in context {context_of(subject)}"
            )
            raise not_permitted(f"{whole} is in read-only mode")

    def alias(self, subject: str) -> str:
        """Resolves an alias, which is in its own context unless it names another."""
        meant = (self.state.configs.get(subject) or {}).get("alias")
        return in_context_of(subject, meant) if meant else subject

    def aliases(self, prefix: str) -> dict[str, list[str]]:
        """The aliases that a search for `prefix` finds, grouped by the subjects they stand for."""
        found: dict[str, list[str]] = {}
        for alias, config in sorted(
            (name, config) for name, config in list(self.state.configs.items()) if name is not None
        ):
            if config.get("alias") and has_prefix(alias, prefix):
                found.setdefault(self.alias(alias), []).append(alias)
        return found

    def _outer(self, table: dict[str | None, Any], subject: str | None) -> Any:
        context = context_of(subject)
        outer = None if context == DEFAULT_CONTEXT else prefix_of(context)
        found = table.get(outer) or table.get(prefix_of(GLOBAL_CONTEXT))
        if found is None or isinstance(found, str):
            return found
        return {"compatibilityLevel": self.default_level, **found}
