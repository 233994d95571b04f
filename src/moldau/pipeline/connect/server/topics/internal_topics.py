"""Creates the internal topics that are missing, and rejects those that cannot keep what is written to them."""

import logging
import time
from collections.abc import Mapping
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata, ConfigResource, NewTopic, ResourceType

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.data.client_errors import ClientErrors

ANSWER_S: Final = 10.0
MESSAGE_BYTES_MAX: Final = 8 << 20
"""A configuration of a megabyte fits, with its JSON."""

log = logging.getLogger("moldau.connect")


class TopicNeed(NamedTuple):
    name: str
    partitions: int
    """-1: as many as the brokers give by default."""
    replicas: int
    setting: str
    """What names it in the configuration of the worker."""
    config: Mapping[str, str]
    has_one_partition: bool = False


def wait_for_brokers(
    admin: AdminClient, errors: ClientErrors, servers: str, deadline: float
) -> ClusterMetadata:
    """What the cluster has. Raises ConfigError when no broker answers."""
    while True:
        left = max(deadline - time.monotonic(), 0.1)
        try:
            return admin.list_topics(timeout=min(left, ANSWER_S))
        except KafkaException as error:
            reason = errors.text_of(error, admin).rstrip(".")
            if time.monotonic() >= deadline:
                raise ConfigError(
                    f"no Kafka broker answers at {servers} (bootstrap.servers): {reason}. Start one with `moldau "
                    "broker`, or pass another address with -b"
                ) from None
            log.warning("no Kafka broker answers at %s yet: %s; trying again", servers, reason)


def prepare_topics(admin: AdminClient, needs: list[TopicNeed], known: ClusterMetadata) -> None:
    """Raises ConfigError for a topic that cannot be used, and where the brokers do not answer."""
    try:
        for need in needs:
            found = known.topics.get(need.name)
            if found is None:
                _create(admin, need, len(known.brokers))
                continue
            if need.has_one_partition and len(found.partitions) > 1:
                raise ConfigError(
                    f"the topic {need.name} has {len(found.partitions)} partitions; configurations need one, to have "
                    f"an order. Set another {need.setting}"
                )
            _require_compacted(admin, need)
    except KafkaException as error:
        raise ConfigError(f"cannot prepare the internal topics: {error.args[0].str()}") from None


def _create(admin: AdminClient, need: TopicNeed, brokers: int) -> None:
    config = {"cleanup.policy": "compact", **need.config}
    if need.has_one_partition:
        config.setdefault("max.message.bytes", str(MESSAGE_BYTES_MAX))
    replicas = min(need.replicas, brokers) if need.replicas > 0 else -1
    future = admin.create_topics([NewTopic(need.name, need.partitions, replicas, config=config)])[need.name]
    try:
        future.result(ANSWER_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise ConfigError(f"cannot create the topic {need.name}: {error.args[0].str()}") from None
    except TimeoutError:
        raise ConfigError(f"cannot create the topic {need.name}: no answer from the brokers") from None


def _require_compacted(admin: AdminClient, need: TopicNeed) -> None:
    """With a retention, connectors would be gone one day."""
    resource = ConfigResource(ResourceType.TOPIC, need.name)
    try:
        policy = admin.describe_configs([resource])[resource].result(ANSWER_S)["cleanup.policy"].value
    except (KafkaException, TimeoutError) as error:
        log.warning("cannot read the settings of topic %s: %s", need.name, error)
        return
    if policy != "compact":
        raise ConfigError(
            f"Topic '{need.name}' supplied via the '{need.setting}' property is required to have "
            f"'cleanup.policy=compact' to guarantee consistency and durability of what is kept in it, but found the "
            f"topic currently has 'cleanup.policy={policy}'. Change it: "
            f"moldau topics alter {need.name} --set cleanup.policy=compact"
        )
