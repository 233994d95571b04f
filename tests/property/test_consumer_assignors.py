"""The server-side assignors: every partition once, evenly, and no more moves than that takes."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from moldau.broker.group.consumer.assignors import ASSIGNORS
from moldau.broker.group.consumer.assignors.range import assign_range
from moldau.broker.group.consumer.assignors.subscriber import Assignor, Subscriber
from moldau.broker.group.consumer.assignors.uniform import assign_uniform
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartitions
from moldau.core.ids import TopicId

TOPICS = [TopicId(bytes([number]) * 16) for number in range(4)]
places = st.tuples(st.sampled_from(TOPICS), st.integers(0, 12))
counts = st.fixed_dictionaries({topic: st.integers(1, 10) for topic in TOPICS})
some_topics = st.frozensets(st.sampled_from(TOPICS))


@st.composite
def subscribers(draw: st.DrawFn, *, same_topics: bool) -> list[Subscriber]:
    """With shares from before that need not make sense any more."""
    names = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True))
    shared = draw(some_topics)
    taken: set[tuple[TopicId, int]] = set()
    members = []
    for name in names:
        share = draw(st.frozensets(places, max_size=8)) - taken
        taken |= share
        topics = shared if same_topics else draw(some_topics)
        instance_id = draw(st.none() | st.just(f"static-{name}"))
        members.append(Subscriber(name, topics, instance_id, share))
    return members


alike = subscribers(same_topics=True)
any_kind = st.one_of(alike, subscribers(same_topics=False))
each_assignor = pytest.mark.parametrize("assign", ASSIGNORS.values(), ids=ASSIGNORS)


@each_assignor
@given(members=any_kind, partition_counts=counts)
@settings(max_examples=150, deadline=None)
def test_every_partition_belongs_to_one_who_wants_it(
    assign: Assignor, members: list[Subscriber], partition_counts: dict[TopicId, int]
) -> None:
    shares = assign(members, partition_counts)
    assert shares.keys() == {member.member_id for member in members}
    wanted = frozenset[TopicId]().union(*(member.topics for member in members))
    every = [(topic, number) for topic in wanted for number in range(partition_counts[topic])]
    assert sorted(place for share in shares.values() for place in share) == sorted(every)
    for member in members:
        assert {topic for topic, _ in shares[member.member_id]} <= member.topics


@each_assignor
@given(members=any_kind, partition_counts=counts)
@settings(max_examples=100, deadline=None)
def test_nothing_moves_without_a_reason(
    assign: Assignor, members: list[Subscriber], partition_counts: dict[TopicId, int]
) -> None:
    shares = assign(members, partition_counts)
    again = [replace(member, share=shares[member.member_id]) for member in reversed(members)]
    assert assign(again, partition_counts) == shares


@given(members=alike, partition_counts=counts)
@settings(max_examples=150, deadline=None)
def test_uniform_is_even_and_keeps_all_it_can(
    members: list[Subscriber], partition_counts: dict[TopicId, int]
) -> None:
    shares = assign_uniform(members, partition_counts)
    sizes = [len(share) for share in shares.values()]
    assert max(sizes) - min(sizes) <= 1
    usable = {member.member_id: still_usable(member, partition_counts) for member in members}
    least, extra = divmod(sum(sizes), len(members))
    kept_at_best = sum(min(len(had), least) for had in usable.values())
    kept_at_best += min(extra, sum(len(had) > least for had in usable.values()))
    assert sum(len(shares[name] & had) for name, had in usable.items()) == kept_at_best


@given(members=subscribers(same_topics=False), partition_counts=counts)
@settings(max_examples=150, deadline=None)
def test_uniform_leaves_no_move_that_would_help(
    members: list[Subscriber], partition_counts: dict[TopicId, int]
) -> None:
    shares = assign_uniform(members, partition_counts)
    for giver in members:
        for topic, _ in shares[giver.member_id]:
            for taker in members:
                if topic in taker.topics:
                    assert len(shares[giver.member_id]) - len(shares[taker.member_id]) <= 1


@given(members=alike, partition_counts=counts, leaver=st.integers(0, 7))
@settings(max_examples=100, deadline=None)
def test_who_stays_keeps_what_they_have_when_somebody_leaves(
    members: list[Subscriber], partition_counts: dict[TopicId, int], leaver: int
) -> None:
    shares = assign_uniform(members, partition_counts)
    gone = members[leaver % len(members)]
    rest = [replace(member, share=shares[member.member_id]) for member in members if member is not gone]
    for name, share in assign_uniform(rest, partition_counts).items():
        assert shares[name] <= share


@given(members=alike, partition_counts=counts)
@settings(max_examples=100, deadline=None)
def test_range_gives_neighbours_and_the_same_numbers_of_every_topic(
    members: list[Subscriber], partition_counts: dict[TopicId, int]
) -> None:
    even_counts = dict.fromkeys(partition_counts, partition_counts[TOPICS[0]])
    for share in assign_range(members, even_counts).values():
        numbers = {topic: sorted(n for t, n in share if t == topic) for topic, _ in share}
        for run in numbers.values():
            assert run == list(range(run[0], run[-1] + 1))
            assert run == next(iter(numbers.values()))


def still_usable(member: Subscriber, partition_counts: dict[TopicId, int]) -> TopicIdPartitions:
    return frozenset(
        (topic, number)
        for topic, number in member.share
        if topic in member.topics and number < partition_counts[topic]
    )
