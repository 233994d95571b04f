"""Removes offsets: by request, with their group or topic, when they expire, or after an abort."""

from collections.abc import Collection, Iterable, Iterator

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.facts import GroupFact, OffsetChangeNoted, OffsetRemoved, TransactionEnded
from moldau.broker.group.group_kind import Group
from moldau.broker.group.history.changes import OffsetChange, OffsetChangeKind
from moldau.broker.group.offsets.offsets import OffsetKey
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import Millis, ProducerId
from moldau.core.machine import Answer, Outcome
from moldau.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def offset_delete(state: ShardState, call: Call, request: OffsetDeleteRequest) -> GroupOutcome:
    group = state.groups.get(request.group_id)
    if not request.group_id or group is None:
        error = ErrorCode.GROUP_ID_NOT_FOUND if request.group_id else ErrorCode.INVALID_GROUP_ID
        return call.answered(OffsetDeleteResponse(error_code=error, topics=[]))
    error = group.offset_delete_error()
    if error is not ErrorCode.NONE:
        return call.answered(OffsetDeleteResponse(error_code=error, topics=[]))
    facts: list[GroupFact] = []
    topics = []
    for topic in request.topics:
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.subscribes_to(topic.name) else ErrorCode.NONE
        if error is ErrorCode.NONE:
            for partition in topic.partitions:
                key = OffsetKey(request.group_id, topic.name, partition.partition_index)
                facts += _removed(state, key, OffsetChangeKind.DELETED, call.now_ms)
        topics.append(_deleted(topic, error))
    return Outcome(tuple(facts), (Answer(call.request_id, OffsetDeleteResponse(topics=topics)),))


def _deleted(topic: OffsetDeleteRequestTopic, error: ErrorCode) -> OffsetDeleteResponseTopic:
    partitions = [
        OffsetDeleteResponsePartition(partition_index=partition.partition_index, error_code=error)
        for partition in topic.partitions
    ]
    return OffsetDeleteResponseTopic(name=topic.name, partitions=partitions)


def removed_with_group(state: ShardState, group_id: str, now_ms: Millis) -> Iterator[GroupFact]:
    for key in _keys_of(state, group_id):
        yield from _removed(state, key, OffsetChangeKind.GROUP_DELETED, now_ms)


def removed_with_topics(state: ShardState, topics: Collection[str], now_ms: Millis) -> Iterator[GroupFact]:
    for group_id in sorted(state.offsets.group_ids()):
        for key in _keys_of(state, group_id):
            if key.topic in topics:
                yield from _removed(state, key, OffsetChangeKind.TOPIC_DELETED, now_ms)


def removed_by_age(state: ShardState, group: Group, now_ms: Millis) -> Iterator[GroupFact]:
    """Offsets with a pending commit stay until its transaction ends."""
    retention, offsets = group.retention(), state.offsets
    if retention is None:
        return
    for topic, partition, committed in offsets.of_group(group.group_id):
        expires_at_ms = retention.expires_at_ms(topic, committed, state.settings.offsets_retention_ms)
        if expires_at_ms is not None and expires_at_ms <= now_ms:
            key = OffsetKey(group.group_id, topic, partition)
            if not offsets.is_pending(*key):
                yield from _removed(state, key, OffsetChangeKind.EXPIRED, now_ms)


def transaction_ended(
    state: ShardState, producer_id: ProducerId, committed: bool, now_ms: Millis
) -> Iterator[GroupFact]:
    if not committed:
        for key, pending in state.offsets.pending_of_producer(producer_id):
            offset = state.offsets.offset(*key)
            change = OffsetChange(
                OffsetChangeKind.TRANSACTION_ABORTED,
                now_ms,
                key.topic,
                key.partition,
                offset_before=offset,
                offset_after=offset,
                detail=f"producer {producer_id} wanted to commit {pending.offset}",
            )
            yield OffsetChangeNoted(key.group_id, change)
    yield TransactionEnded(producer_id, committed)


def _keys_of(state: ShardState, group_id: str) -> Iterable[OffsetKey]:
    """Committed and pending keys, each once."""
    committed = [OffsetKey(group_id, topic, index) for topic, index, _ in state.offsets.of_group(group_id)]
    return dict.fromkeys([*committed, *state.offsets.pending_of_group(group_id)])


def _removed(
    state: ShardState, key: OffsetKey, kind: OffsetChangeKind, now_ms: Millis
) -> Iterator[GroupFact]:
    offset = state.offsets.offset(*key)
    if offset is None and not state.offsets.is_pending(*key):
        return
    change = OffsetChange(kind, now_ms, key.topic, key.partition, offset, None)
    yield OffsetChangeNoted(key.group_id, change)
    yield OffsetRemoved(*key)
