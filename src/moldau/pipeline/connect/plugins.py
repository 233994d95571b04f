"""Finds connectors by name: Java class names with or without package, aliases, Python paths, entry points.

The connectors that come with the platform are the classes in `connectors/*/source.py` and `connectors/*/sink.py`. They
are imported when the first name is looked up. A connector whose library is missing is listed with the reason, and does
not break the others. Packages of users name theirs under the entry point group `moldau.connectors`.
"""

import inspect
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, Final, Literal

from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect import connectors
from moldau.pipeline.connect.api import Connector, SinkConnector, SourceConnector

ENTRY_POINT_GROUP: Final = "moldau.connectors"
SUFFIX: Final = "Connector"
MODULES: Final = ("source", "sink")

Kind = Literal["source", "sink"]


@dataclass(frozen=True, slots=True)
class ConnectorPlugin:
    connector: type[Connector]

    @property
    def kind(self) -> Kind:
        return "source" if issubclass(self.connector, SourceConnector) else "sink"

    @property
    def path(self) -> str:
        """What imports it in another process."""
        return f"{self.connector.__module__}:{self.connector.__qualname__}"

    @property
    def class_name(self) -> str:
        """The full name that is shown: that of the Java connector it stands for, or its own."""
        qualified = (name for name in self.connector.aliases if "." in name)
        return next(qualified, self.path.replace(":", "."))

    @property
    def names(self) -> frozenset[str]:
        """Everything that `connector.class` may say."""
        full = {self.class_name, self.path, self.path.replace(":", "."), *self.connector.aliases}
        simple = {name.rpartition(":")[2].rpartition(".")[2] for name in full}
        return frozenset(full | simple | {name.removesuffix(SUFFIX) for name in simple})


class UnknownPlugin(ConfigError):
    """There is no plugin with this name."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A connector that cannot be imported here."""

    name: str
    reason: str


def find_connector(name: str) -> ConnectorPlugin:
    """Raises UnknownPlugin, which names those that exist."""
    asked = name.strip()
    known, missing = installed()
    matches = {one.path: one for one in known if asked in one.names}
    if not matches and (found := _imported(asked)) is not None:
        return found
    if not matches:
        raise UnknownPlugin(_unknown(asked, known, missing))
    exact = [one for one in matches.values() if asked in (one.class_name, one.path)]
    if len(matches) > 1 and len(exact) != 1:
        raise UnknownPlugin(
            f"More than one connector matches alias {asked}. Please use full package and class name instead. "
            f"Classes found: {', '.join(sorted(matches))}"
        )
    return exact[0] if exact else next(iter(matches.values()))


@lru_cache(maxsize=1)
def installed() -> tuple[tuple[ConnectorPlugin, ...], tuple[Missing, ...]]:
    """Those of the platform and of entry points, in the order of their names."""
    found: dict[str, ConnectorPlugin] = {}
    missing = []
    for source, load in _candidates():
        try:
            classes = list(load())
        except ImportError as failure:
            library = (failure.name or "").partition(".")[0]
            missing.append(Missing(source, f"it needs {library or 'a library'}: {failure}"))
        except Exception as failure:  # noqa: BLE001 a user's package; the others must not fail with it
            missing.append(Missing(source, f"{type(failure).__name__}: {failure}"))
        else:
            found |= {plugin.path: plugin for plugin in map(ConnectorPlugin, classes)}
    return tuple(sorted(found.values(), key=lambda one: one.class_name)), tuple(missing)


def _candidates() -> Iterator[tuple[str, Any]]:
    """A name for people, and a function that imports the classes."""
    for package in pkgutil.iter_modules(connectors.__path__):
        for module in MODULES:
            path = f"{connectors.__name__}.{package.name}.{module}"
            if package.ispkg and find_spec(path) is not None:
                yield f"{package.name} {module}", lambda path=path: _classes_of(import_module(path))
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        yield f"{point.name} ({point.value})", lambda point=point: _loaded(point)


def _classes_of(module: Any) -> Iterator[type[Connector]]:
    for value in vars(module).values():
        if is_connector(value) and value.__module__ == module.__name__:
            yield value


def _loaded(point: metadata.EntryPoint) -> Iterator[type[Connector]]:
    """An entry point names a class, or a module with classes."""
    value = point.load()
    if inspect.ismodule(value):
        yield from _classes_of(value)
    elif is_connector(value):
        yield value
    else:
        raise ConfigError(
            f"{value!r} is no connector: derive its class from SourceConnector or SinkConnector"
        )


def is_connector(value: object) -> bool:
    """Whether it can be run: it says what its tasks are."""
    return (
        inspect.isclass(value)
        and issubclass(value, SourceConnector | SinkConnector)
        and hasattr(value, "task_class")
    )


def connector_at(path: str) -> type[Connector]:
    """The class by `ConnectorPlugin.path`, without a look at other connectors. Raises UnknownPlugin."""
    found = _imported(path)
    if found is None:
        raise UnknownPlugin(
            f"The connector {path} cannot be imported here: install its package where Spark's workers run"
        )
    return found.connector


def _imported(name: str) -> ConnectorPlugin | None:
    """A class by its Python path, `module:Class` or `module.Class`."""
    module, separator, attribute = name.partition(":") if ":" in name else name.rpartition(".")
    if not separator or not all(part.isidentifier() for part in (*module.split("."), attribute)):
        return None
    try:
        value = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as failure:
        if failure.name is not None and (module == failure.name or module.startswith(f"{failure.name}.")):
            return None
        raise UnknownPlugin(f"The connector {name} cannot be imported: {failure}") from failure
    except Exception as failure:
        raise UnknownPlugin(
            f"The connector {name} cannot be imported: {type(failure).__name__}: {failure}"
        ) from failure
    return ConnectorPlugin(value) if value is not None and is_connector(value) else None


def _unknown(asked: str, known: Sequence[ConnectorPlugin], missing: Iterable[Missing]) -> str:
    nearest = nearest_text(asked, {name for one in known for name in one.names})
    unusable = "".join(f". Not usable here: {one.name}, {one.reason}" for one in missing)
    return (
        f"Failed to find any class that implements Connector and which name matches {asked}{nearest or ''}, "
        f"available connectors are: {', '.join(one.class_name for one in known)}{unusable}"
    )
