"""DeleteRecords (21), v0-2: moves the log start offset forward (KIP-107).

v2 flexible

Segments before the new start are deleted at the next retention check. The request is rejected for a compacted
topic, where only compaction removes records.
"""

from moldau.broker.hosting.hosted_partitions import missing_partition_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.catalog import INTERNAL_TOPICS
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.log.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from moldau.security.access.model import Operation, ResourceKind
from moldau.storage.log.partition_log import PartitionLog

NO_LOW_WATERMARK = -1


def handle(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    allowed = ctx.allowed(Operation.DELETE, ResourceKind.TOPIC, (topic.name for topic in request.topics))
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    _delete(ctx, topic.name, each.partition_index, each.offset)
                    if topic.name in allowed
                    else _refused(each.partition_index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


API = ApiSpec.of(DeleteRecordsRequest, handle)


def _delete(ctx: RequestContext, topic: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
    try:
        low_watermark = _find_log(ctx, topic, index).delete_records_before(offset)
    except ApiError as error:
        return _refused(index, error.code)
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=low_watermark)


def _refused(index: int, code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=NO_LOW_WATERMARK, error_code=code
    )


def _find_log(ctx: RequestContext, topic: str, index: int) -> PartitionLog:
    partition = ctx.broker.partitions.find(topic, index)
    if topic in INTERNAL_TOPICS:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition is None:
        raise ApiError(missing_partition_error(ctx.broker.catalog, topic, index))
    if not partition.is_leader:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if partition.log is None:
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
    if partition.log.config.compact and not partition.log.config.delete:
        raise ApiError(ErrorCode.POLICY_VIOLATION)
    return partition.log
