"""The reference page of all settings, generated from their declarations."""

from collections.abc import Iterator
from typing import Any, Final

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import ConfigKey, Scope
from moldau.core.settings.resource_keys import ClientMetricsSettings, GroupSettings
from moldau.core.settings.text_form import format_value
from moldau.core.settings.topic_keys import TopicSettings
from moldau.core.settings.view import SettingsView

CHAPTERS: Final[tuple[tuple[str, type[SettingsView]], ...]] = (
    ("Broker settings", BrokerSettings),
    ("Topic settings", TopicSettings),
    ("Group settings", GroupSettings),
    ("Client metrics subscriptions", ClientMetricsSettings),
)
CHANGES: Final = {
    Scope.STATIC: "at start only",
    Scope.PER_BROKER: "while running, per broker",
    Scope.CLUSTER: "while running, for one broker or all",
}


def manual_page() -> str:
    """Markdown: a chapter per kind of resource, a section per key."""
    lines = ["# Settings", "", "Names, types and defaults are Apache Kafka's.", ""]
    for title, view in CHAPTERS:
        lines += [f"## {title}", ""]
        for key in view.KEYS.values():
            if not key.internal:
                lines += [*_section(key), ""]
    return "\n".join(lines)


def _section(key: ConfigKey[Any]) -> Iterator[str]:
    yield f"### `{key.name}`"
    yield ""
    yield key.documentation
    yield ""
    default = format_value(key.default)
    yield f"- default: {f'`{default}`' if default else 'none' if default is None else 'empty'}"
    yield f"- takes {key.expects}"
    if key.scope in CHANGES:
        yield f"- can be changed: {CHANGES[key.scope]}"
    if key.fallbacks:
        names = " or else ".join(f"`{fallback.name}`" for fallback in key.fallbacks)
        yield f"- when not set: {names} of the broker"
    yield f"- importance: {key.importance.value}"
