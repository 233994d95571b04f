"""The answers to ConsumerGroupHeartbeat as values."""

from moldau.broker.group.consumer.consumer_member import ConsumerMember
from moldau.broker.group.consumer.topic_id_partitions import by_topic
from moldau.broker.group.settings import ConsumerSettings
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)


def heartbeat_refused(error: ApiError) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        error_code=error.code, error_message=error.message, member_epoch=0, heartbeat_interval_ms=0
    )


def heartbeat_reply(
    member: ConsumerMember, settings: ConsumerSettings, *, with_assignment: bool
) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        assignment=_assignment(member) if with_assignment else None,
    )


def left_reply(member_id: str, epoch: int) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=epoch, heartbeat_interval_ms=0)


def _assignment(member: ConsumerMember) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in by_topic(member.assigned)
        ]
    )
