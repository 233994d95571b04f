"""OffsetFetch: answers with committed offsets. Reads only."""

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.broker.group.offsets.offsets import Offsets
from moldau.broker.group.offsets.replies import fetched, groups_asked_for, no_offset
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)


def offset_fetch(state: ShardState, call: Call, request: OffsetFetchRequest) -> GroupOutcome:
    groups = [
        _group(state, asked, require_stable=request.require_stable)
        for asked in groups_asked_for(request, call.version)
    ]
    return call.answered(fetched(groups, call.version))


def _group(
    state: ShardState, asked: OffsetFetchRequestGroup, *, require_stable: bool
) -> OffsetFetchResponseGroup:
    """An unknown group has no offsets, which is not an error."""
    group, offsets = state.groups.get(asked.group_id), state.offsets
    error = ErrorCode.NONE if group is None else group.fetch_error(asked.member_id, asked.member_epoch)
    if error is not ErrorCode.NONE:
        return OffsetFetchResponseGroup(group_id=asked.group_id, topics=[], error_code=error)
    wanted = _all_topics(asked.group_id, offsets) if asked.topics is None else asked.topics
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                _partition(asked.group_id, topic, partition, offsets, require_stable=require_stable)
                for partition in topic.partition_indexes
            ],
        )
        for topic in wanted
    ]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def _all_topics(group_id: str, offsets: Offsets) -> list[OffsetFetchRequestTopics]:
    partitions: dict[str, list[int]] = {}
    committed_last: dict[str, CommittedOffset] = {}
    for topic, partition, committed in offsets.of_group(group_id):
        partitions.setdefault(topic, []).append(partition)
        committed_last[topic] = committed
    return [
        OffsetFetchRequestTopics(
            name=topic, topic_id=committed_last[topic].topic_id, partition_indexes=indexes
        )
        for topic, indexes in partitions.items()
    ]


def _partition(
    group_id: str,
    topic: OffsetFetchRequestTopics,
    partition: int,
    offsets: Offsets,
    *,
    require_stable: bool,
) -> OffsetFetchResponsePartitions:
    committed = offsets.get(group_id, topic.name, partition)
    unstable = require_stable and offsets.is_pending(group_id, topic.name, partition)
    if unstable or committed is None or not committed.belongs_to(topic.topic_id):
        return no_offset(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else ErrorCode.NONE)
    return OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )
