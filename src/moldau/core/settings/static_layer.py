"""Builds a broker's static layer from the text of server.properties and `--override` arguments.

Each line is checked by itself, so that the error can name it. The caller reads the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import (
    LISTENER_PREFIX,
    MECHANISM_WORDS,
    broker_key,
    check_mechanism_word,
    listener_part,
)
from moldau.core.settings.listeners import listener_names
from moldau.core.settings.properties import parse_properties
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.topic_keys import TopicSettings
from moldau.core.settings.view import nearest_text

OPEN_PREFIXES: Final = (
    "config.providers.",
    "confluent.",
    "metrics.context.",
    "metrics.jmx.",
    "rlmm.config.",
    "rsm.config.",
)
"""Settings of plug-ins, whose names we do not know."""
_LISTING: Final = ("listeners", "controller.listener.names")


def static_layer(
    text: str = "", *, file: str = "server.properties", overrides: Sequence[str] = ()
) -> BrokerLayers:
    """The layers a broker starts with. ConfigError names the file and line, or the override."""
    texts: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, value, line in parse_properties(text, file=file):
        sources[name] = f"{file}, line {line}"
        _put(texts, name, value, sources[name])
    for override in overrides:
        name, separator, value = override.partition("=")
        if not separator or not name.strip():
            raise ConfigError(
                f"--override {override!r} is not of the form key=value, for example num.partitions=3"
            )
        sources[name.strip()] = f"--override {override}"
        _put(texts, name.strip(), value.strip(), f"--override {override}")
    # A broker ID has two names in Kafka; a value given for one holds for both.
    if "node.id" not in texts and texts.get("broker.id", "-1").strip() != "-1":
        texts["node.id"] = texts["broker.id"]
    elif "node.id" in texts:
        texts.setdefault("broker.id", texts["node.id"])
    _check_listener_names(texts, sources)
    return BrokerLayers(static=texts)


def _put(texts: dict[str, str], name: str, value: str, source: str) -> None:
    key = broker_key(name)
    if key is None:
        _check_unknown(name, source)
    else:
        try:
            # Kafka treats an empty value of a key without a default as not set.
            if value.strip() or key.default is not None:
                key.parse(value)
            else:
                return
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None
    texts[name] = value


def _check_listener_names(texts: Mapping[str, str], sources: Mapping[str, str]) -> None:
    """A setting for a listener that does not exist would protect nothing."""
    of_listeners = [name for name in texts if name.startswith(LISTENER_PREFIX)]
    if not of_listeners:
        return
    settings = BrokerSettings.parse({name: texts[name] for name in _LISTING if name in texts})
    opened = [name.lower() for name in listener_names(settings)]
    names = [*opened, *(name.lower() for name in settings.controller_listener_names)]
    for name in of_listeners:
        if any(name.lower().startswith(f"{LISTENER_PREFIX}{each}.") for each in names):
            try:
                check_mechanism_word(name, names)
            except ConfigError as error:
                raise ConfigError(f"{sources[name]}: {error}") from None
            continue
        key = broker_key(name)
        assert key is not None, "an unknown setting was refused before"
        given = listener_part(name, key)
        listener, _, last = given.rpartition(".")
        given = listener if listener and last in MECHANISM_WORDS else given
        hint = nearest_text(given.lower(), names) or f"; there are: {', '.join(dict.fromkeys(names))}"
        raise ConfigError(
            f"{sources[name]}: {name} is for the listener {given}, which is not among the listeners{hint}"
        )


def _check_unknown(name: str, source: str) -> None:
    if name.startswith(OPEN_PREFIXES):
        return
    raise ConfigError(f"{source}: unknown setting {name}{_hint(name, BrokerSettings.KEYS)}")


def _hint(name: str, known: Iterable[str]) -> str:
    key = TopicSettings.KEYS.get(name)
    if key is not None and key.fallbacks:
        return f"; that is a topic setting, the setting for all topics of a broker is {key.fallbacks[0].name}"
    return nearest_text(name, known) or "; `moldau broker --list-settings` prints the known ones"
