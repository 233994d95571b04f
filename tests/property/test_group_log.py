"""Whatever is written of groups and offsets, and however the log is compacted, the same state comes back."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from moldau.broker.group.facts import DurableFact, GroupRemoved, GroupSaved, OffsetCommitted, OffsetRemoved
from moldau.broker.group.machine import GroupMachine
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.broker.group.records import from_record, to_record
from moldau.broker.group.settings import GroupSettings
from moldau.core.ids import TopicId
from moldau.protocol.stored.classic_groups import GroupMetadataValue, MemberMetadata

int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
text = st.text(st.characters(codec="utf-8"), max_size=8)
group_ids = st.sampled_from(["g", "h"])
places = st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 1))

members = st.builds(
    MemberMetadata,
    member_id=st.sampled_from("abc"),
    group_instance_id=st.none() | text,
    client_id=text,
    client_host=text,
    rebalance_timeout=int32,
    session_timeout=int32,
    subscription=st.binary(max_size=8),
    assignment=st.binary(max_size=8),
)
values = st.builds(
    GroupMetadataValue,
    protocol_type=st.sampled_from(["", "consumer"]),
    generation=int32,
    protocol=st.none() | st.sampled_from(["range", "sticky"]),
    leader=st.none() | text,
    current_state_timestamp=int64,
    members=st.lists(members, max_size=3, unique_by=lambda member: member.member_id),
)
plain_offsets = st.builds(
    CommittedOffset,
    offset=int64,
    leader_epoch=int32,
    metadata=text,
    commit_timestamp_ms=int64,
    topic_id=st.binary(min_size=16, max_size=16).map(TopicId),
)
expiring_offsets = st.builds(
    CommittedOffset,
    offset=int64,
    metadata=text,
    commit_timestamp_ms=int64,
    expire_timestamp_ms=st.integers(0, 2**63 - 1),
)
facts = st.one_of(
    st.builds(GroupSaved, group_ids, values),
    st.builds(GroupRemoved, group_ids),
    st.builds(
        lambda group_id, place, committed: OffsetCommitted(group_id, *place, committed),
        group_ids,
        places,
        plain_offsets | expiring_offsets,
    ),
    st.builds(lambda group_id, place: OffsetRemoved(group_id, *place), group_ids, places),
)


@given(facts)
@settings(max_examples=100, deadline=None)
def test_round_trip(fact: DurableFact) -> None:
    assert from_record(*to_record(fact)) == fact


@given(st.lists(facts, max_size=30))
@settings(max_examples=60, deadline=None)
def test_a_compacted_log_is_as_good_as_the_whole(written: list[DurableFact]) -> None:
    log = [to_record(fact) for fact in written]
    latest: dict[bytes, bytes | None] = {}
    for key, value in log:
        latest.pop(key, None)
        latest[key] = value
    kept = [(key, value) for key, value in latest.items() if value is not None]
    whole, compacted, with_tombstones = loaded(log), loaded(kept), loaded(list(latest.items()))
    assert state_of(whole) == state_of(compacted) == state_of(with_tombstones)


def loaded(log: list[tuple[bytes, bytes | None]]) -> GroupMachine:
    groups = GroupMachine(GroupSettings())
    for record in log:
        fact = from_record(*record)
        assert fact is not None
        groups.replay(fact)
    return groups


def state_of(groups: GroupMachine) -> Any:
    """Groups that have neither members nor offsets and were never written down are as good as none."""
    state = groups.state
    offsets = {group_id: sorted(state.offsets.of_group(group_id)) for group_id in state.offsets.group_ids()}
    written = {
        group_id: group
        for group_id, group in state.groups.items()
        if group_id in offsets or group != type(group)(group_id)
    }
    return offsets, written
