"""Committed offsets: what the scenario scripts do not show."""

from moldau.broker.group.client import ClientFacts
from moldau.broker.group.records import from_record
from moldau.broker.group.settings import OFFSETS_PER_SLICE, GroupSettings
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from scenarios.group.group_runner import GroupRunner, loaded

CLIENT = ClientFacts("c", "/h")
FIRST, SECOND = TopicId(bytes([1] * 16)), TopicId(bytes([2] * 16))


def started(settings: GroupSettings = GroupSettings()) -> GroupRunner:  # noqa: B008
    runner = GroupRunner(settings)
    runner.start()
    return runner


def commit(
    runner: GroupRunner,
    group: str,
    *partitions: int,
    topic_id: TopicId = TOPIC_ID_ZERO,
    retention_ms: int = -1,
) -> None:
    topic = OffsetCommitRequestTopic(
        name="t",
        topic_id=topic_id,
        partitions=[
            OffsetCommitRequestPartition(partition_index=index, committed_offset=5, committed_metadata=None)
            for index in partitions
        ],
    )
    request = OffsetCommitRequest(
        group_id=group, member_id="", retention_time_ms=retention_ms, topics=[topic]
    )
    # Past the codec: of a version with topic ids the handler has filled in the name.
    outcome = runner.groups.decide(0, request, 9, CLIENT, runner.now_ms, "")
    runner.waiting[0] = (request, 9)
    runner.run(outcome)


def fetched_offset(runner: GroupRunner, topic_id: TopicId) -> int:
    topic = OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=[0])
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=[topic])])
    reply = runner.groups.decide(1, request, 10, CLIENT, runner.now_ms, "").answers[0].reply
    assert isinstance(reply, OffsetFetchResponse)
    return reply.groups[0].topics[0].partitions[0].committed_offset


def test_offset_of_a_deleted_topic_is_not_given_to_its_successor() -> None:
    runner = started()
    commit(runner, "g", 0, topic_id=FIRST)
    assert fetched_offset(runner, FIRST) == 5
    assert fetched_offset(runner, SECOND) == -1
    assert fetched_offset(runner, TOPIC_ID_ZERO) == 5


def test_topic_id_survives_a_reload_unless_there_is_no_room_for_it() -> None:
    runner = started()
    commit(runner, "g", 0, topic_id=FIRST)
    commit(runner, "h", 0, topic_id=FIRST, retention_ms=10)
    rebuilt = loaded(runner.settings, runner.log).state.offsets
    live = runner.groups.state.offsets
    for group in ("g", "h"):
        assert live.get(group, "t", 0) == rebuilt.get(group, "t", 0) != None  # noqa: E711


def test_several_groups_are_answered_at_once() -> None:
    runner = started()
    commit(runner, "g", 0)
    commit(runner, "h", 0, 1)
    groups = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in ("h", "nobody", "g")]
    request_id = runner.ask(OffsetFetchRequest(groups=groups), 8, CLIENT)
    reply = runner.answers[request_id]
    assert isinstance(reply, OffsetFetchResponse)
    counts = {group.group_id: sum(len(t.partitions) for t in group.topics) for group in reply.groups}
    assert counts == {"h": 2, "nobody": 0, "g": 1}


def test_expired_offsets_are_searched_for_in_slices() -> None:
    settings = GroupSettings(offsets_retention_ms=1, offsets_retention_check_interval_ms=100)
    runner = started(settings)
    for group in ("", "a", "b", "c"):
        commit(runner, group, *range(OFFSETS_PER_SLICE // 2))
    runner.now_ms += 50
    written = len(runner.log)
    sizes = []
    while runner.groups.state.groups:
        runner.fire_next_timer()
        sizes.append(len(runner.log) - written)
        written = len(runner.log)
    assert len(sizes) == 2
    assert sum(sizes) == 4 * (OFFSETS_PER_SLICE // 2 + 1)
    assert runner.now_ms == 100
    assert list(runner.timers.values()) == [200]


def test_tombstones_leave_nothing_behind() -> None:
    runner = started()
    commit(runner, "g", 0)
    runner.run(runner.groups.decide_topics_deleted({"t"}, runner.now_ms))
    assert runner.groups.state.offsets.group_ids() == set()
    entry = runner.log[-1]
    assert isinstance(entry, tuple) and from_record(*entry) is not None
