"""Configuration as DescribeConfigs shows it: each key with its value, source and documentation."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import ConfigKey, Scope
from moldau.core.settings.listener_keys import broker_key
from moldau.core.settings.resolve import BrokerLayers, ConfigSource, Synonym
from moldau.core.settings.text_form import ConfigType, format_value
from moldau.core.settings.topic_keys import TopicSettings
from moldau.core.settings.view import SettingsView


class ConfigEntry(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[Synonym, ...]
    type: ConfigType
    documentation: str


def topic_entries(
    layers: BrokerLayers, settings: TopicSettings, configs: Mapping[str, str]
) -> Iterable[ConfigEntry]:
    for key in _public_keys(TopicSettings):
        synonyms = layers.fallback_synonyms(key)
        if key.name in configs:
            own = Synonym(key.name, format_value(settings.value_of(key.name)), ConfigSource.TOPIC_CONFIG)
            synonyms = [own, *synonyms]
        yield _entry(key, format_value(settings.value_of(key.name)), synonyms)


def broker_entries(layers: BrokerLayers, settings: BrokerSettings) -> Iterable[ConfigEntry]:
    for key in _public_keys(BrokerSettings):
        yield _entry(key, format_value(settings.value_of(key.name)), layers.synonyms(key.name))
    for name, value in settings.listener_overrides.items():
        override = broker_key(name)
        if override is not None:
            yield _entry(override, format_value(value), layers.synonyms(name))._replace(name=name)


def all_brokers_entries(texts: Mapping[str, str]) -> Iterable[ConfigEntry]:
    """Only the settings that were set for all brokers, as Kafka answers for the empty broker name."""
    for key in _public_keys(BrokerSettings):
        if key.name in texts:
            text = texts[key.name]
            yield _entry(key, text, [Synonym(key.name, text, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)])


def resource_entries(
    settings: SettingsView, configs: Mapping[str, str], source: ConfigSource
) -> Iterable[ConfigEntry]:
    """For groups and client metrics."""
    for key in _public_keys(type(settings)):
        text = format_value(settings.value_of(key.name))
        is_own = key.name in configs
        yield _entry(key, text, [Synonym(key.name, text, source if is_own else ConfigSource.DEFAULT_CONFIG)])


def _public_keys(view: type[SettingsView]) -> Iterable[ConfigKey[Any]]:
    return (key for key in view.KEYS.values() if not key.internal)


def _entry(key: ConfigKey[Any], text: str | None, synonyms: list[Synonym]) -> ConfigEntry:
    if key.sensitive:
        text = None
        synonyms = [synonym._replace(text=None) for synonym in synonyms]
    return ConfigEntry(
        name=key.name,
        value=text,
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG,
        is_read_only=key.scope is Scope.STATIC,
        is_sensitive=key.sensitive,
        synonyms=tuple(synonyms),
        type=key.type,
        documentation=key.documentation,
    )
