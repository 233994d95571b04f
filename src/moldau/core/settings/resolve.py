"""Resolves which value of a setting is in force, from layers of settings, and where it comes from.

Layers hold texts as people wrote them. Code that needs values uses a view; DescribeConfigs uses the synonyms.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeVar

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.consistency import check_broker, check_group, check_topic
from moldau.core.settings.key import ConfigKey
from moldau.core.settings.listener_keys import broker_key, parse_overrides
from moldau.core.settings.resource_keys import GroupSettings
from moldau.core.settings.text_form import format_value
from moldau.core.settings.topic_keys import TopicSettings
from moldau.core.settings.view import SettingsView

NO_TEXTS: Final[Mapping[str, str]] = {}
COARSER: Final = {
    fallback.name: tuple(other.name for other in key.fallbacks[number + 1 :])
    for key in TopicSettings.KEYS.values()
    for number, fallback in enumerate(key.fallbacks)
}
"""The broker keys that apply where this one is not set."""
View = TypeVar("View", bound=SettingsView)


class ConfigSource(IntEnum):
    """The numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


class Synonym(NamedTuple):
    """A possible source of a value, and the text set there."""

    name: str
    text: str | None
    source: ConfigSource


class BrokerLayers(NamedTuple):
    """A broker's settings by source: its file, the dynamic default of all brokers, its own dynamic settings."""

    static: Mapping[str, str] = NO_TEXTS
    dynamic_default: Mapping[str, str] = NO_TEXTS
    dynamic: Mapping[str, str] = NO_TEXTS

    def settings(self) -> BrokerSettings:
        """The settings in force. ConfigError if a value or a combination of values is wrong."""
        merged = {**self.static, **self.dynamic_default, **self.dynamic}
        settings = BrokerSettings.parse(
            {name: merged[name] for name in merged if name in BrokerSettings.KEYS}
        )
        overrides = parse_overrides(merged)
        if overrides:
            settings = settings.with_overrides(overrides)
        check_broker(settings)
        return settings

    def synonyms(self, name: str) -> list[Synonym]:
        """The sources of a broker key's value, the one in force first.

        A key that has coarser variants, such as `log.retention.ms`, is followed by these once it is set. A key for one
        listener is followed by the broker's own.
        """
        if name not in BrokerSettings.KEYS:
            key = broker_key(name)
            assert key is not None, "a key for one listener"
            return [*self._texts_of(name), *self._sources(key.name)]
        sources = list(self._sources(name))
        return sources and sources + [
            source for coarser in COARSER.get(name, ()) for source in self._sources(coarser)
        ]

    def _sources(self, name: str) -> Iterator[Synonym]:
        yield from self._texts_of(name)
        default = format_value(BrokerSettings.KEYS[name].default)
        if default is not None:
            yield Synonym(name, default, ConfigSource.DEFAULT_CONFIG)

    def _texts_of(self, name: str) -> Iterator[Synonym]:
        for texts, source in (
            (self.dynamic, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self.static, ConfigSource.STATIC_BROKER_CONFIG),
        ):
            if name in texts:
                yield Synonym(name, texts[name], source)

    def fallback_synonyms(self, key: ConfigKey[Any]) -> list[Synonym]:
        """The same for an unset key of a topic or group: the sources of all its broker keys, in order."""
        return [source for fallback in key.fallbacks for source in self._sources(fallback.name)]


def resolve_topic(
    broker: BrokerSettings, overrides: Mapping[str, str], *, checked: bool = True
) -> TopicSettings:
    """A topic's settings: its own, else the broker's. ConfigError if they are wrong.

    Settings already in force are not `checked` again: a change at the broker must not make a topic unusable.
    """
    settings = _resolve(TopicSettings, broker, overrides)
    if checked:
        check_topic(settings)
    return settings


def resolve_group(broker: BrokerSettings, overrides: Mapping[str, str]) -> GroupSettings:
    settings = _resolve(GroupSettings, broker, overrides)
    check_group(settings, broker)
    return settings


def _resolve(view: type[View], broker: BrokerSettings, overrides: Mapping[str, str]) -> View:
    values = view.values_of(overrides)
    for name, key in view.KEYS.items():
        if name in values:
            continue
        for fallback in key.fallbacks:
            value = fallback.convert(broker.value_of(fallback.name))
            if value is not None:
                values[name] = value
                break
    return view(values)
