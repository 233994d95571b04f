"""WriteTxnMarkers (27), v1-2.

v1 flexible   v2 transaction version (KIP-1228)

Sent by a coordinator to partition leaders, and by an administrator to end a hanging transaction.
"""

import asyncio

from moldau.broker.coordinator.router import client_facts
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import ProducerEpoch, ProducerId, TopicPartition
from moldau.protocol.messages.transactions.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from moldau.security.access.model import Operation


async def handle(ctx: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    is_allowed = ctx.may_with_cluster(Operation.ALTER, is_logged=False) or ctx.may_with_cluster(
        Operation.CLUSTER_ACTION
    )
    if not is_allowed:
        return WriteTxnMarkersResponse(markers=[_forbidden(marker) for marker in request.markers])
    return WriteTxnMarkersResponse(markers=[await _write(ctx, marker) for marker in request.markers])


API = ApiSpec.of(WriteTxnMarkersRequest, handle)


async def _write(ctx: RequestContext, marker: WritableTxnMarker) -> WritableTxnMarkerResult:
    written = {
        TopicPartition(topic.name, index): _write_one(ctx, marker, TopicPartition(topic.name, index))
        for topic in marker.topics
        for index in topic.partition_indexes
    }
    topics = [
        WritableTxnMarkerTopicResult(
            name=topic.name,
            partitions=[
                WritableTxnMarkerPartitionResult(
                    partition_index=index, error_code=await written[TopicPartition(topic.name, index)]
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in marker.topics
    ]
    _note(ctx, marker)
    return WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)


def _forbidden(marker: WritableTxnMarker) -> WritableTxnMarkerResult:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return WritableTxnMarkerResult(
        producer_id=marker.producer_id,
        topics=[
            WritableTxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )


def _write_one(
    ctx: RequestContext, marker: WritableTxnMarker, topic_partition: TopicPartition
) -> asyncio.Future[ErrorCode]:
    """The result, once the marker is committed."""
    done: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
    ctx.broker.markers.write(
        topic_partition,
        lambda code: None if done.done() else done.set_result(code),
        producer_id=ProducerId(marker.producer_id),
        producer_epoch=ProducerEpoch(marker.producer_epoch),
        coordinator_epoch=marker.coordinator_epoch,
        committed=marker.transaction_result,
        transaction_version=marker.transaction_version,
    )
    return done


def _note(ctx: RequestContext, marker: WritableTxnMarker) -> None:
    """Records the marker in the history of the transaction's coordinator."""
    topic_partitions = [
        TopicPartition(topic.name, index) for topic in marker.topics for index in topic.partition_indexes
    ]
    client = client_facts(ctx.client)
    for shard in ctx.broker.transactions.shards:
        shard.tell(
            lambda machine, now_ms: machine.decide_markers_by_admin(
                marker.producer_id, marker.producer_epoch, topic_partitions, client, now_ms
            )
        )
