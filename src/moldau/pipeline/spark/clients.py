"""The settings of the Kafka clients a pipeline uses: ours, then the user's, with what exactly-once needs on top."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError

CONSUMER_PREFIX: Final = "consumer."
PRODUCER_PREFIX: Final = "producer."
CONNECTOR_PREFIX: Final = "connector."
"""Of Java's clients, in their words, inside Spark's connector."""
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""A killed worker's transaction is ended by its successor long before; a slow batch must not be cut off by it."""

COORDINATOR_S_MAX: Final = 60.0
"""For an answer of a group's or a transaction's coordinator."""
TIMESTAMP_MS_MIN: Final = 1
"""librdkafka takes a timestamp of 0 as not set and writes the current time. A record of time 0 is written with 1."""

ClientSettings = Mapping[str, str]


def shared(bootstrap_servers: str, settings: ClientSettings) -> dict[str, Any]:
    """For administration, and the ground of the other two: what has no prefix is for every client."""
    common = {
        key: value
        for key, value in settings.items()
        if not key.startswith((CONSUMER_PREFIX, PRODUCER_PREFIX, CONNECTOR_PREFIX))
    }
    # A broker that is away is told by the supervisor, once; the clients would say it again and again.
    return {"bootstrap.servers": bootstrap_servers, "log_level": "2", **common}


def consumer(bootstrap_servers: str, settings: ClientSettings, group: str) -> dict[str, Any]:
    return {
        **shared(bootstrap_servers, settings),
        # Fetches ahead of the tasks, within limits.
        "queued.min.messages": "200000",
        "queued.max.messages.kbytes": "32768",
        "fetch.message.max.bytes": str(8 << 20),
        # How long a full queue waits before it fetches again.
        "fetch.queue.backoff.ms": "10",
        # The end of a range that ends with a transaction's marker shows in the next answer, which must not wait for
        # new records. A consumer that has nothing to read is not assigned anything, so it asks nothing.
        "fetch.wait.max.ms": "5",
        **_prefixed(settings, CONSUMER_PREFIX),
        "group.id": group,
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
    }


def producer(
    bootstrap_servers: str, settings: ClientSettings, transactional_id: str | None
) -> dict[str, Any]:
    ours = {
        **shared(bootstrap_servers, settings),
        "linger.ms": "5",
        # What is too large is for each topic's own limit to say.
        "message.max.bytes": str(10 << 20),
        "batch.size": str(1 << 20),
        "batch.num.messages": "100000",
        "queue.buffering.max.messages": "2000000",
        "queue.buffering.max.kbytes": str(1 << 20),
        # As Java's clients do, so that a key goes where they would send it.
        "partitioner": "murmur2_random",
        **_prefixed(settings, PRODUCER_PREFIX),
        "enable.idempotence": "true",
        "delivery.report.only.error": True,
    }
    if transactional_id is None:
        return ours
    return {
        **ours,
        "transactional.id": transactional_id,
        # A client that lost all brokers would forget them and begin again with its bootstrap servers, and librdkafka
        # then waits for the old connection to the group's coordinator forever. A slot that fails is made anew instead.
        "metadata.recovery.strategy": "none",
        "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
    }


def connector(bootstrap_servers: str, settings: ClientSettings) -> dict[str, str]:
    """Options of Spark's connector. Its clients are Java's: what opens a secured broker has other names there."""
    theirs = _prefixed(settings, CONNECTOR_PREFIX)
    if "security.protocol" in settings and "security.protocol" not in theirs:
        raise ConfigError(
            "latency real_time reads with Java's clients, which do not know librdkafka's settings: name theirs too, "
            "with connector. in front (connector.security.protocol, connector.sasl.jaas.config, ...)"
        )
    return {
        f"kafka.{key}": value for key, value in {"bootstrap.servers": bootstrap_servers, **theirs}.items()
    }


def _prefixed(settings: ClientSettings, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
