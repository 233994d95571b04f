"""ListOffsets (2), v1-11.

v2 isolation level   v4 leader epoch   v6 flexible   v7 max timestamp (KIP-734)   v8 earliest local (KIP-405)
v9 latest tiered   v10 timeout   v11 earliest pending upload

The earliest and latest offset are in memory. A search by timestamp reads the log on a worker thread.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from moldau.broker.fetch.consumer_fetch import READ_COMMITTED
from moldau.broker.hosting.hosted_partitions import Partition, leader_error, missing_partition_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.messages.log.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from moldau.security.access.model import Operation, ResourceKind
from moldau.storage.log.partition_log import PartitionLog

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
UNKNOWN: Final = -1
OFFSET_NOT_AVAILABLE_SINCE: Final = 5

Search = Callable[[], ListOffsetsPartitionResponse]
"""Reads files, so it runs on a worker thread."""


def handle(
    ctx: RequestContext, request: ListOffsetsRequest
) -> ListOffsetsResponse | Awaitable[ListOffsetsResponse]:
    is_committed = request.isolation_level == READ_COMMITTED
    allowed = ctx.allowed(Operation.DESCRIBE, ResourceKind.TOPIC, (topic.name for topic in request.topics))
    forbidden = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    found = [
        (
            topic.name,
            [
                _locate(ctx, topic.name, wanted, is_committed=is_committed)
                if topic.name in allowed
                else _refused(wanted, forbidden)
                for wanted in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    if any(callable(answer) for _, answers in found for answer in answers):
        return _search(ctx, found)
    return _answer(found)


API = ApiSpec.of(ListOffsetsRequest, handle)


async def _search(
    ctx: RequestContext, found: list[tuple[str, list[ListOffsetsPartitionResponse | Search]]]
) -> ListOffsetsResponse:
    def run() -> list[tuple[str, list[ListOffsetsPartitionResponse | Search]]]:
        return [(topic, [each() if callable(each) else each for each in answers]) for topic, answers in found]

    return _answer(await ctx.broker.scheduler.run_in_worker(run))


def _answer(
    found: list[tuple[str, list[ListOffsetsPartitionResponse | Search]]],
) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        throttle_time_ms=0,
        topics=[
            ListOffsetsTopicResponse(
                name=topic, partitions=[answer for answer in answers if not callable(answer)]
            )
            for topic, answers in found
        ],
    )


def _locate(
    ctx: RequestContext, topic: str, wanted: ListOffsetsPartition, *, is_committed: bool
) -> ListOffsetsPartitionResponse | Search:
    partition = ctx.broker.partitions.find(topic, wanted.partition_index)
    if partition is None:
        return _refused(wanted, missing_partition_error(ctx.broker.catalog, topic, wanted.partition_index))
    if (code := leader_error(partition, wanted.current_leader_epoch)) is not None:
        return _refused(wanted, code)
    if (code := _unsettled_error(ctx, partition, wanted)) is not None:
        return _refused(wanted, code)
    log = partition.log
    if log is None:
        return _refused(wanted, ErrorCode.KAFKA_STORAGE_ERROR)
    end_offset = log.last_stable_offset if is_committed else log.high_watermark
    match wanted.timestamp:
        case -1:
            return _found(wanted, UNKNOWN, end_offset, log.epochs.latest)
        case -2 | -4:
            return _found(wanted, UNKNOWN, log.start_offset, log.epochs.epoch_of(log.start_offset))
        case -5 | -6:  # There is no tiered storage.
            return _found(wanted, UNKNOWN, UNKNOWN, UNKNOWN)
        case timestamp if timestamp < EARLIEST_PENDING_UPLOAD:
            return _refused(wanted, ErrorCode.UNSUPPORTED_VERSION)
    return lambda: _search_one(log, wanted, end_offset)


def _unsettled_error(
    ctx: RequestContext, partition: Partition, wanted: ListOffsetsPartition
) -> ErrorCode | None:
    """A new leader knows what is committed only once everything it had is committed. Until then it could
    report a smaller end offset than the leader before it (KIP-207)."""
    leading = partition.leading
    if leading is None or leading.is_settled or wanted.timestamp in (EARLIEST, EARLIEST_LOCAL):
        return None
    is_known = ctx.version >= OFFSET_NOT_AVAILABLE_SINCE
    return ErrorCode.OFFSET_NOT_AVAILABLE if is_known else ErrorCode.LEADER_NOT_AVAILABLE


def _search_one(
    log: PartitionLog, wanted: ListOffsetsPartition, end_offset: int
) -> ListOffsetsPartitionResponse:
    try:
        if wanted.timestamp == MAX_TIMESTAMP:
            found = log.find_max_timestamp()
        else:
            found = log.find_offset_by_time(wanted.timestamp)
    except StorageFault:
        return _refused(wanted, ErrorCode.KAFKA_STORAGE_ERROR)
    except ApiError as error:
        return _refused(wanted, error.code)
    if found is None or found.offset >= end_offset:
        return _found(wanted, UNKNOWN, UNKNOWN, UNKNOWN)
    return _found(wanted, found.timestamp, found.offset, found.leader_epoch)


def _found(
    wanted: ListOffsetsPartition, timestamp: int, offset: int, leader_epoch: int
) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        error_code=ErrorCode.NONE,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=leader_epoch,
    )


def _refused(wanted: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(
        partition_index=wanted.partition_index,
        error_code=code,
        timestamp=UNKNOWN,
        offset=UNKNOWN,
        leader_epoch=UNKNOWN,
    )
