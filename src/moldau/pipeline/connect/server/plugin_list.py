"""All plugins of a worker: connectors, converters, transformations, predicates; and the settings of each."""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from moldau import __version__
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.converters.catalog import CONVERTERS, converter_class
from moldau.pipeline.connect.converters.converter import HEADER, VALUE
from moldau.pipeline.connect.declarations import Declaration
from moldau.pipeline.connect.plugins import UnknownPlugin, find_connector, installed
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.hosting.connector_run import plugin_version
from moldau.pipeline.connect.transforms.catalog import (
    PREDICATES,
    all_kinds,
    predicate_class,
    transformation_kind,
)


class PluginInfo(NamedTuple):
    class_name: str
    kind: str
    version: str


def connector_plugins(limits: ConnectorLimits) -> list[PluginInfo]:
    """Without those that are disabled."""
    return [
        PluginInfo(one.class_name, one.kind, plugin_version(one))
        for one in installed()[0]
        if limits.allows_class(one)
    ]


def all_plugins(limits: ConnectorLimits) -> list[PluginInfo]:
    found = [*connector_plugins(limits), *_others()]
    return sorted(found, key=lambda one: (one.kind, one.class_name))


def _others() -> Iterator[PluginInfo]:
    for converter in CONVERTERS:
        if VALUE in converter.uses:
            yield PluginInfo(converter.java_name, "converter", __version__)
        if HEADER in converter.uses:
            yield PluginInfo(converter.java_name, "header_converter", __version__)
    for name in all_kinds():
        yield PluginInfo(name, "transformation", __version__)
    for predicate in PREDICATES:
        yield PluginInfo(predicate.java_name(), "predicate", __version__)


def settings_of(name: str, limits: ConnectorLimits) -> list[Declaration] | None:
    """Its own; those that all connectors have are in what `config/validate` answers. None: there is no such plugin.
    Raises ConfigError for a connector that is disabled."""
    with suppress(UnknownPlugin):
        limits.require_class(find_connector(name))
    for find in (_of_connector, _of_converter, _of_transformation, _of_predicate):
        try:
            return find(name)
        except (ConfigError, UnknownPlugin):
            continue
    return None


def _of_connector(name: str) -> list[Declaration]:
    return list(find_connector(name).connector.declarations)


def _of_converter(name: str) -> list[Declaration]:
    return list(converter_class(name, "name").declarations)


def _of_transformation(name: str) -> list[Declaration]:
    return list(transformation_kind(name).transformation.declarations)


def _of_predicate(name: str) -> list[Declaration]:
    return list(predicate_class(name).declarations)
