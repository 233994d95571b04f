"""`consumer.override.*`, `producer.override.*` and `admin.override.*`: the names of the Java clients as librdkafka's.

Most names are the same. Those that librdkafka does not have are left out, and `ignored` lists them. Key stores are
read.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from moldau.pipeline.connect.data.java_clients import librdkafka_settings
from moldau.pipeline.connect.runtime.task_settings import (
    ADMIN_OVERRIDE,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
)

_RESET: Final = "auto.offset.reset"
"""Honoured by the task itself."""


class Overrides(NamedTuple):
    clients: dict[str, str]
    """For `pipeline.spark.clients`: with the prefixes `consumer.` and `producer.`."""
    ignored: list[str]


def overrides(config: Mapping[str, str]) -> Overrides:
    """Raises ConfigError for a login or key store that cannot be used, as all of these do."""
    clients: dict[str, str] = {}
    ignored: list[str] = []
    for prefix, target in ((CONSUMER_OVERRIDE, "consumer."), (PRODUCER_OVERRIDE, "producer.")):
        translated = librdkafka_settings(_named(config, prefix), of=prefix)
        clients |= {f"{target}{name}": value for name, value in translated.settings.items()}
        ignored += translated.ignored
    return Overrides(clients, ignored)


def admin_overrides(config: Mapping[str, str]) -> dict[str, str]:
    return librdkafka_settings(_named(config, ADMIN_OVERRIDE), of=ADMIN_OVERRIDE).settings


def offset_reset(config: Mapping[str, str]) -> str:
    """Where a sink begins without committed offsets: `earliest` or `latest`."""
    return config.get(f"{CONSUMER_OVERRIDE}{_RESET}", "earliest").strip().lower()


def _named(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    found = {name.removeprefix(prefix): value for name, value in config.items() if name.startswith(prefix)}
    found.pop(_RESET, None)
    return found
