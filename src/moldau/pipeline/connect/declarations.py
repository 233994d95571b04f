"""What a plugin can be configured with: one declaration per setting, good enough to draw a form.

A plugin lists `Declaration`s. `values_of` parses a configuration with them, `validate` answers for each setting what is
wrong with its value, in the form of Kafka Connect's `config/validate`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from moldau.core.errors import ConfigError
from moldau.core.settings.key import ConfigKey, password, string
from moldau.core.settings.view import nearest_text

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Declaration:
    """`key` has name, type, default, checks, importance and documentation."""

    key: ConfigKey[Any]
    is_required: bool = False
    """There is no default: a configuration without it is refused."""
    group: str = "Common"
    width: str = "MEDIUM"
    display_name: str = ""
    dependents: tuple[str, ...] = ()
    """Settings whose recommended values or visibility follow this one."""
    recommends: Callable[[Texts], Sequence[str]] | None = None
    """Values to choose from, given the rest of the configuration."""
    is_visible: Callable[[Texts], bool] | None = None

    @property
    def name(self) -> str:
        return self.key.name


def open_declarations(config: Texts, is_open: Callable[[str], bool], doc: str) -> list[Declaration]:
    """Of the settings that a configuration has under names that are not known in advance. Values of those that sound
    like secrets are hidden."""
    return [
        Declaration(password(name, doc) if sounds_secret(name) else string(name, "", doc), group="More")
        for name in config
        if is_open(name)
    ]


def sounds_secret(name: str) -> bool:
    """Settings of clients, catalogs and registries are not declared by the connector."""
    return name.lower().endswith(
        (
            "password",
            "secret",
            "jaas.config",
            "user.info",
            "ssl.keystore.key",
            "token",
            "credential",
            "secret-access-key",
            "secret.access.key",
        )
    )


@dataclass(slots=True)
class ConfigValue:
    """One setting of a configuration, as validated."""

    name: str
    value: str | None
    recommended: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    is_visible: bool = True


def values_of(declarations: Sequence[Declaration], texts: Texts, *, of: str) -> dict[str, Any]:
    """Parsed values by name, defaults included. Unknown names are not an error: a connector's configuration has its
    worker's settings too. Raises ConfigError for a wrong or missing value; `of` names the plugin."""
    values = {}
    for one in declarations:
        text = texts.get(one.name)
        if text is None and one.is_required:
            raise ConfigError(
                f'{of}: missing required configuration "{one.name}" which has no default value.'
            )
        values[one.name] = one.key.default if text is None else one.key.parse(text)
    return values


def validate(declarations: Sequence[Declaration], texts: Texts) -> list[ConfigValue]:
    """In the order of the declarations. Reports all errors at once."""
    return [_validated(one, texts) for one in declarations]


def unknown_names(declarations: Sequence[Declaration], texts: Texts) -> dict[str, str]:
    """Names nobody has declared, each with a text that suggests the nearest one."""
    known = {one.name for one in declarations}
    return {
        name: f"Unknown configuration {name}{nearest_text(name, known)}"
        for name in texts
        if name not in known
    }


def _validated(declaration: Declaration, texts: Texts) -> ConfigValue:
    text = texts.get(declaration.name)
    found = ConfigValue(declaration.name, text)
    if declaration.recommends is not None:
        found.recommended = list(declaration.recommends(texts))
    if declaration.is_visible is not None:
        found.is_visible = declaration.is_visible(texts)
    if text is not None:
        try:
            declaration.key.parse(text)
        except ConfigError as error:
            found.errors.append(str(error))
    elif declaration.is_required:
        found.errors.append(
            f'Missing required configuration "{declaration.name}" which has no default value.'
        )
    return found
