"""AddPartitionsToTxn (24), v0-5.

v2 producer fenced   v3 flexible   v4 many transactions at once, verification only (KIP-890)
v5 abortable errors

All partitions of a transaction must exist, and the client must be allowed to write to them, otherwise none is
added. From v4 on the request comes from brokers only; to internal topics only they write.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import INTERNAL_TOPICS
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from moldau.security.access.model import Operation, ResourceKind

BATCHED_SINCE: Final = 4


async def handle(ctx: RequestContext, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
    if ctx.version < BATCHED_SINCE:
        transactional_id, topics = request.v3_and_below_transactional_id, request.v3_and_below_topics
        if not ctx.may(Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, transactional_id):
            return _refused(ctx, request, transactional_id, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        names = {topic.name for topic in topics} - INTERNAL_TOPICS
        results = _unfit(ctx, topics, ctx.allowed(Operation.WRITE, ResourceKind.TOPIC, names))
        if results is not None:
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
        return await _ask(ctx, request, transactional_id)
    if not ctx.may_with_cluster(Operation.CLUSTER_ACTION):
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    by_transaction: list[AddPartitionsToTxnResult] = []
    for each in request.transactions:
        results = _unfit(ctx, each.topics, frozenset(topic.name for topic in each.topics))
        if results is not None:
            by_transaction.append(
                AddPartitionsToTxnResult(transactional_id=each.transactional_id, topic_results=results)
            )
            continue
        reply = await _ask(ctx, AddPartitionsToTxnRequest(transactions=[each]), each.transactional_id)
        by_transaction += reply.results_by_transaction
    return AddPartitionsToTxnResponse(results_by_transaction=by_transaction)


API = ApiSpec.of(AddPartitionsToTxnRequest, handle)


async def _ask(
    ctx: RequestContext, request: AddPartitionsToTxnRequest, transactional_id: str
) -> AddPartitionsToTxnResponse:
    client = client_facts(ctx.client)
    try:
        shard = await ctx.broker.transactions.shards.ready(transactional_id)
        reply: AddPartitionsToTxnResponse = await shard.ask(
            lambda machine, request_id, now_ms: machine.decide_add_partitions(
                request_id, request, ctx.version, client, now_ms
            )
        )
    except ApiError as error:
        return _refused(ctx, request, transactional_id, coordinator_error(error))
    return reply


def _refused(
    ctx: RequestContext, request: AddPartitionsToTxnRequest, transactional_id: str, code: ErrorCode
) -> AddPartitionsToTxnResponse:
    if ctx.version < BATCHED_SINCE:
        topics = _all_answered(request.v3_and_below_topics, code)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topics)
    topics = _all_answered(request.transactions[0].topics, code)
    result = AddPartitionsToTxnResult(transactional_id=transactional_id, topic_results=topics)
    return AddPartitionsToTxnResponse(results_by_transaction=[result])


def _all_answered(
    topics: Sequence[AddPartitionsToTxnTopic], code: ErrorCode
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _unfit(
    ctx: RequestContext, topics: Sequence[AddPartitionsToTxnTopic], allowed: frozenset[str]
) -> list[AddPartitionsToTxnTopicResult] | None:
    """The errors when a partition does not exist or may not be written to; the other partitions were not
    attempted."""

    def error(topic: str, index: int) -> ErrorCode:
        if topic not in allowed:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        entry = ctx.broker.catalog.find(topic)
        is_there = entry is not None and 0 <= index < len(entry.partitions)
        return ErrorCode.OPERATION_NOT_ATTEMPTED if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    errors = [[error(topic.name, index) for index in topic.partitions] for topic in topics]
    if all(code is ErrorCode.OPERATION_NOT_ATTEMPTED for codes in errors for code in codes):
        return None
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                for index, code in zip(topic.partitions, codes, strict=True)
            ],
        )
        for topic, codes in zip(topics, errors, strict=True)
    ]
