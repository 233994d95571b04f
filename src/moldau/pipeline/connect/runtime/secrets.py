"""Resolves `${file:/path:key}`, `${env:NAME}` and `${directory:/path:name}` in a configuration, as Kafka's config
providers do, and hides what they gave in every message.

Only providers that the worker's `config.providers` names are used: a text that refers to another one stays as it is.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties
from moldau.core.settings.text_form import ConfigType
from moldau.pipeline.connect.api import Connector
from moldau.pipeline.connect.declarations import sounds_secret
from moldau.pipeline.connect.runtime.url_passwords import passwords_in

HIDDEN: Final = "[hidden]"
MASKED_CHARACTERS_MIN: Final = 3
"""Shorter values would blot out half of every message."""

_REFERENCE: Final = re.compile(r"\$\{([^}:]+):(?:([^}]*):)?([^}:]*)\}")
_KINDS: Final = {
    "fileconfigprovider": "file",
    "directoryconfigprovider": "directory",
    "envvarconfigprovider": "env",
}

_LIKELY: Final = {
    "file": "FileConfigProvider",
    "directory": "DirectoryConfigProvider",
    "dir": "DirectoryConfigProvider",
    "env": "EnvVarConfigProvider",
}
"""The class that a provider of this name is meant to have. Other texts of this form may be meant as they are."""


@dataclass(frozen=True, slots=True)
class Resolved:
    config: Mapping[str, str]
    secrets: frozenset[str] = frozenset()

    def mask(self, text: str) -> str:
        """The text without the values of secrets."""
        # Longest first: a secret may contain another one.
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text


def resolve(
    config: Mapping[str, str], providers: Mapping[str, str], sensitive: Iterable[str] = ()
) -> Resolved:
    """`sensitive` are the names of passwords: their values are hidden too. Raises ConfigError for a reference that
    leads nowhere."""
    readers = _readers(providers)
    secrets: set[str] = set()

    def value_of(found: re.Match[str], name: str) -> str:
        reader = readers.get(found[1])
        if reader is None:
            return found[0]
        value = reader(found[2] or "", found[3], f"{name}: {found[0]}")
        secrets.add(value)
        return value

    resolved = {
        name: _REFERENCE.sub(lambda found, name=name: value_of(found, name), text)  # type: ignore[misc]
        for name, text in config.items()
    }
    secrets |= {resolved[name] for name in sensitive if name in resolved}
    for text in resolved.values():
        secrets |= passwords_in(text)
    return Resolved(resolved, frozenset(one for one in secrets if len(one) >= MASKED_CHARACTERS_MIN))


def unresolved_text(config: Mapping[str, str], providers: Mapping[str, str]) -> str:
    """Of references that stay as they are, because the worker has no such provider. Empty: there are none."""
    known = _names(providers)
    for name, text in config.items():
        for found in _REFERENCE.finditer(text):
            if found[1] not in known and (kind := _LIKELY.get(found[1].lower())):
                return (
                    f"{name} has {found[0]} as a text, because the worker has no config provider {found[1]!r}: set "
                    f"config.providers={','.join([*known, found[1]])} and config.providers.{found[1]}.class={kind} in "
                    "the worker's settings"
                )
    return ""


def sensitive_names(kind: type[Connector], config: Iterable[str]) -> set[str]:
    """The names of settings whose values are passwords."""
    declared = {one.name for one in kind.declarations if one.key.type is ConfigType.PASSWORD}
    return declared | {name for name in config if sounds_secret(name)}


_Reader = Callable[[str, str, str], str]
"""(path, key, the reference in words) -> value"""


def _names(providers: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in providers.get("config.providers", "").split(",") if name.strip()]


def _readers(providers: Mapping[str, str]) -> dict[str, _Reader]:
    readers: dict[str, _Reader] = {}
    for name in _names(providers):
        prefix = f"config.providers.{name}."
        label = providers.get(f"{prefix}class", "")
        kind = _KINDS.get(label.rpartition(".")[2].lower())
        if kind is None:
            raise ConfigError(
                f"{prefix}class is {label!r}: the worker knows FileConfigProvider, DirectoryConfigProvider and "
                "EnvVarConfigProvider"
            )
        allowed = providers.get(f"{prefix}param.allowed.paths", "")
        if kind == "env":
            readers[name] = _from_environment(providers.get(f"{prefix}param.allowlist.pattern", ".*"))
        else:
            readers[name] = _from_file(allowed) if kind == "file" else _from_directory(allowed)
    return readers


def _from_file(allowed: str) -> _Reader:
    def read(path: str, key: str, reference: str) -> str:
        text = _read(_allowed(path, allowed, reference), reference)
        values = {one.name: one.value for one in parse_properties(text, file=path)}
        if key not in values:
            raise ConfigError(f"{reference}: the file has no property {key!r}")
        return values[key]

    return read


def _from_directory(allowed: str) -> _Reader:
    def read(path: str, key: str, reference: str) -> str:
        if "/" in key:
            raise ConfigError(f"{reference}: {key!r} is not the name of a file in the directory")
        return _read(_allowed(str(Path(path, key)), allowed, reference), reference)

    return read


def _from_environment(pattern: str) -> _Reader:
    def read(path: str, key: str, reference: str) -> str:
        value = os.environ.get(key)
        if path or value is None or not re.fullmatch(pattern, key):
            raise ConfigError(
                f"{reference}: the worker has no environment variable {key!r} that connectors may use"
            )
        return value

    return read


def _allowed(path: str, allowed: str, reference: str) -> Path:
    real = Path(path).resolve()
    folders = [Path(one.strip()).resolve() for one in allowed.split(",") if one.strip()]
    if folders and not any(real == folder or folder in real.parents for folder in folders):
        raise ConfigError(f"{reference}: the worker's param.allowed.paths do not include this path")
    return real


def _read(path: Path, reference: str) -> str:
    try:
        return path.read_text()
    except OSError as failure:
        raise ConfigError(f"{reference}: the file cannot be read: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{reference}: the file is not UTF-8 text") from None
