"""AddPartitionsToTxn (24), v0-5.

v2 producer fenced   v3 flexible   v4 many transactions at once, verification only (KIP-890)
v5 abortable errors

All partitions of a transaction must exist, otherwise none is added.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.coordinator.router import client_facts
from moldau.broker.coordinator.shards import coordinator_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
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

BATCHED_SINCE: Final = 4


async def handle(ctx: RequestContext, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
    if ctx.version < BATCHED_SINCE:
        results = _missing(ctx, request.v3_and_below_topics)
        if results is not None:
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
        return await _ask(ctx, request, request.v3_and_below_transactional_id)
    by_transaction: list[AddPartitionsToTxnResult] = []
    for each in request.transactions:
        results = _missing(ctx, each.topics)
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


def _missing(
    ctx: RequestContext, topics: Sequence[AddPartitionsToTxnTopic]
) -> list[AddPartitionsToTxnTopicResult] | None:
    """The errors when a partition does not exist; the other partitions were not attempted."""
    catalog = ctx.broker.catalog

    def is_there(topic: str, index: int) -> bool:
        entry = catalog.find(topic)
        return entry is not None and 0 <= index < len(entry.partitions)

    if all(is_there(topic.name, index) for topic in topics for index in topic.partitions):
        return None
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                        if not is_there(topic.name, index)
                        else ErrorCode.OPERATION_NOT_ATTEMPTED
                    ),
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
