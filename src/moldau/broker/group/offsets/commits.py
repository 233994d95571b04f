"""OffsetCommit and TxnOffsetCommit: who may commit, what is written, and what enters the history."""

from collections.abc import Iterator
from typing import Final

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic.classic_group import ClassicGroup
from moldau.broker.group.facts import GroupFact, OffsetChangeNoted, OffsetCommitted
from moldau.broker.group.history.changes import OffsetChange, OffsetChangeKind
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.broker.group.offsets.replies import commit_refused, txn_commit_refused
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import SessionTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_TIMESTAMP, TOPIC_ID_ZERO, Millis, ProducerEpoch, ProducerId
from moldau.core.machine import Answer, Outcome, SetTimer
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from moldau.protocol.messages.transactions.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_GROUP_NOT_FOUND_VERSION: Final = 9
"""From this version on OffsetCommit may answer GROUP_ID_NOT_FOUND (KIP-848); before, it answers
ILLEGAL_GENERATION."""
_NO_RETENTION: Final = -1


def offset_commit(state: ShardState, call: Call, request: OffsetCommitRequest) -> GroupOutcome:
    error = _commit_error(state, call, request)
    if error is not ErrorCode.NONE:
        return call.answered(commit_refused(request, error))
    facts: list[GroupFact] = []
    topics = []
    for topic in request.topics:
        partitions = []
        for partition in topic.partitions:
            error = _metadata_error(state, partition.committed_metadata)
            partitions.append(
                OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error)
            )
            if error is ErrorCode.NONE:
                committed = _committed(call, request, topic, partition)
                fact = OffsetCommitted(request.group_id, topic.name, partition.partition_index, committed)
                facts += _noted(state, call, request, fact)
                facts.append(fact)
        topics.append(
            OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
        )
    answer = Answer(call.request_id, OffsetCommitResponse(topics=topics))
    return Outcome(tuple(facts), (answer,), tuple(_session_timer(state, call, request)))


def txn_offset_commit(state: ShardState, call: Call, request: TxnOffsetCommitRequest) -> GroupOutcome:
    """The offsets are pending until the transaction ends. Whether the producer may still write is checked by
    the log."""
    error = _txn_commit_error(state, call, request)
    if error is not ErrorCode.NONE:
        return call.answered(txn_commit_refused(request, error))
    producer_id, producer_epoch = ProducerId(request.producer_id), ProducerEpoch(request.producer_epoch)
    facts = []
    topics = []
    for topic in request.topics:
        partitions = []
        for partition in topic.partitions:
            index = partition.partition_index
            error = _metadata_error(state, partition.committed_metadata)
            partitions.append(TxnOffsetCommitResponsePartition(partition_index=index, error_code=error))
            if error is ErrorCode.NONE:
                committed = _txn_committed(call, partition)
                facts.append(
                    OffsetCommitted(
                        request.group_id, topic.name, index, committed, producer_id, producer_epoch
                    )
                )
        topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=partitions))
    return Outcome(tuple(facts), (Answer(call.request_id, TxnOffsetCommitResponse(topics=topics)),))


def _commit_error(state: ShardState, call: Call, request: OffsetCommitRequest) -> ErrorCode:
    group = state.groups.get(request.group_id)
    generation_id = request.generation_id_or_member_epoch
    if group is not None:
        return group.commit_error(
            request.member_id,
            request.group_instance_id,
            generation_id,
            transactional=False,
            version=call.version,
        )
    if generation_id < 0:
        return ErrorCode.NONE
    can_say = call.version >= _GROUP_NOT_FOUND_VERSION
    return ErrorCode.GROUP_ID_NOT_FOUND if can_say else ErrorCode.ILLEGAL_GENERATION


def _txn_commit_error(state: ShardState, call: Call, request: TxnOffsetCommitRequest) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    group = state.groups.get(request.group_id)
    if group is not None:
        return group.commit_error(
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            transactional=True,
            version=call.version,
        )
    return ErrorCode.NONE if request.generation_id < 0 else ErrorCode.ILLEGAL_GENERATION


def _metadata_error(state: ShardState, metadata: str | None) -> ErrorCode:
    too_long = len(metadata or "") > state.settings.offset_metadata_length_max
    return ErrorCode.OFFSET_METADATA_TOO_LARGE if too_long else ErrorCode.NONE


def _committed(
    call: Call,
    request: OffsetCommitRequest,
    topic: OffsetCommitRequestTopic,
    partition: OffsetCommitRequestPartition,
) -> CommittedOffset:
    expires = request.retention_time_ms != _NO_RETENTION
    return CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp_ms=call.now_ms,
        expire_timestamp_ms=call.now_ms + request.retention_time_ms if expires else NO_TIMESTAMP,
        # The record version with an expiry has no field for it.
        topic_id=TOPIC_ID_ZERO if expires else topic.topic_id,
    )


def _txn_committed(call: Call, partition: TxnOffsetCommitRequestPartition) -> CommittedOffset:
    return CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp_ms=call.now_ms,
    )


def _noted(
    state: ShardState, call: Call, request: OffsetCommitRequest, fact: OffsetCommitted
) -> Iterator[OffsetChangeNoted]:
    """Normal progress of members is not noted. The history keeps backward moves and changes from outside."""
    before = state.offsets.offset(fact.group_id, fact.topic, fact.partition)
    moves_back = before is not None and fact.committed.offset < before
    moves = fact.committed.offset != before
    outside = request.generation_id_or_member_epoch < 0
    # Consumers without membership always commit from outside: for them only backward moves are noted.
    group = state.groups.get(fact.group_id)
    simple = group is None or (isinstance(group, ClassicGroup) and group.protocol_type is None)
    if not (moves_back or (outside and moves and not simple)):
        return
    change = OffsetChange(
        OffsetChangeKind.SET_FROM_OUTSIDE if outside else OffsetChangeKind.MOVED_BACK,
        call.now_ms,
        fact.topic,
        fact.partition,
        offset_before=before,
        offset_after=fact.committed.offset,
        client_id=call.client.client_id,
        client_host=call.client.host,
    )
    yield OffsetChangeNoted(fact.group_id, change)


def _session_timer(state: ShardState, call: Call, request: OffsetCommitRequest) -> Iterator[SetTimer]:
    group = state.groups.get(request.group_id)
    timeout_ms = None if group is None else group.session_restarted_ms(request.member_id)
    if timeout_ms is not None:
        key = SessionTimer(request.group_id, request.member_id)
        yield SetTimer(key, Millis(call.now_ms + timeout_ms))
