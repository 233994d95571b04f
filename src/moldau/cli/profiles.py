"""Named clusters: their addresses and client properties.

Owns the file `profiles.toml` in the user's configuration directory. It may contain passwords, so only the user may
read it.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from moldau.cli.failures import Failure, similar_names

BOOTSTRAP_SERVERS = "bootstrap.servers"
FILE_MODE = 0o600


def profiles_path() -> Path:
    return Path(click.get_app_dir("moldau")) / "profiles.toml"


@dataclass(frozen=True)
class Profiles:
    """Each profile is a set of client properties, `bootstrap.servers` among them."""

    current: str | None = None
    named: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def get(self, name: str) -> Mapping[str, str]:
        if name not in self.named:
            similar = " or ".join(f"'{each}'" for each in similar_names(name, self.named))
            known = f"Did you mean {similar}?" if similar else "`moldau profile list` lists them."
            hint = (
                known
                if self.named
                else f"Create it: `moldau profile add {name} --bootstrap-server HOST:PORT`."
            )
            raise Failure(f"there is no profile '{name}'.", hint)
        return self.named[name]

    def with_profile(self, name: str, properties: Mapping[str, str]) -> "Profiles":
        return replace(self, named={**self.named, name: dict(properties)})

    def without(self, name: str) -> "Profiles":
        self.get(name)
        left = {other: properties for other, properties in self.named.items() if other != name}
        return Profiles(None if self.current == name else self.current, left)

    def using(self, name: str | None) -> "Profiles":
        if name is not None:
            self.get(name)
        return replace(self, current=name)

    @classmethod
    def load(cls) -> "Profiles":
        path = profiles_path()
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
            named = {
                name: {key: str(value) for key, value in properties.items()}
                for name, properties in found.get("profiles", {}).items()
            }
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError) as error:
            raise Failure(
                f"the profiles in {path} cannot be read: {error}.", "Correct or delete the file."
            ) from error
        return cls(found.get("current"), named)

    def save(self) -> None:
        path = profiles_path()
        beside = path.with_suffix(".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.unlink(missing_ok=True)
            with os.fdopen(
                os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w", encoding="utf-8"
            ) as file:
                file.write(self.as_toml())
            beside.replace(path)
        except OSError as error:
            raise Failure(f"the profiles cannot be written to {path}: {error}.") from error

    def as_toml(self) -> str:
        lines = [f"current = {_quoted(self.current)}"] if self.current is not None else []
        for name, properties in sorted(self.named.items()):
            lines += ["", f"[profiles.{_quoted(name)}]"]
            lines += [f"{_quoted(key)} = {_quoted(value)}" for key, value in properties.items()]
        return "\n".join([*lines, ""]).lstrip("\n")


def _quoted(text: str) -> str:
    """JSON strings are valid in TOML, except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
