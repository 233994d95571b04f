"""OffsetFetch: committed offsets as answers. Reads only."""

from collections.abc import Sequence

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.committed import CommittedOffset
from moldau.broker.group.offsets import Offsets
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_BATCHED_VERSION = 8
"""From here on several groups may be asked for at once (KIP-709)."""
_GROUP_ERROR_VERSION = 2
_NO_OFFSET = -1


def offset_fetch(state: ShardState, call: Call, request: OffsetFetchRequest) -> GroupOutcome:
    groups = [
        _group(state, asked, require_stable=request.require_stable)
        for asked in groups_asked_for(request, call.version)
    ]
    return call.answered(fetched(groups, call.version))


def groups_asked_for(request: OffsetFetchRequest, version: int) -> Sequence[OffsetFetchRequestGroup]:
    """Both forms of the request in the newer one."""
    if version >= _BATCHED_VERSION:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]


def fetched(groups: Sequence[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= _BATCHED_VERSION:
        return OffsetFetchResponse(groups=groups)
    topics = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=partition.partition_index,
                    committed_offset=partition.committed_offset,
                    committed_leader_epoch=partition.committed_leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
                for partition in topic.partitions
            ],
        )
        for topic in groups[0].topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=groups[0].error_code)


def fetch_refused(request: OffsetFetchRequest, version: int, error: ErrorCode) -> OffsetFetchResponse:
    """v1 has no error but those of partitions."""
    groups = []
    for asked in groups_asked_for(request, version):
        topics = [
            OffsetFetchResponseTopics(
                name=topic.name,
                partitions=[_no_offset(partition, error) for partition in topic.partition_indexes],
            )
            for topic in (asked.topics or () if version < _GROUP_ERROR_VERSION else ())
        ]
        groups.append(OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics, error_code=error))
    return fetched(groups, version)


def _group(
    state: ShardState, asked: OffsetFetchRequestGroup, *, require_stable: bool
) -> OffsetFetchResponseGroup:
    """A group nobody knows has no offsets, which is no error."""
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
        return _no_offset(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT if unstable else ErrorCode.NONE)
    return OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )


def _no_offset(partition: int, error: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=partition, committed_offset=_NO_OFFSET, metadata="", error_code=error
    )
