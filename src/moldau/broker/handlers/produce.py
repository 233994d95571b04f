"""Produce (0), v3-13; advertised from v0 because librdkafka switches compression off otherwise (KAFKA-18659).

v5 log start offset   v8 record errors (KIP-467)   v9 flexible   v11, v12 transactions v2 (KIP-890)
v13 topic ids (KIP-516)

A batch is checked, given its offset in place and written: never parsed. The answer waits only where the topic
asks for a flush (`flush.messages`).
"""

from typing import Final

from moldau.broker.api_table import ApiSpec
from moldau.broker.partitions import Partition, TopicKey, missing_partition_error
from moldau.broker.session import NO_ANSWER, ClientSession, frame_answer
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.fast.produce import PartitionProduced, decode_produce, encode_produce_response
from moldau.protocol.messages.produce import ProduceRequest
from moldau.storage.append_check import RecordsRefused
from moldau.storage.partition_log import PartitionLog

FLEXIBLE_FROM: Final = 9
ACKS: Final = frozenset({-1, 0, 1})

Produced = list[tuple[TopicKey, list[PartitionProduced]]]


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    _, acks, _, topics = decode_produce(frame, position, version)
    broker = session.broker
    now_ms = broker.clock.now_ms()
    find = broker.partitions.find
    produced: Produced = []
    unflushed: list[PartitionLog] = []
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
            elif records is None:
                answers.append(_refused(index, ErrorCode.INVALID_RECORD, "no records were sent"))
            else:
                answers.append(_append(session, partition, records, now_ms, unflushed))
        produced.append((topic, answers))
    if unflushed:
        broker.flusher.after_flush(
            unflushed, lambda fault: _reply(session, version, correlation_id, acks, produced, fault)
        )
        return None
    if acks == 0:
        return _no_answer(session, produced)
    return _framed(version, correlation_id, produced)


API = ApiSpec.of(ProduceRequest, handle_frame=handle_frame, advertised_min_version=0)


def _append(
    session: ClientSession,
    partition: Partition,
    records: memoryview,
    now_ms: int,
    unflushed: list[PartitionLog],
) -> PartitionProduced:
    log = partition.log
    if log is None:
        return _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR)
    try:
        base_offset, _, append_time_ms, start_offset, is_duplicate = log.append_as_leader(
            records, leader_epoch=partition.leader_epoch, now_ms=now_ms
        )
    except RecordsRefused as refusal:
        errors = refusal.record_errors
        return (partition.index, int(refusal.code), -1, -1, log.start_offset, errors, refusal.message)
    except ApiError as error:
        return _refused(partition.index, error.code, error.message)
    except StorageFault as fault:
        session.broker.disks.fail(fault)
        return _refused(partition.index, ErrorCode.KAFKA_STORAGE_ERROR, str(fault))
    if not is_duplicate:
        log.advance_high_watermark(log.end_offset)
        if partition.waiters:
            session.broker.parked_fetches.appended(partition)
    if log.flush_due(now_ms):
        unflushed.append(log)
    return (partition.index, 0, base_offset, append_time_ms, start_offset, None, None)


def _refused(index: int, code: ErrorCode, message: str | None = None) -> PartitionProduced:
    return (index, int(code), -1, -1, -1, None, message)


def _reply(
    session: ClientSession,
    version: int,
    correlation_id: int,
    acks: int,
    produced: Produced,
    fault: StorageFault | None,
) -> None:
    """Answers after the flush; where it failed, nothing of the request counts as written."""
    if fault is not None:
        code = ErrorCode.KAFKA_STORAGE_ERROR
        produced = [
            (topic, [_refused(answer[0], code, str(fault)) for answer in answers])
            for topic, answers in produced
        ]
    answer = _no_answer(session, produced) if acks == 0 else _framed(version, correlation_id, produced)
    session.connection.reply(answer)


def _framed(version: int, correlation_id: int, produced: Produced) -> list[Chunk]:
    body = encode_produce_response(version, 0, produced)
    return frame_answer(correlation_id, body, has_tags=version >= FLEXIBLE_FROM)


def _no_answer(session: ClientSession, produced: Produced) -> list[Chunk]:
    """Without acknowledgements the only way to tell a client of an error is to close its connection."""
    for topic, answers in produced:
        for index, code, *_, message in answers:
            if code:
                name = topic if isinstance(topic, str) else topic.hex()
                session.connection.abort(
                    f"a produce request with acks=0 to {name}-{index} failed: "
                    f"{ErrorCode(code).name} {message or ''}".rstrip()
                )
                return NO_ANSWER
    return NO_ANSWER
