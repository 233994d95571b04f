"""The settings of a pipeline's Kafka clients: our defaults, the user's settings, then what exactly-once requires."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError

CONSUMER_PREFIX: Final = "consumer."
PRODUCER_PREFIX: Final = "producer."
CONNECTOR_PREFIX: Final = "connector."
"""For the Java clients in Spark's connector, with their own names."""
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""Long enough for a slow batch. The transaction of a killed worker is aborted earlier, by its successor."""

OFFSETS_S_MAX: Final = 30.0
"""For send_offsets_to_transaction. librdkafka ignores its timeout while it waits for the coordinator, so the call runs
in a thread. If it does not return, the producer must be kept and not closed, because closing waits for the call."""
COORDINATOR_S_MAX: Final = 60.0
"""How long to wait for a group's or a transaction's coordinator."""
TIMESTAMP_MS_MIN: Final = 1
"""librdkafka takes a timestamp of 0 as not set and writes the current time. A record of time 0 is written with 1."""

ClientSettings = Mapping[str, str]


def shared(bootstrap_servers: str, settings: ClientSettings) -> dict[str, Any]:
    """For admin clients, and the base of the other two. Settings without a prefix are for every client."""
    common = {
        key: value
        for key, value in settings.items()
        if not key.startswith((CONSUMER_PREFIX, PRODUCER_PREFIX, CONNECTOR_PREFIX))
    }
    # The supervisor reports an unreachable broker once. The clients would log it again and again.
    return {"bootstrap.servers": bootstrap_servers, "log_level": "2", **common}


def consumer(bootstrap_servers: str, settings: ClientSettings, group: str) -> dict[str, Any]:
    return {
        **shared(bootstrap_servers, settings),
        # Prefetch for the tasks, within limits.
        "queued.min.messages": "200000",
        "queued.max.messages.kbytes": "32768",
        "fetch.message.max.bytes": str(8 << 20),
        # How long a full queue waits before the next fetch.
        "fetch.queue.backoff.ms": "10",
        # The end of a range that ends with a transaction marker is only seen in the next response, which must not wait
        # for new records. A consumer with nothing to read has no assignment, so it does not poll the broker.
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
        # The limit of each topic decides what is too large.
        "message.max.bytes": str(10 << 20),
        "batch.size": str(1 << 20),
        "batch.num.messages": "100000",
        "queue.buffering.max.messages": "2000000",
        "queue.buffering.max.kbytes": str(1 << 20),
        # The default of the Java clients, so that a key goes to the same partition.
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
        # A client that lost all brokers would start over from its bootstrap servers, and librdkafka then waits forever
        # for the old connection to the group coordinator. A slot that fails is built again instead.
        "metadata.recovery.strategy": "none",
        "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
    }


def connector(bootstrap_servers: str, settings: ClientSettings) -> dict[str, str]:
    """Options of Spark's connector. It uses the Java clients, whose security settings have other names."""
    theirs = _prefixed(settings, CONNECTOR_PREFIX)
    if "security.protocol" in settings and "security.protocol" not in theirs:
        raise ConfigError(
            "latency real_time reads with the Java clients, which do not know librdkafka's settings: give theirs too, "
            "with the prefix connector. (connector.security.protocol, connector.sasl.jaas.config, ...)"
        )
    return {
        f"kafka.{key}": value for key, value in {"bootstrap.servers": bootstrap_servers, **theirs}.items()
    }


def _prefixed(settings: ClientSettings, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}
