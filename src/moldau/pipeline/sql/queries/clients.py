"""The settings of this package's Kafka clients: our defaults, the user's settings, then what must be so."""

from collections.abc import Mapping
from typing import Any, Final

CONSUMER_PREFIX: Final = "consumer."
PRODUCER_PREFIX: Final = "producer."
ClientSettings = Mapping[str, str]


def consumer(
    bootstrap_servers: str, settings: ClientSettings, group: str, fetch_wait_ms: int
) -> dict[str, Any]:
    """`group` is only a name: nothing is committed, and partitions are assigned by hand."""
    return {
        **_shared(bootstrap_servers, settings),
        "fetch.wait.max.ms": str(fetch_wait_ms),
        "fetch.queue.backoff.ms": "10",
        "queued.max.messages.kbytes": "8192",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        **_prefixed(settings, CONSUMER_PREFIX),
        "group.id": group,
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "allow.auto.create.topics": "false",
    }


def admin(bootstrap_servers: str, settings: ClientSettings) -> dict[str, Any]:
    return _shared(bootstrap_servers, settings)


def producer(bootstrap_servers: str, settings: ClientSettings) -> dict[str, Any]:
    return {
        **_shared(bootstrap_servers, settings),
        "linger.ms": "1",
        # The limit of each topic decides what is too large.
        "message.max.bytes": str(10 << 20),
        # The default of the Java clients, so that a key goes to the same partition.
        "partitioner": "murmur2_random",
        **_prefixed(settings, PRODUCER_PREFIX),
        "enable.idempotence": "true",
        "acks": "all",
    }


def _shared(bootstrap_servers: str, settings: ClientSettings) -> dict[str, Any]:
    common = {
        key: value
        for key, value in settings.items()
        if not key.startswith((CONSUMER_PREFIX, PRODUCER_PREFIX, "connector."))
    }
    return {
        "bootstrap.servers": bootstrap_servers,
        # An unreachable broker is no news: the clients would log it again and again.
        "log_level": "2",
        "reconnect.backoff.max.ms": "1000",
        "topic.metadata.propagation.max.ms": "2000",
        **common,
    }


def _prefixed(settings: ClientSettings, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
