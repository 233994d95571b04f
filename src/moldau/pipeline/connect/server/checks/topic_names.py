"""Settings that name topics: a name that Kafka does not allow would only fail when the first record is written."""

import re
from collections.abc import Iterator
from typing import Final

from moldau.core.settings.text_form import parse_list
from moldau.pipeline.connect.declarations import ConfigValue, Texts
from moldau.pipeline.connect.plugins import ConnectorPlugin

LENGTH_MAX: Final = 249
OWN_PACKAGE: Final = "moldau."
_NAME: Final = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_errors(plugin: ConnectorPlugin, config: Texts) -> Iterator[ConfigValue]:
    """Of names that are given. An empty one has the meaning that its setting says."""
    for setting in _settings(plugin):
        given = config.get(setting, "")
        for name in parse_list(given) if setting == "topics" else [given.strip()]:
            if name and not is_topic_name(name):
                text = (
                    f"Invalid value {name} for configuration {setting}: not a valid topic name. Use letters, digits, "
                    f"'.', '_' and '-', at most {LENGTH_MAX} of them, and neither '.' nor '..' alone"
                )
                yield ConfigValue(setting, given, errors=[text])


def is_topic_name(name: str) -> bool:
    return len(name) <= LENGTH_MAX and name not in (".", "..") and _NAME.fullmatch(name) is not None


def _settings(plugin: ConnectorPlugin) -> Iterator[str]:
    yield "errors.deadletterqueue.topic.name"
    if plugin.kind == "sink":
        yield "topics"
        return
    yield "offsets.storage.topic"
    # In a connector of somebody else `topic` may be one of another system.
    if plugin.path.startswith(OWN_PACKAGE):
        yield from (one.name for one in plugin.connector.declarations if one.name == "topic")
