"""Produce (0), v3-13; advertised from v0, because otherwise librdkafka disables compression (KAFKA-18659).

v5 log start offset   v8 record errors (KIP-467)   v9 flexible   v11, v12 transactions v2 (KIP-890)
v13 topic ids (KIP-516)

A batch is checked, given its offset in place and written, not parsed. Where a topic needs its records checked
(compaction, recompression) a worker thread does that first. Where it asks for a flush the answer waits for
it. With `acks=all` the answer waits for the in-sync replicas.
"""

from collections.abc import Awaitable
from functools import partial
from typing import Final, NamedTuple

from moldau.broker.hosting.hosted_partitions import Leading, Partition, TopicKey, missing_partition_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import NO_ANSWER, ClientSession, frame_answer
from moldau.broker.transactions.txn_membership import Refused, join_transaction
from moldau.broker.transactions.verification import WaitingWrite
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicPartition
from moldau.protocol.fast.produce_codec import (
    PartitionProduced,
    ProduceTopics,
    decode_produce,
    encode_produce_response,
)
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.protocol.records.batch import HEADER_SIZE, read_header
from moldau.storage.log.append_check import RecordsRefused, UnpackingNeeded
from moldau.storage.log.partition_log import PartitionLog

FLEXIBLE_FROM: Final = 9
ABORTABLE_SINCE: Final = 11
JOINS_SINCE: Final = 12
"""From this version on the broker makes a partition part of the transaction (KIP-890); before, the client
does."""
ACKS_ALL: Final = -1
ACKS: Final = frozenset({ACKS_ALL, 0, 1})

Produced = list[tuple[TopicKey, list[PartitionProduced]]]


class _Deferred(NamedTuple):
    """A batch that must be decompressed before it is appended, and the position of its result in the
    answer."""

    partition: Partition
    write: WaitingWrite
    records: memoryview
    answers: list[PartitionProduced]
    at: int


class _Request:
    """A produce request in progress."""

    __slots__ = (
        "acks",
        "correlation_id",
        "deferred",
        "now_ms",
        "produced",
        "session",
        "timeout_ms",
        "uncommitted",
        "unflushed",
        "version",
    )

    def __init__(
        self,
        session: ClientSession,
        version: int,
        correlation_id: int,
        acks: int,
        timeout_ms: int,
        now_ms: int,
    ) -> None:
        self.session = session
        self.version = version
        self.correlation_id = correlation_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.now_ms = now_ms
        self.produced: Produced = []
        self.uncommitted: list[tuple[Partition, Leading, int]] = []
        """Partitions with other replicas, and the offset up to which they must be committed."""
        self.unflushed: list[PartitionLog] = []
        self.deferred: list[_Deferred] = []


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    transactional_id, acks, timeout_ms, topics = decode_produce(frame, position, version)
    now_ms = session.broker.clock.now_ms()
    request = _Request(session, version, correlation_id, acks, timeout_ms, now_ms)
    if transactional_id is None:
        return _take(request, topics, None)
    outside = _outside_transaction(request, transactional_id, topics)
    if isinstance(outside, Awaitable):
        # The frame's buffer is reused before the coordinator answers.
        copy = memoryview(bytearray(frame))
        topics = decode_produce(copy, position, version)[3]
        session.broker.scheduler.spawn(_take_later(request, topics, outside))
        return None
    return _take(request, topics, outside)


API = ApiSpec.of(ProduceRequest, handle_frame=handle_frame, advertised_min_version=0)


def _take(request: _Request, topics: ProduceTopics, outside: Refused | None) -> list[Chunk] | None:
    """Appends all batches. The answer, or None when it is sent later."""
    broker, acks = request.session.broker, request.acks
    find = broker.partitions.find
    for topic, partitions in topics:
        answers: list[PartitionProduced] = []
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None:
                answers.append(_refused(index, missing_partition_error(broker.catalog, topic, index)))
            elif not partition.is_leader:
                answers.append(_refused(index, ErrorCode.NOT_LEADER_OR_FOLLOWER))
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
                    # The frame's buffer is reused before the worker is done.
                    copy = memoryview(bytearray(records))
                    write = partition.verifying.begin(read_header(copy).producer_id)
                    request.deferred.append(_Deferred(partition, write, copy, answers, len(answers)))
                    answers.append(_refused(index, ErrorCode.UNKNOWN_SERVER_ERROR))
        request.produced.append((topic, answers))
    if request.deferred:
        broker.scheduler.spawn(_append_deferred(request))
        return None
    if request.unflushed or request.uncommitted:
        _reply_when_safe(request)
        return None
    return _answer(request)


async def _take_later(request: _Request, topics: ProduceTopics, outside: Awaitable[Refused]) -> None:
    answer = _take(request, topics, await outside)
    if answer is not None:
        request.session.connection.reply(answer)


def _outside_transaction(
    request: _Request, transactional_id: str, topics: ProduceTopics
) -> Refused | Awaitable[Refused]:
    """The partitions that could not be made part of the producer's transaction, and why."""
    topic_partitions: list[TopicPartition] = []
    producer = (-1, -1)
    find = request.session.broker.partitions.find
    for topic, partitions in topics:
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None or partition.log is None or not partition.is_leader:
                continue
            if records is None or len(records) < HEADER_SIZE:
                continue
            header = read_header(records)
            producer = (header.producer_id, header.producer_epoch)
            if not partition.log.producers.has_open_transaction(*producer):
                topic_partitions.append(TopicPartition(partition.topic, index))
    if not topic_partitions:
        return {}
    session, joins = request.session, request.version >= JOINS_SINCE
    joined = join_transaction(
        session.broker, session.client, transactional_id, *producer, topic_partitions, verify_only=not joins
    )
    if isinstance(joined, Awaitable):
        return _outside_later(joined, request.version)
    return _as_produce_errors(joined, request.version)


async def _outside_later(joined: Awaitable[Refused], version: int) -> Refused:
    return _as_produce_errors(await joined, version)


def _as_produce_errors(refused: Refused, version: int) -> Refused:
    return {topic_partition: _as_produce_error(code, version) for topic_partition, code in refused.items()}


def _as_produce_error(code: ErrorCode, version: int) -> ErrorCode:
    """Translates a coordinator's error into one a producer of this version understands (KIP-890)."""
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
    leading = partition.leading
    if leading is not None and request.acks == ACKS_ALL and leading.is_short:
        return _refused(partition.index, ErrorCode.NOT_ENOUGH_REPLICAS)
    try:
        base_offset, last_offset, append_time_ms, start_offset, is_duplicate = log.append_as_leader(
            records, leader_epoch=partition.leader_epoch, now_ms=request.now_ms, is_prepared=is_prepared
        )
    except (ApiError, StorageFault) as error:
        return _failed(request, partition, error)
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


async def _append_deferred(request: _Request) -> None:
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
            answers[at] = _failed(request, partition, error)
        finally:
            write.end()
    if request.unflushed or request.uncommitted:
        _reply_when_safe(request)
    else:
        request.session.connection.reply(_answer(request))


def _reply_when_safe(request: _Request) -> None:
    """Answers once everything is committed, and flushed where the topic asks for it."""
    left = len(request.uncommitted) + bool(request.unflushed)

    def one_done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            request.session.connection.reply(_answer(request))

    def committed(partition: Partition, leading: Leading, code: ErrorCode) -> None:
        if code is ErrorCode.NONE and leading.is_short:
            # It was committed while another part of the request was pending, and replicas have left the ISR
            # since.
            code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        if code is not ErrorCode.NONE:
            _take_back(request, partition, code)
        one_done()

    def flushed(fault: StorageFault | None) -> None:
        if fault is not None:
            _take_all_back(request, fault)
        one_done()

    if request.unflushed:
        request.session.broker.flusher.after_flush(request.unflushed, flushed)
    for partition, leading, end_offset in request.uncommitted:
        # Leadership may have changed while another batch was decompressed, so ask the leader of the time of
        # the append.
        leading.when_committed(end_offset, partial(committed, partition, leading), request.timeout_ms)


def _take_back(request: _Request, partition: Partition, code: ErrorCode) -> None:
    """Replaces the result of a partition by an error: the batch was appended but may not be safe."""
    for topic, answers in request.produced:
        if topic in (partition.topic, partition.topic_id):
            for at, answer in enumerate(answers):
                if answer[0] == partition.index and answer[1] == 0:
                    answers[at] = _refused(partition.index, code)


def _failed(request: _Request, partition: Partition, error: ApiError | StorageFault) -> PartitionProduced:
    if isinstance(error, StorageFault):
        request.session.broker.disks.fail(error)
        return _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR, str(error))
    if isinstance(error, RecordsRefused):
        return (partition.index, int(error.code), -1, -1, -1, error.record_errors, error.message)
    return _refused(partition.index, error.code, error.message)


def _refused(index: int, code: ErrorCode, message: str | None = None) -> PartitionProduced:
    return (index, int(code), -1, -1, -1, None, message)


def _take_all_back(request: _Request, fault: StorageFault) -> None:
    """A failed flush fails the whole request."""
    code = ErrorCode.KAFKA_STORAGE_ERROR
    request.produced = [
        (topic, [_refused(answer[0], code, str(fault)) for answer in answers])
        for topic, answers in request.produced
    ]


def _answer(request: _Request) -> list[Chunk]:
    if request.acks == 0:
        return _no_answer(request)
    body = encode_produce_response(request.version, 0, request.produced)
    return frame_answer(request.correlation_id, body, has_tags=request.version >= FLEXIBLE_FROM)


def _no_answer(request: _Request) -> list[Chunk]:
    """With acks=0 closing the connection is the only way to report an error."""
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
