"""Which value is in force: layers of settings, the most specific first, and where each value came from.

Layers hold values as text, as they were written. Code reads a view of parsed values; DescribeConfigs reads the
synonyms.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeVar

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.consistency import check_broker, check_group, check_topic
from moldau.core.settings.key import ConfigKey
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
"""The broker keys that apply if this key is not set."""
View = TypeVar("View", bound=SettingsView)


class ConfigSource(IntEnum):
    """The numbers are those DescribeConfigs answers with."""

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
    """A layer that may have a value, and the value."""

    name: str
    text: str | None
    source: ConfigSource


class BrokerLayers(NamedTuple):
    """All layers of a broker's settings: its file, the defaults for all brokers, its own dynamic settings."""

    static: Mapping[str, str] = NO_TEXTS
    dynamic_default: Mapping[str, str] = NO_TEXTS
    dynamic: Mapping[str, str] = NO_TEXTS

    def settings(self) -> BrokerSettings:
        """The settings in force. ConfigError when a value or a combination of them is wrong."""
        merged = {**self.static, **self.dynamic_default, **self.dynamic}
        settings = BrokerSettings.parse(
            {name: merged[name] for name in merged if name in BrokerSettings.KEYS}
        )
        check_broker(settings)
        return settings

    def synonyms(self, name: str) -> list[Synonym]:
        """Where the value of one broker key could come from, the one in force first.

        A key that stands for a finer unit than others, `log.retention.ms`, is followed by those once it is set.
        """
        places = list(self._places(name))
        return places and places + [
            place for coarser in COARSER.get(name, ()) for place in self._places(coarser)
        ]

    def _places(self, name: str) -> Iterator[Synonym]:
        for texts, source in (
            (self.dynamic, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self.static, ConfigSource.STATIC_BROKER_CONFIG),
        ):
            if name in texts:
                yield Synonym(name, texts[name], source)
        default = format_value(BrokerSettings.KEYS[name].default)
        if default is not None:
            yield Synonym(name, default, ConfigSource.DEFAULT_CONFIG)

    def fallback_synonyms(self, key: ConfigKey[Any]) -> list[Synonym]:
        """The same for a key of a topic or group that was not set there: all its broker keys, in order."""
        return [place for fallback in key.fallbacks for place in self._places(fallback.name)]


def resolve_topic(
    broker: BrokerSettings, overrides: Mapping[str, str], *, checked: bool = True
) -> TopicSettings:
    """A topic's settings: its own where it has any, else the broker's. ConfigError when they are wrong.

    Settings already in force are not `checked` again: a broker's change must not take a topic away.
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
