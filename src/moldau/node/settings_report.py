"""The settings that differ from their defaults, logged at the start: enough to reproduce it, without secrets."""

from collections.abc import Iterator, Mapping
from typing import Final

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import broker_key
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.text_form import format_value

HIDDEN: Final = "[hidden]"


def settings_report(layers: BrokerLayers) -> str:
    """One line for each, sorted. A setting from the cluster, not from the broker's file, is marked."""
    lines = list(_lines(layers))
    return "\n\t".join(["settings other than the default:", *(lines or ["none"])])


def _lines(layers: BrokerLayers) -> Iterator[str]:
    in_force = layers.settings()
    for name in sorted({*layers.static, *layers.dynamic_default, *layers.dynamic}):
        key = BrokerSettings.KEYS.get(name)
        if key is None:
            yield f"{name} = {_plugin_text(name, layers.static)}"
        elif (value := in_force.value_of(name)) != key.default:
            text = HIDDEN if key.sensitive else format_value(value)
            yield f"{name} = {text}{_origin(layers, name)}"


def _plugin_text(name: str, texts: Mapping[str, str]) -> str:
    """The text of a key we do not declare. It may be secret, unless it is one of our keys for a single listener."""
    key = broker_key(name)
    return HIDDEN if key is None or key.sensitive else texts[name]


def _origin(layers: BrokerLayers, name: str) -> str:
    if name in layers.dynamic:
        return " (set for this broker in the cluster)"
    return " (set for all brokers in the cluster)" if name in layers.dynamic_default else ""
