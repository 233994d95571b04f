"""TxnOffsetCommit (28), v0-5.

v2 leader epoch   v3 flexible, membership checked (KIP-447)   v4 abortable errors
v5 adds the offsets partition to the transaction by itself (KIP-890)
"""

from collections.abc import Awaitable, Mapping
from dataclasses import replace

from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.group.offsets.replies import WRITE_ERRORS, txn_commit_refused
from moldau.broker.handlers.groups.group_access import offset_errors
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.transactions.txn_membership import join_transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.transactions.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from moldau.security.access.model import Operation, ResourceKind

JOINS_SINCE = 5


async def handle(ctx: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    if not ctx.may(Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, request.transactional_id):
        return txn_commit_refused(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not ctx.may(Operation.READ, ResourceKind.GROUP, request.group_id):
        return txn_commit_refused(request, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    errors = offset_errors(
        ctx,
        (
            TopicPartition(topic.name, each.partition_index)
            for topic in request.topics
            for each in topic.partitions
        ),
    )
    if not errors:
        return await _commit(ctx, request)
    asked = _without(request, errors)
    committed = await _commit(ctx, asked) if asked.topics else TxnOffsetCommitResponse(topics=[])
    return _completed(committed, errors)


API = ApiSpec.of(TxnOffsetCommitRequest, handle)


async def _commit(ctx: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    broker = ctx.broker
    try:
        await broker.groups.shards.ready(request.group_id)
        await broker.transactions.shards.ensure()
    except ApiError as error:
        return txn_commit_refused(request, coordinator_error(error))
    topic_partition = broker.groups.shards.partition_of(request.group_id)
    assert topic_partition is not None
    joined = join_transaction(
        broker,
        ctx.client,
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        [topic_partition],
        verify_only=ctx.version < JOINS_SINCE,
    )
    refused = await joined if isinstance(joined, Awaitable) else joined
    if refused:
        return txn_commit_refused(
            request, WRITE_ERRORS.get(refused[topic_partition], refused[topic_partition])
        )
    reply = broker.groups.ask(request.group_id, request, ctx.version, ctx.client)
    committed: TxnOffsetCommitResponse = await reply if isinstance(reply, Awaitable) else reply
    return committed


def _without(
    request: TxnOffsetCommitRequest, errors: Mapping[TopicPartition, ErrorCode]
) -> TxnOffsetCommitRequest:
    topics = [
        replace(
            topic,
            partitions=[
                each
                for each in topic.partitions
                if TopicPartition(topic.name, each.partition_index) not in errors
            ],
        )
        for topic in request.topics
    ]
    return replace(request, topics=[topic for topic in topics if topic.partitions])


def _completed(
    committed: TxnOffsetCommitResponse, errors: Mapping[TopicPartition, ErrorCode]
) -> TxnOffsetCommitResponse:
    """The answer with the partitions that were not committed, each topic once."""
    by_name = {topic.name: list(topic.partitions) for topic in committed.topics}
    for (name, index), code in errors.items():
        by_name.setdefault(name, []).append(
            TxnOffsetCommitResponsePartition(partition_index=index, error_code=code)
        )
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(name=name, partitions=partitions)
            for name, partitions in by_name.items()
        ]
    )
