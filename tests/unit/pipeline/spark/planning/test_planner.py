"""The planner: how far each batch reads, so that time advances together and results do not depend on the cuts."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.pipeline.spark.planning.planner import Limits, Plan, Planner
from moldau.pipeline.spark.planning.shape import Shape
from moldau.pipeline.spark.positions import Positions, distance
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology

Logs = dict[str, list[list[int]]]
"""Topic to partition to the times of its records."""


class LogTimes:
    """Answers as a broker would, from lists."""

    def __init__(self, logs: Logs) -> None:
        self.logs = logs
        self.asked = 0

    def first_at(self, time_ms: int, starts: Positions, ends: Positions) -> Positions:
        self.asked += 1
        return {
            topic: {
                partition: next(
                    (
                        offset
                        for offset in range(starts.get(topic, {}).get(partition, 0), end)
                        if self.logs[topic][partition][offset] >= time_ms
                    ),
                    end,
                )
                for partition, end in partitions.items()
            }
            for topic, partitions in ends.items()
        }

    def oldest_ms(self, starts: Positions, ends: Positions) -> int:
        return min((times[0] for parts in self.logs.values() for times in parts if times), default=0)

    def ends(self) -> Positions:
        return {topic: {n: len(times) for n, times in enumerate(parts)} for topic, parts in self.logs.items()}


def regrouped() -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").select_key(lambda key, value: value).group_by_key().count().to_stream().to("out")
    return builder.build()


def regrouped_and_joined() -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    users = builder.table("users")
    moved = builder.stream("in").select_key(lambda key, value: value).repartition(name="moved")
    moved.join(users, lambda value, user: value + user).to("out")
    return builder.build()


def batches(
    topology: Topology, logs: Logs, records_max: int, size: int = 1, idle_ms: int = 0
) -> Iterator[Plan]:
    """All plans until nothing is left; sizes are known."""
    times = LogTimes(logs)
    planner = Planner(Shape.of(topology), Limits(records_max, 10**9, idle_ms), times)
    planner.learn_sizes({topic: (1, size) for topic in logs})
    zero: Positions = {topic: {n: 0 for n in range(len(parts))} for topic, parts in logs.items()}
    last = Plan(-1, zero, zero, 0)
    while (plan := planner.next_plan(last, times.ends(), 1_000)) is not None:
        yield plan
        last = plan


def taken_in_order(
    logs: Logs, topics: Sequence[str], starts: Positions, ends: Positions
) -> list[tuple[int, str, int]]:
    """(partition, topic, offset) in the order in which tasks take them: each task by lowest head, tables first."""
    taken = []
    partitions = {n for topic in topics for n in range(len(logs[topic]))}
    for partition in sorted(partitions):
        at = {topic: starts[topic].get(partition, 0) for topic in topics}
        while True:
            heads = [
                (logs[topic][partition][at[topic]], rank, topic)
                for rank, topic in enumerate(topics)
                if at[topic] < ends[topic].get(partition, 0)
            ]
            if not heads:
                break
            _, _, topic = min(heads)
            taken.append((partition, topic, at[topic]))
            at[topic] += 1
    return taken


times_of_a_partition = st.lists(st.integers(0, 60), max_size=40)


@settings(deadline=None)
@given(
    st.lists(st.tuples(times_of_a_partition, times_of_a_partition), min_size=1, max_size=3),
    st.integers(1, 50),
)
def test_many_small_batches_take_what_one_takes_in_the_same_order(
    partitions: list[tuple[list[int], list[int]]], records_max: int
) -> None:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").join(builder.table("users"), lambda value, user: value + user).to("out")
    logs = {"in": [mine for mine, _ in partitions], "users": [theirs for _, theirs in partitions]}
    whole = taken_in_order(logs, ["users", "in"], {"in": {}, "users": {}}, LogTimes(logs).ends())
    cut: list[tuple[int, str, int]] = []
    for plan in batches(builder.build(), logs, records_max):
        assert distance(plan.starts, plan.ends) <= records_max
        cut += taken_in_order(logs, ["users", "in"], plan.starts, plan.ends)
    assert sorted(cut, key=lambda one: one[0]) == whole


def test_partitions_advance_together() -> None:
    """One partition is a thousand times as long as the other; both span an hour."""
    logs = {"in": [list(range(0, 3_600_000, 100)), list(range(0, 3_600_000, 100_000))]}
    for plan in batches(regrouped(), logs, 5_000):
        reached = [logs["in"][n][end - 1] for n, end in plan.ends["in"].items() if end > plan.starts["in"][n]]
        assert max(reached) - min(reached) <= 100_000


def test_a_table_of_long_ago_is_read_before_the_stream() -> None:
    logs = {"in": [list(range(10_000, 60_000))], "users": [list(range(300))]}
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").join(builder.table("users"), lambda value, user: value + user).to("out")
    first = next(batches(builder.build(), logs, 1_000))
    assert first.ends["users"][0] == 300


def test_a_millisecond_with_more_than_a_batch_is_cut_in_turn() -> None:
    logs = {"in": [[5] * 10, [5] * 10]}
    ends = [plan.ends["in"] for plan in batches(regrouped(), logs, 8)]
    assert ends[:3] == [{0: 8, 1: 0}, {0: 10, 1: 6}, {0: 10, 1: 10}]


def test_topics_of_a_later_level_wait_for_what_is_on_its_way() -> None:
    logs = {"in": [list(range(100))], "users": [list(range(100))]}
    shape = Shape.of(regrouped_and_joined())
    assert {one.topic: one.delay for one in shape.topics} == {"in": 0, "users": 1, "app-moved-repartition": 0}
    plans = list(batches(regrouped_and_joined(), logs, 50))
    # What batch 0 wrote to the topic in between is read by batch 1, with the users of the same time.
    assert plans[0].ends["users"][0] == 0 and plans[0].ends["in"][0] > 0
    assert plans[1].ends["users"][0] == plans[0].ends["in"][0]
    assert plans[-1].ends["users"][0] == 100


def test_a_record_ahead_of_its_time_holds_its_partition_back() -> None:
    ahead = 10**12
    logs = {"in": [[ahead, *range(1, 500)], list(range(500))]}
    plans = list(batches(regrouped(), logs, 100))
    first_with_it = next(plan for plan in plans if plan.ends["in"][0] > 0)
    assert first_with_it.starts["in"][1] >= 400
    assert plans[-1].ends["in"] == {0: 500, 1: 500}


def test_an_empty_partition_is_waited_for_as_long_as_asked() -> None:
    logs = {"in": [[1, 2, 3]], "users": [[]]}
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").join(builder.table("users"), lambda value, user: value + user).to("out")
    times = LogTimes(logs)
    planner = Planner(Shape.of(builder.build()), Limits(100, 10**9, idle_ms=500), times)
    planner.learn_sizes({"in": (1, 1), "users": (1, 1)})
    zero: Positions = {"in": {0: 0}, "users": {0: 0}}
    begin = Plan(-1, zero, zero, 0)
    assert planner.next_plan(begin, times.ends(), 10_000) is None
    assert planner.next_plan(begin, times.ends(), 10_499) is None
    plan = planner.next_plan(begin, times.ends(), 10_500)
    assert plan is not None and plan.ends["in"][0] == 3


def test_a_batch_keeps_its_limit_in_bytes() -> None:
    logs = {"in": [list(range(10_000))]}
    planner = Planner(Shape.of(regrouped()), Limits(400_000, 1 << 20), LogTimes(logs))
    zero: Positions = {"in": {0: 0}}
    first = planner.next_plan(Plan(-1, zero, zero, 0), {"in": {0: 10_000}}, 0)
    assert first is not None and distance(first.starts, first.ends) <= 2_000  # nothing is known yet
    planner.learn_sizes({"in": (10, 10 << 12)})
    second = planner.next_plan(first, {"in": {0: 10_000}}, 0)
    assert second is not None and 128 <= distance(second.starts, second.ends) <= 256


@pytest.mark.parametrize("topology", [regrouped(), regrouped_and_joined()])
def test_nothing_to_do_is_no_plan(topology: Topology) -> None:
    topics = {one.topic for one in Shape.of(topology).topics}
    still: Positions = {topic: {0: 3} for topic in topics}
    planner = Planner(Shape.of(topology), Limits(100, 10**9), LogTimes({}))
    assert planner.next_plan(Plan(4, still, still, 0), still, 1_000) is None
    woken = planner.next_plan(Plan(4, still, still, 0), still, 1_000, woken=("0_0",))
    assert woken is not None and woken.batch_id == 5 and not woken.has_input
