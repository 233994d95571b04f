"""DescribeTopicPartitions (75), v0: topics page by page, in the order of their names (KIP-966).

An answer has at most `max.request.partition.size.limit` partitions; its cursor says where the next page
starts.
"""

from collections.abc import Sequence

from moldau.broker.handlers.topics.metadata import OPERATIONS_NOT_ASKED
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import TopicEntry
from moldau.broker.topics.topic_rules import topic_name_problem
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TOPIC_ID_ZERO
from moldau.protocol.messages.topics.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from moldau.security.access.model import Operation, ResourceKind


def handle(ctx: RequestContext, request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    asked = sorted({topic.name for topic in request.topics})
    if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
        refused = [_refused(name, ErrorCode.INVALID_REQUEST) for name in asked]
        return DescribeTopicPartitionsResponse(topics=refused)
    names = asked or sorted(entry.name for entry in ctx.broker.catalog.topics())
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
    left = max(
        1, min(request.response_partition_limit, ctx.broker.configs.broker.max_request_partition_size_limit)
    )
    seen = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, names)
    # Topics without access are left out, and named where the client has asked for them.
    hidden = [
        _refused(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for name in names if asked and name not in seen
    ]
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name in names:
        if name not in seen:
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        if left == 0:
            return DescribeTopicPartitionsResponse(topics=topics + hidden, next_cursor=_cursor(name, first))
        entry = ctx.broker.catalog.find(name)
        if entry is None:
            topics.append(_missing(ctx, name))
            continue
        indexes = range(len(entry.partitions))[first : first + left]
        topics.append(_topic(ctx, entry, indexes))
        left -= len(indexes)
        if first + len(indexes) < len(entry.partitions):
            return DescribeTopicPartitionsResponse(
                topics=topics + hidden, next_cursor=_cursor(name, first + len(indexes))
            )
    return DescribeTopicPartitionsResponse(topics=topics + hidden)


API = ApiSpec.of(DescribeTopicPartitionsRequest, handle)


def _cursor(name: str, index: int) -> Cursor:
    return Cursor(topic_name=name, partition_index=index)


def _topic(
    ctx: RequestContext, entry: TopicEntry, indexes: Sequence[int]
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=entry.name,
        topic_id=entry.topic_id,
        is_internal=entry.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=ErrorCode.NONE if partition.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=[],
                last_known_elr=[],
                offline_replicas=ctx.broker.members.offline(partition.replicas),
            )
            for index in indexes
            for partition in (entry.partitions[index],)
        ],
        topic_authorized_operations=ctx.operations(ResourceKind.TOPIC, entry.name),
    )


def _missing(ctx: RequestContext, name: str) -> DescribeTopicPartitionsResponseTopic:
    is_bad_name = topic_name_problem(name) is not None
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if is_bad_name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return _refused(name, code, ctx.operations(ResourceKind.TOPIC, name))


def _refused(
    name: str, code: ErrorCode, operations: int = OPERATIONS_NOT_ASKED
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code,
        name=name,
        topic_id=TOPIC_ID_ZERO,
        partitions=[],
        topic_authorized_operations=operations,
    )
