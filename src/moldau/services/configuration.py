"""The texts of a service's settings, from a properties file and from `--override`, with the place of every mistake."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties
from moldau.core.settings.text_form import format_value
from moldau.core.settings.view import SettingsView, nearest_text


def read_file(path: str | None) -> str:
    """The text of a settings file; without a path, no text. Raises ConfigError."""
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the configuration file {path} is not UTF-8 text: {error.reason}") from None


def setting_texts(
    view: type[SettingsView],
    text: str,
    *,
    file: str,
    overrides: Sequence[str],
    command: str,
    prefixes: tuple[str, ...] = (),
    without_effect: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
    resolved_later: str | None = None,
) -> dict[str, str]:
    """All settings as texts by name; later ones win. `prefixes` and `without_effect` are names that may appear although
    the view does not declare them. A value that contains `resolved_later` is checked when it is resolved. Raises
    ConfigError with the file and line, or the override."""
    found = [(name, value, f"{file}, line {line}") for name, value, line in parse_properties(text, file=file)]
    for override in overrides:
        name, separator, value = override.partition("=")
        if not separator or not name.strip():
            raise ConfigError(
                f"--override {override!r} does not have the form key=value, for example "
                f"{next(iter(view.KEYS))}=..."
            )
        found.append((name.strip(), value.strip(), f"--override {override}"))
    texts: dict[str, str] = {}
    for given, value, where in found:
        name = (renamed or {}).get(given, given)
        key = view.KEYS.get(name)
        if key is None and name not in without_effect and not name.startswith(prefixes):
            raise ConfigError(f"{where}: unknown setting {name}{_hint(view, name, command)}")
        if key is not None and (resolved_later is None or resolved_later not in value):
            try:
                key.parse(value)
            except ConfigError as error:
                raise ConfigError(f"{where}: {error}") from None
        texts[name] = value
    return texts


def _hint(view: type[SettingsView], name: str, command: str) -> str:
    elsewhere: Mapping[str, str] = getattr(view, "ELSEWHERE", {})
    if name in elsewhere:
        return f": {elsewhere[name]}"
    return nearest_text(name, view.KEYS) or f"; `{command} --list-settings` prints the known ones"


def settings_template(view: type[SettingsView]) -> str:
    """All settings, as a properties file with their defaults."""
    return "\n\n".join(
        f"# {key.doc}\n#{key.name}={format_value(key.default) or ''}" for key in view.KEYS.values()
    )
