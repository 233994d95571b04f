"""All transformations and predicates by their names. Those of users come from entry points or by their Python path.

Kafka's have the class names of Java, with or without the package: `org.apache.kafka.connect.transforms.Cast$Value`,
`Cast$Value`. Where there is a key and a value, `Cast` alone is the value.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.transforms.cast import Cast
from moldau.pipeline.connect.transforms.extract_field import ExtractField
from moldau.pipeline.connect.transforms.filter import Filter
from moldau.pipeline.connect.transforms.flatten import Flatten
from moldau.pipeline.connect.transforms.header_from import HeaderFrom
from moldau.pipeline.connect.transforms.headers import DropHeaders, InsertHeader
from moldau.pipeline.connect.transforms.hoist_field import HoistField
from moldau.pipeline.connect.transforms.insert_field import InsertField
from moldau.pipeline.connect.transforms.mask_field import MaskField
from moldau.pipeline.connect.transforms.predicates import (
    HasHeaderKey,
    Predicate,
    RecordIsTombstone,
    TopicNameMatches,
)
from moldau.pipeline.connect.transforms.replace_field import ReplaceField
from moldau.pipeline.connect.transforms.routers import RegexRouter, TimestampRouter
from moldau.pipeline.connect.transforms.set_schema_metadata import SetSchemaMetadata
from moldau.pipeline.connect.transforms.timestamp_converter import TimestampConverter
from moldau.pipeline.connect.transforms.transformation import VALUE, Transformation
from moldau.pipeline.connect.transforms.value_to_key import ValueToKey

ENTRY_POINT_GROUP: Final = "moldau.transforms"
TRANSFORMATIONS: Final[tuple[type[Transformation], ...]] = (
    Cast,
    DropHeaders,
    ExtractField,
    Filter,
    Flatten,
    HeaderFrom,
    HoistField,
    InsertField,
    InsertHeader,
    MaskField,
    RegexRouter,
    ReplaceField,
    SetSchemaMetadata,
    TimestampConverter,
    TimestampRouter,
    ValueToKey,
)
PREDICATES: Final[tuple[type[Predicate], ...]] = (TopicNameMatches, HasHeaderKey, RecordIsTombstone)


@dataclass(frozen=True, slots=True)
class Kind:
    """A class, and the part of the record that its name says."""

    transformation: type[Transformation]
    part: str = ""

    @property
    def class_name(self) -> str:
        return self.transformation.java_name(self.part)


def all_kinds() -> dict[str, Kind]:
    """Kafka's and those of entry points, by the name that is shown."""
    return {kind.class_name: kind for found in _classes(Transformation) for kind in _kinds(found)}


def transformation_kind(name: str) -> Kind:
    """Raises ConfigError."""
    wanted = name.strip()
    by_name = _transformations_by_name()
    if wanted in by_name:
        return by_name[wanted]
    module, _, part = wanted.partition("$")
    found = _imported(module, Transformation)
    if found is None or (part and part not in found.parts):
        raise _unknown(wanted, "transformation", sorted(all_kinds()))
    return Kind(found, part or (VALUE if found.parts else ""))


def predicate_class(name: str) -> type[Predicate]:
    """Raises ConfigError."""
    wanted = name.strip()
    for one in _classes(Predicate):
        if wanted in (one.java_name(), one.__name__, f"{one.__module__}:{one.__name__}"):
            return one
    found: type[Predicate] | None = _imported(wanted, Predicate)
    if found is None:
        raise _unknown(wanted, "predicate", [one.java_name() for one in PREDICATES])
    return found


@lru_cache(maxsize=1)
def _transformations_by_name() -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for one in _classes(Transformation):
        for kind in _kinds(one):
            path = f"{one.__module__}:{one.__qualname__}"
            found[kind.class_name] = found[one.title(kind.part)] = kind
            if kind.part in ("", VALUE):
                found[one.java_name("")] = found[one.__name__] = found[path] = kind
    return found


def _kinds(found: type[Transformation]) -> Iterator[Kind]:
    for part in found.parts or ("",):
        yield Kind(found, part)


def _classes(kind: type[Any]) -> list[type[Any]]:
    """Kafka's come first. An entry point that cannot be loaded is left to the one who names it."""
    own = TRANSFORMATIONS if kind is Transformation else PREDICATES
    return [*own, *(one for one in _of_entry_points() if issubclass(one, kind))]


@lru_cache(maxsize=1)
def _of_entry_points() -> tuple[type[Any], ...]:
    found = []
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            loaded = point.load()
        except Exception:  # noqa: BLE001, S112 a user's package; the others must not fail with it
            continue
        if inspect.isclass(loaded) and issubclass(loaded, Transformation | Predicate):
            found.append(loaded)
    return tuple(found)


def _imported(name: str, kind: type[Any]) -> type[Any] | None:
    """A class by its Python path, `module:Class` or `module.Class`. None where there is none."""
    module, separator, attribute = name.partition(":") if ":" in name else name.rpartition(".")
    if not separator or not all(part.isidentifier() for part in (*module.split("."), attribute)):
        return None
    try:
        found = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as failure:
        if failure.name is not None and (module == failure.name or module.startswith(f"{failure.name}.")):
            return None
        raise ConfigError(f"The class {name} cannot be imported: {failure}") from failure
    except Exception as failure:
        raise ConfigError(
            f"The class {name} cannot be imported: {type(failure).__name__}: {failure}"
        ) from failure
    if inspect.isclass(found) and issubclass(found, kind) and not inspect.isabstract(found):
        return found
    return None


def _unknown(name: str, what: str, known: list[str]) -> ConfigError:
    short = [one.rpartition(".")[2] for one in known]
    return ConfigError(
        f"Class {name} could not be found: it is no {what}{nearest_text(name.rpartition('.')[2], short)}. There are "
        f"{', '.join(short)}"
    )
