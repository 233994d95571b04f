"""Groups through confluent-kafka's AdminClient."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from compat.confluent_client import failure_of, librdkafka_settings
from compat.groups.member import Committed, Place
from compat.groups.waiting import TIMEOUT_S

STATES = {"PREPARING_REBALANCING": "PreparingRebalance", "COMPLETING_REBALANCING": "CompletingRebalance"}
"""As Kafka calls those that are not just one word."""


class ConfluentAdmin:
    name = "confluent"

    def __init__(self, bootstrap: str) -> None:
        self._admin = AdminClient(librdkafka_settings(bootstrap, None))

    def list_groups(self) -> dict[str, str]:
        found = _outcome(self._admin.list_consumer_groups(request_timeout=TIMEOUT_S))
        assert found.errors == []
        return {listing.group_id: _state(listing.state) for listing in found.valid}

    def describe_group(self, group: str) -> dict[str, Any]:
        found = _outcome(self._admin.describe_consumer_groups([group], request_timeout=TIMEOUT_S)[group])
        return {
            "state": _state(found.state),
            "type": found.type.name.capitalize(),
            "assignor": found.partition_assignor,
            "coordinator": found.coordinator.id,
            "members": {
                member.client_id: {
                    "id": member.member_id,
                    "host": member.host,
                    "instance": member.group_instance_id,
                    "assignment": frozenset(
                        (place.topic, place.partition) for place in member.assignment.topic_partitions
                    ),
                }
                for member in found.members
            },
        }

    def delete_group(self, group: str) -> None:
        _outcome(self._admin.delete_consumer_groups([group], request_timeout=TIMEOUT_S)[group])

    def group_offsets(self, group: str) -> dict[Place, Committed]:
        wanted = ConsumerGroupTopicPartitions(group)
        found = _outcome(self._admin.list_consumer_group_offsets([wanted], request_timeout=TIMEOUT_S)[group])
        return {
            (place.topic, place.partition): (place.offset, place.metadata or "")
            for place in found.topic_partitions
        }

    def alter_group_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        places = [
            TopicPartition(topic, partition, offset, metadata)
            for (topic, partition), (offset, metadata) in offsets.items()
        ]
        wanted = ConsumerGroupTopicPartitions(group, places)
        found = _outcome(self._admin.alter_consumer_group_offsets([wanted], request_timeout=TIMEOUT_S)[group])
        for place in found.topic_partitions:
            if place.error is not None:
                raise failure_of(place.error)


def _state(state: Any) -> str:
    return STATES.get(state.name, state.name.capitalize())


def _outcome(future: Future[Any]) -> Any:
    try:
        return future.result(TIMEOUT_S)
    except KafkaException as failure:
        raise failure_of(failure.args[0]) from None
