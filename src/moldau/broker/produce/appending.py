"""Appends the batches of a produce request and answers when they are safe.

A batch is checked, given its offset in place and written, not parsed. Where a topic needs its records checked
(compaction, recompression) a worker thread does that first. Where it asks for a flush the answer waits for it. With
`acks=all` the answer waits for the in-sync replicas.
"""

from functools import partial
from typing import Final

from moldau.broker.hosting.hosted_partitions import Leading, Partition, missing_partition_error
from moldau.broker.produce.produce_in_progress import DeferredBatch, ProduceInProgress, rejected
from moldau.broker.transactions.txn_membership import Refused
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicPartition
from moldau.protocol.fast.produce_codec import PartitionProduced, ProduceTopics
from moldau.protocol.records.batch import read_header
from moldau.storage.log.append_check import UnpackingNeeded

ACKS_ALL: Final = -1
ACKS: Final = frozenset({ACKS_ALL, 0, 1})


def append_all(
    request: ProduceInProgress, topics: ProduceTopics, outside: Refused | None
) -> list[Chunk] | None:
    """Appends all batches. The answer, or None when it is sent later."""
    broker, acks = request.session.broker, request.acks
    find = broker.partitions.find
    for topic, partitions in topics:
        answers: list[PartitionProduced] = []
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None:
                answers.append(rejected(index, missing_partition_error(broker.catalog, topic, index)))
            elif not partition.is_leader:
                answers.append(rejected(index, ErrorCode.NOT_LEADER_OR_FOLLOWER))
            elif acks not in ACKS:
                answers.append(
                    rejected(index, ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}: use 0, 1 or -1")
                )
            elif outside and (partition.topic, index) in outside:
                answers.append(rejected(index, outside[TopicPartition(partition.topic, index)]))
            elif records is None:
                answers.append(rejected(index, ErrorCode.INVALID_RECORD, "no records were sent"))
            else:
                try:
                    answers.append(_append(request, partition, records))
                except UnpackingNeeded:
                    # The frame's buffer is reused before the worker is done.
                    copy = memoryview(bytearray(records))
                    write = partition.verifying.begin(read_header(copy).producer_id)
                    request.deferred.append(DeferredBatch(partition, write, copy, answers, len(answers)))
                    answers.append(rejected(index, ErrorCode.UNKNOWN_SERVER_ERROR))
        request.produced.append((topic, answers))
    if request.deferred:
        broker.scheduler.spawn(_append_deferred(request))
        return None
    if request.unflushed or request.uncommitted:
        _reply_when_safe(request)
        return None
    return request.answer()


def _append(
    request: ProduceInProgress, partition: Partition, records: memoryview, *, is_prepared: bool = False
) -> PartitionProduced:
    log = partition.log
    if log is None:
        return rejected(partition.index, ErrorCode.KAFKA_STORAGE_ERROR)
    leading = partition.leading
    if leading is not None and request.acks == ACKS_ALL and leading.is_short:
        return rejected(partition.index, ErrorCode.NOT_ENOUGH_REPLICAS)
    try:
        base_offset, last_offset, append_time_ms, start_offset, is_duplicate = log.append_as_leader(
            records, leader_epoch=partition.leader_epoch, now_ms=request.now_ms, is_prepared=is_prepared
        )
    except (ApiError, StorageFault) as error:
        return request.failed(partition, error)
    if leading is not None:
        if not is_duplicate:
            leading.appended()
        if request.acks == ACKS_ALL and last_offset >= log.high_watermark:
            request.uncommitted.append((partition, leading, last_offset + 1))
    elif not is_duplicate:
        log.advance_high_watermark(log.end_offset)
        if partition.waiters:
            request.session.broker.parked_fetches.appended(partition)
    if log.flush_due(request.now_ms):
        request.unflushed.append(log)
    return (partition.index, 0, base_offset, append_time_ms, start_offset, None, None)


async def _append_deferred(request: ProduceInProgress) -> None:
    scheduler = request.session.broker.scheduler
    for partition, write, records, answers, at in request.deferred:
        try:
            log = partition.log
            if log is None:
                raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
            prepare = partial(log.prepare, records, now_ms=request.now_ms)
            prepared = await scheduler.run_in_worker(prepare)
            if not partition.is_leader:
                raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            if not write.end():
                raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
            answers[at] = _append(request, partition, prepared, is_prepared=True)
        except ApiError as error:
            answers[at] = request.failed(partition, error)
        finally:
            write.end()
    if request.unflushed or request.uncommitted:
        _reply_when_safe(request)
    else:
        request.session.connection.reply(request.answer())


def _reply_when_safe(request: ProduceInProgress) -> None:
    """Answers once everything is committed, and flushed where the topic asks for it."""
    left = len(request.uncommitted) + bool(request.unflushed)

    def one_done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            request.session.connection.reply(request.answer())

    def committed(partition: Partition, leading: Leading, code: ErrorCode) -> None:
        if code is ErrorCode.NONE and leading.is_short:
            # It was committed while another part of the request was pending, and replicas have left the ISR
            # since.
            code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        if code is not ErrorCode.NONE:
            request.withdraw(partition, code)
        one_done()

    def flushed(fault: StorageFault | None) -> None:
        if fault is not None:
            request.withdraw_all(fault)
        one_done()

    if request.unflushed:
        request.session.broker.flusher.after_flush(request.unflushed, flushed)
    for partition, leading, end_offset in request.uncommitted:
        # Leadership may have changed while another batch was decompressed, so ask the leader of the time of
        # the append.
        leading.when_committed(end_offset, partial(committed, partition, leading), request.timeout_ms)
