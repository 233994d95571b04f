"""Creates the topics the proxy needs by name, and checks those with sessions and retained messages."""

import logging
import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata, ConfigResource, NewTopic, ResourceType

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.settings import Configuration

ANSWER_S: Final = 10.0
MESSAGE_BYTES_MAX: Final = 8 << 20

log = logging.getLogger("moldau.mqtt")


def prepare_topics(configuration: Configuration) -> None:
    """Raises ConfigError when Kafka cannot be reached, and for a state topic that would lose the state."""
    settings = configuration.settings
    deadline = time.monotonic() + settings.start_timeout_ms / 1000
    admin = AdminClient(dict(configuration.client))
    known = _wait_for_brokers(admin, configuration.client["bootstrap.servers"], deadline)
    replicas = min(settings.replication_factor, len(known.brokers))
    try:
        for name in sorted(configuration.rules.fixed_topics() - known.topics.keys()):
            _create(admin, NewTopic(name, settings.default_partitions, replicas))
        for name, setting in (
            (settings.stored_in, "state.topic"),
            (settings.retained_topic, "retained.topic"),
        ):
            if name in known.topics:
                _check_compacted(admin, name, setting, len(known.topics[name].partitions))
            else:
                config = {"cleanup.policy": "compact", "max.message.bytes": str(MESSAGE_BYTES_MAX)}
                _create(admin, NewTopic(name, 1, replicas, config=config))
    except KafkaException as error:
        raise ConfigError(f"cannot prepare the topics of the proxy: {error.args[0].str()}") from None


def _wait_for_brokers(admin: AdminClient, servers: str, deadline: float) -> ClusterMetadata:
    while True:
        left = max(deadline - time.monotonic(), 0.1)
        try:
            return admin.list_topics(timeout=min(left, ANSWER_S))
        except KafkaException as error:
            reason = error.args[0].str()
            if time.monotonic() >= deadline:
                raise ConfigError(
                    f"no Kafka broker answers at {servers} (bootstrap.servers): {reason}. Start one with `moldau "
                    "broker`, or pass another address with -b"
                ) from None
            log.warning("no Kafka broker answers at %s yet: %s; trying again", servers, reason)


def _create(admin: AdminClient, topic: NewTopic) -> None:
    try:
        admin.create_topics([topic])[topic.topic].result(ANSWER_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            reason = error.args[0].str().rstrip(".")
            raise ConfigError(
                f"cannot create the topic {topic.topic}: {reason}. Create it yourself, or give the proxy the right to"
            ) from None
    except TimeoutError:
        raise ConfigError(f"cannot create the topic {topic.topic}: no answer from the brokers") from None


def _check_compacted(admin: AdminClient, name: str, setting: str, partitions: int) -> None:
    if partitions > 1:
        raise ConfigError(
            f"the topic {name} has {partitions} partitions; what is in it needs one, to have an order. Set another "
            f"{setting}"
        )
    resource = ConfigResource(ResourceType.TOPIC, name)
    configs: Mapping[str, object] = {}
    try:
        configs = admin.describe_configs([resource])[resource].result(ANSWER_S)
    except (KafkaException, TimeoutError) as error:
        log.warning("cannot read the settings of topic %s: %s", name, error)
    policy = getattr(configs.get("cleanup.policy"), "value", "compact")
    if policy != "compact":
        raise ConfigError(
            f"the topic {name} has cleanup.policy={policy}, which would delete what is in it one day. Change it: "
            f"moldau topics alter {name} --set cleanup.policy=compact"
        )
