"""Settings of one listener: `listener.name.<listener>.[<sasl mechanism>.]<key>` in place of the broker's own value.

Both names are in lower case, as in Kafka.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import ConfigKey
from moldau.core.settings.view import nearest_text

LISTENER_PREFIX: Final = "listener.name."
MECHANISM_WORDS: Final = ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "gssapi")
"""The SASL mechanisms as keys have them."""


def listener_setting(settings: BrokerSettings, listener: str, name: str, mechanism: str | None = None) -> Any:
    """The value of a key on a listener. The value for the mechanism comes first, then that of the listener, then the
    broker's."""
    prefix = f"{LISTENER_PREFIX}{listener.lower()}."
    overrides = settings.listener_overrides
    if mechanism is not None:
        found = f"{prefix}{mechanism.lower()}.{name}"
        if found in overrides:
            return overrides[found]
    found = prefix + name
    return overrides[found] if found in overrides else settings.value_of(name)


def mechanism_setting(settings: BrokerSettings, listener: str, name: str, mechanism: str) -> Any:
    """The value given for this mechanism on this listener, None without one. For keys that say nothing without their
    mechanism, such as `sasl.jaas.config`."""
    return settings.listener_overrides.get(f"{LISTENER_PREFIX}{listener.lower()}.{mechanism.lower()}.{name}")


def broker_key(name: str) -> ConfigKey[Any] | None:
    """The declaration of a broker's key, also in its form for one listener. None for an unknown name."""
    key = BrokerSettings.KEYS.get(name)
    if key is not None or not name.startswith(LISTENER_PREFIX):
        return key
    # The name of a listener may have dots in it, too: the longest known end of the name is the key.
    tail = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    while tail:
        key = BrokerSettings.KEYS.get(tail)
        if key is not None:
            return key
        tail = tail.partition(".")[2]
    return None


def listener_part(name: str, key: ConfigKey[Any]) -> str:
    """What a key for one listener says before the key itself: the listener, and maybe a mechanism."""
    return name.removeprefix(LISTENER_PREFIX).removesuffix(f".{key.name}")


def check_mechanism_word(name: str, listeners: Collection[str]) -> None:
    """ConfigError for a key of one of the listeners that has something else where a mechanism should be: it would have
    no effect. `listeners` are in lower case."""
    key = broker_key(name)
    if key is None or not name.startswith(LISTENER_PREFIX):
        return
    given = listener_part(name, key).lower()
    listener, _, word = given.rpartition(".")
    if given in listeners or listener not in listeners or word in MECHANISM_WORDS:
        return
    hint = nearest_text(word, MECHANISM_WORDS) or f"; there are: {', '.join(MECHANISM_WORDS)}"
    raise ConfigError(f"{name}: {word} is not a SASL mechanism{hint}")


def parse_overrides(texts: Mapping[str, str]) -> dict[str, Any]:
    """The parsed values of the keys for single listeners, by their whole name in lower case. ConfigError for a wrong
    value."""
    overrides: dict[str, Any] = {}
    for name, text in texts.items():
        key = broker_key(name) if name.startswith(LISTENER_PREFIX) else None
        if key is not None:
            overrides[name.lower()] = key.parse(text)
    return overrides
