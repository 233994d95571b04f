"""Files that describe one connector: properties, JSON or YAML. For standalone workers and the command line. Pure."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath
from typing import Any, Final, NamedTuple

import orjson

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties
from moldau.pipeline.connect.server.failures import RequestFailure
from moldau.pipeline.connect.server.http.bodies import read_config
from moldau.pipeline.connect.server.state.config_records import Texts

PROPERTIES: Final = ".properties"
YAML: Final = (".yaml", ".yml")


class GivenConnector(NamedTuple):
    """`config` has the name too."""

    file: str
    config: Texts
    initial_state: str | None = None

    @property
    def name(self) -> str:
        return self.config.get("name", "")


def read_connector(file: str, text: str) -> GivenConnector:
    """The kind of file is told by its name; another one is YAML, of which JSON is a part. Raises ConfigError with the
    file and, where it is known, the line."""
    suffix = PurePath(file).suffix.lower()
    if suffix == PROPERTIES:
        return GivenConnector(file, {name: value for name, value, _ in parse_properties(text, file=file)})
    return _of_document(file, _json(file, text) if suffix == ".json" else _yaml(file, text))


def _of_document(file: str, found: Any) -> GivenConnector:
    """Either the settings, or what a new connector is requested with: `name`, `config`, `initial_state`."""
    if not isinstance(found, Mapping):
        raise ConfigError(
            f"{file}: a connector is described by an object with its settings, or with `name` and `config`"
        )
    config, initial = found, None
    if isinstance(found.get("config"), Mapping):
        config = {"name": found.get("name"), **found["config"]}
        initial = found.get("initial_state")
        if more := sorted(map(str, found.keys() - {"name", "config", "initial_state", "tasks", "type"})):
            raise ConfigError(f"{file}: unknown entries beside `config`: {', '.join(more)}")
    try:
        texts = read_config({str(name): value for name, value in config.items()})
    except RequestFailure as wrong:
        raise ConfigError(f"{file}: {wrong.message}") from None
    return GivenConnector(file, texts, None if initial is None else str(initial))


def _json(file: str, text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise ConfigError(f"{file} is not JSON: {wrong}") from None


def _yaml(file: str, text: str) -> Any:
    """All scalars stay texts, as they are written: `on`, `010` and dates are settings, not YAML's own types."""
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise ConfigError(
            f"{file}: YAML needs the package PyYAML: pip install pyyaml. Or write the connector as JSON or .properties"
        ) from None
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as wrong:
        raise ConfigError(f"{file} is not YAML: {wrong}") from None
