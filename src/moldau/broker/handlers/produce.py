"""Produce (0), v3-13; advertised from v0 because librdkafka switches compression off otherwise (KAFKA-18659).

v5 log start offset   v8 record errors (KIP-467)   v9 flexible   v11, v12 transactions v2 (KIP-890)
v13 topic ids (KIP-516)

A batch is checked, given its offset in place and written: not parsed. Where a topic asks for a look at its records
(compaction, recompression) a worker does that first; where it asks for a flush, the answer waits for it.
"""

from functools import partial
from typing import Final, NamedTuple

from moldau.broker.api_table import ApiSpec
from moldau.broker.partitions import Partition, TopicKey, missing_partition_error
from moldau.broker.session import NO_ANSWER, ClientSession, frame_answer
from moldau.broker.txn_membership import Refused, join_transaction
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicPartition
from moldau.protocol.fast.produce import (
    PartitionProduced,
    ProduceTopics,
    decode_produce,
    encode_produce_response,
)
from moldau.protocol.messages.produce import ProduceRequest
from moldau.protocol.records.batch import HEADER_SIZE, read_header
from moldau.storage.append_check import RecordsRefused, UnpackingNeeded
from moldau.storage.partition_log import PartitionLog

FLEXIBLE_FROM: Final = 9
ABORTABLE_SINCE: Final = 11
JOINS_SINCE: Final = 12
"""From here on the broker makes a partition part of the transaction (KIP-890); before, the client has."""
ACKS: Final = frozenset({-1, 0, 1})

Produced = list[tuple[TopicKey, list[PartitionProduced]]]


class _Deferred(NamedTuple):
    """A batch that must be unpacked before it can be appended, and where its answer belongs."""

    partition: Partition
    records: memoryview
    answers: list[PartitionProduced]
    at: int


class _Request:
    """A produce request being served."""

    __slots__ = (
        "acks",
        "correlation_id",
        "deferred",
        "now_ms",
        "produced",
        "session",
        "unflushed",
        "version",
    )

    def __init__(
        self, session: ClientSession, version: int, correlation_id: int, acks: int, now_ms: int
    ) -> None:
        self.session = session
        self.version = version
        self.correlation_id = correlation_id
        self.acks = acks
        self.now_ms = now_ms
        self.produced: Produced = []
        self.unflushed: list[PartitionLog] = []
        self.deferred: list[_Deferred] = []


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    transactional_id, acks, _, topics = decode_produce(frame, position, version)
    broker = session.broker
    request = _Request(session, version, correlation_id, acks, broker.clock.now_ms())
    find = broker.partitions.find
    outside = None if transactional_id is None else _outside_transaction(request, transactional_id, topics)
    for topic, partitions in topics:
        answers: list[PartitionProduced] = []
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None:
                answers.append(_refused(index, missing_partition_error(topic)))
            elif acks not in ACKS:
                answers.append(
                    _refused(index, ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}: use 0, 1 or -1")
                )
            elif outside and (partition.topic, index) in outside:
                answers.append(_refused(index, outside[TopicPartition(partition.topic, index)]))
            elif records is None:
                answers.append(_refused(index, ErrorCode.INVALID_RECORD, "no records were sent"))
            else:
                try:
                    answers.append(_append(request, partition, records))
                except UnpackingNeeded:
                    # The frame's buffer is used again before the worker is done.
                    copy = memoryview(bytearray(records))
                    request.deferred.append(_Deferred(partition, copy, answers, len(answers)))
                    answers.append(_refused(index, ErrorCode.UNKNOWN_SERVER_ERROR))
        request.produced.append((topic, answers))
    if request.deferred:
        broker.scheduler.spawn(_append_deferred(request))
        return None
    if request.unflushed:
        broker.flusher.after_flush(request.unflushed, lambda fault: _reply(request, fault))
        return None
    return _answer(request)


API = ApiSpec.of(ProduceRequest, handle_frame=handle_frame, advertised_min_version=0)


def _outside_transaction(request: _Request, transactional_id: str, topics: ProduceTopics) -> Refused:
    """Partitions that could not be made part of the producer's transaction, and why."""
    places: list[TopicPartition] = []
    producer = (-1, -1)
    find = request.session.broker.partitions.find
    for topic, partitions in topics:
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None or partition.log is None or records is None or len(records) < HEADER_SIZE:
                continue
            header = read_header(records)
            producer = (header.producer_id, header.producer_epoch)
            if not partition.log.has_open_transaction(*producer):
                places.append(TopicPartition(partition.topic, index))
    if not places:
        return {}
    session, joins = request.session, request.version >= JOINS_SINCE
    refused = join_transaction(
        session.broker, session.client, transactional_id, *producer, places, verify_only=not joins
    )
    return {place: _as_produce_error(code, request.version) for place, code in refused.items()}


def _as_produce_error(code: ErrorCode, version: int) -> ErrorCode:
    """A coordinator's refusal in words a producer of this version understands (KIP-890)."""
    if code is ErrorCode.CONCURRENT_TRANSACTIONS and version < JOINS_SINCE:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def _append(
    request: _Request, partition: Partition, records: memoryview, *, is_prepared: bool = False
) -> PartitionProduced:
    log = partition.log
    if log is None:
        return _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR)
    broker = request.session.broker
    try:
        base_offset, _, append_time_ms, start_offset, is_duplicate = log.append_as_leader(
            records, leader_epoch=partition.leader_epoch, now_ms=request.now_ms, is_prepared=is_prepared
        )
    except (ApiError, StorageFault) as error:
        return _failed(request, partition, error)
    if not is_duplicate:
        log.advance_high_watermark(log.end_offset)
        if partition.waiters:
            broker.parked_fetches.appended(partition)
    if log.flush_due(request.now_ms):
        request.unflushed.append(log)
    return (partition.index, 0, base_offset, append_time_ms, start_offset, None, None)


async def _append_deferred(request: _Request) -> None:
    scheduler = request.session.broker.scheduler
    for partition, records, answers, at in request.deferred:
        log = partition.log
        if log is None:
            answers[at] = _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR)
            continue
        try:
            prepare = partial(log.prepare, records, now_ms=request.now_ms)
            prepared = await scheduler.run_in_worker(prepare)
            answers[at] = _append(request, partition, prepared, is_prepared=True)
        except ApiError as error:
            answers[at] = _failed(request, partition, error)
    if request.unflushed:
        request.session.broker.flusher.after_flush(request.unflushed, lambda fault: _reply(request, fault))
    else:
        _reply(request, None)


def _failed(request: _Request, partition: Partition, error: ApiError | StorageFault) -> PartitionProduced:
    if isinstance(error, StorageFault):
        request.session.broker.disks.fail(error)
        return _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR, str(error))
    if isinstance(error, RecordsRefused):
        return (partition.index, int(error.code), -1, -1, -1, error.record_errors, error.message)
    return _refused(partition.index, error.code, error.message)


def _refused(index: int, code: ErrorCode, message: str | None = None) -> PartitionProduced:
    return (index, int(code), -1, -1, -1, None, message)


def _reply(request: _Request, fault: StorageFault | None) -> None:
    """Answers after the flush; where it failed, nothing of the request counts as written."""
    if fault is not None:
        code = ErrorCode.KAFKA_STORAGE_ERROR
        request.produced = [
            (topic, [_refused(answer[0], code, str(fault)) for answer in answers])
            for topic, answers in request.produced
        ]
    request.session.connection.reply(_answer(request))


def _answer(request: _Request) -> list[Chunk]:
    if request.acks == 0:
        return _no_answer(request)
    body = encode_produce_response(request.version, 0, request.produced)
    return frame_answer(request.correlation_id, body, has_tags=request.version >= FLEXIBLE_FROM)


def _no_answer(request: _Request) -> list[Chunk]:
    """Without acknowledgements the only way to tell a client of an error is to close its connection."""
    for topic, answers in request.produced:
        for index, code, *_, message in answers:
            if code:
                name = topic if isinstance(topic, str) else topic.hex()
                request.session.connection.abort(
                    f"a produce request with acks=0 to {name}-{index} failed: "
                    f"{ErrorCode(code).name} {message or ''}".rstrip()
                )
                return NO_ANSWER
    return NO_ANSWER
