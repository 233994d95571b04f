"""OffsetForLeaderEpoch (23), v2-4.

v3 replica id   v4 flexible

The end offset of a leader epoch. Clients and followers use it to detect that a log was truncated (KIP-320).
Followers need no access to topics.
"""

from moldau.broker.hosting.hosted_partitions import leader_error, missing_partition_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from moldau.security.access.model import Operation, ResourceKind

UNKNOWN = -1


def handle(ctx: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    names = frozenset(topic.topic for topic in request.topics)
    if not ctx.may_with_cluster(Operation.CLUSTER_ACTION, is_logged=False):
        names = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, names)
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    _look_up(ctx, topic.topic, wanted)
                    if topic.topic in names
                    else _answer(wanted, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                    for wanted in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


API = ApiSpec.of(OffsetForLeaderEpochRequest, handle)


def _look_up(ctx: RequestContext, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = ctx.broker.partitions.find(topic, wanted.partition)
    if partition is None:
        return _answer(wanted, missing_partition_error(ctx.broker.catalog, topic, wanted.partition))
    if (code := leader_error(partition, wanted.current_leader_epoch)) is not None:
        return _answer(wanted, code)
    if partition.log is None:
        return _answer(wanted, ErrorCode.KAFKA_STORAGE_ERROR)
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.leader_epoch)
    return _answer(wanted, ErrorCode.NONE, epoch, end_offset)


def _answer(
    wanted: OffsetForLeaderPartition, code: ErrorCode, epoch: int = UNKNOWN, end_offset: int = UNKNOWN
) -> EpochEndOffset:
    return EpochEndOffset(
        error_code=code, partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset
    )
