"""A consumer group learns of topics that change without anybody's heartbeat."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from compat.apache_kafka import ApacheKafka
from compat.confluent_client import ConfluentClient
from compat.groups.waiting import wait_until
from compat.server_process import ServerProcess
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest


def test_a_topic_that_grows_starts_an_epoch(
    broker: ServerProcess, new_topic: Callable[..., str], confluent: ConfluentClient, group: str
) -> None:
    if isinstance(broker, ApacheKafka):
        pytest.skip("Kafka waits for a heartbeat")
    topic = new_topic(1)
    with WireClient(broker.port) as wire:
        finding = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        wait_until(lambda: wire.call(finding).coordinators[0].error_code == 0, "the coordinator is there")
        joining = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=str(uuid4()),
            member_epoch=0,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        )
        assert wire.call(joining).error_code == ErrorCode.NONE

        def seen() -> tuple[int, int]:
            """Epoch and members: were they to be expelled, there would be an epoch for that too."""
            (described,) = wire.call(ConsumerGroupDescribeRequest(group_ids=[group])).groups
            assert described.error_code == ErrorCode.NONE
            return described.group_epoch, len(described.members)

        assert seen() == (1, 1)
        confluent.grow_topic(topic, 2)
        wait_until(lambda: seen() == (2, 1), "the group has seen it")
