"""In which order a task takes the records of its queues, and the order time it gives to what it writes inside."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import Task
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology, tumbling


def columns(
    topic: str,
    values: str,
    times: Sequence[int],
    *,
    order: Sequence[int] | None = None,
    writer: str = "",
    partition: int = 0,
) -> Columns:
    letters = [value.encode() for value in values.split()]
    offsets = range(len(letters))
    return Columns(
        topic, partition, offsets, times, [b"k"] * len(letters), letters, order_ms=order, writer=writer
    )


def task_of(topology: Topology, **options: bool) -> Task:
    return Task(topology, topology.sub_topologies[0], 0, **options)  # type: ignore[arg-type]


def merging(*topics: str) -> Task:
    builder = StreamsBuilder(value=STRING)
    streams = [builder.stream(topic) for topic in topics]
    streams[0].merge(*streams[1:]).to("out")
    return task_of(builder.build())


def taken(task: Task, *batch: Columns) -> str:
    return " ".join((one.value or b"").decode() for one in task.apply(list(batch), 0).records)


def test_equal_times_go_by_the_order_of_the_sources_however_they_are_given() -> None:
    a, b = columns("a", "a1 a2 a3", [5, 5, 9]), columns("b", "b1 b2 b3", [5, 6, 9])
    assert taken(merging("a", "b"), a, b) == taken(merging("a", "b"), b, a) == "a1 a2 b1 b2 a3 b3"
    assert taken(merging("b", "a"), a, b) == "b1 a1 a2 b2 b3 a3"


def test_the_order_does_not_depend_on_the_cut() -> None:
    whole = taken(merging("a", "b"), columns("a", "a1 a2", [1, 2]), columns("b", "b1 b2", [1, 2]))
    task = merging("a", "b")
    first = taken(task, columns("b", "b1", [1]), columns("a", "a1", [1]))
    assert f"{first} {taken(task, columns('b', 'b2', [2]), columns('a', 'a2', [2]))}" == whole


def test_tables_go_before_streams() -> None:
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("stream")
    stream.join(builder.table("table"), lambda value, row: value + row).to("out")
    task = task_of(builder.build())
    assert taken(task, columns("stream", "s", [7]), columns("table", "t", [7])) == "st"


def test_partitions_and_writers_are_queues_of_their_own() -> None:
    late = columns("a", "x1 x2", [1, 4], writer="slot-1")
    early = columns("a", "y1 y2", [2, 3], writer="slot-0")
    assert taken(merging("a"), late, early) == "x1 y1 y2 x2"
    same = [columns("a", name, [1], writer=writer) for name, writer in (("b", "w-b"), ("a", "w-a"))]
    assert taken(merging("a"), *same) == "a b"
    parts = [columns("a", str(number), [1], partition=number) for number in (2, 0, 1)]
    assert taken(merging("a"), *parts) == "0 1 2"


def test_queues_are_compared_by_their_order_time_where_they_have_one() -> None:
    a = columns("a", "a1 a2", [100, 101], order=[1, 6])
    b = columns("b", "b1 b2", [3, 5], order=[2, 7])
    assert taken(merging("a", "b"), b, a) == "a1 b1 a2 b2"


def by_heads(queues: list[list[int]]) -> list[tuple[int, int]]:
    """The rule itself: always the queue with the lowest head, the first of equals."""
    at = [0] * len(queues)
    order = []
    while any(at[number] < len(queue) for number, queue in enumerate(queues)):
        heads = [
            (queue[at[number]], number) for number, queue in enumerate(queues) if at[number] < len(queue)
        ]
        _, number = min(heads)
        order.append((number, at[number]))
        at[number] += 1
    return order


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=2, max_size=4))
def test_the_lowest_head_goes_first(queues: list[list[int]]) -> None:
    batch = [
        columns("a", " ".join(f"{number}.{at}" for at in range(len(times))), times, partition=number)
        for number, times in enumerate(queues)
    ]
    expected = " ".join(f"{number}.{at}" for number, at in by_heads(queues))
    assert taken(merging("a"), *batch) == expected


def regrouped() -> Topology:
    builder = StreamsBuilder("app", value=STRING)
    builder.stream("in").group_by(lambda key, value: value).count()
    return builder.build()


def test_records_for_topics_of_the_application_keep_their_order_time() -> None:
    inside = task_of(regrouped()).apply([columns("in", "a b", [7, 5], order=[3, 4])], 0).records
    assert [(one.timestamp_ms, one.order_ms) for one in inside] == [(7, 3), (5, 4)]
    plain = task_of(regrouped()).apply([columns("in", "a b", [7, 5])], 0).records
    # The second came late: its place is behind the first, also where it is passed on to.
    assert [one.order_ms for one in plain] == [7, 7]
    outside = merging("in").apply([columns("in", "a", [7])], 0).records
    assert [one.order_ms for one in outside] == [-1]


def test_collapsed_aggregates_are_told_in_the_order_of_their_last_change() -> None:
    builder = StreamsBuilder("app", value=STRING)
    counts = builder.stream("in").group_by_key().windowed_by(tumbling(1_000)).count()
    by_count = counts.to_stream(lambda windowed, count: windowed.key)
    by_count.group_by(lambda key, count: str(count)).count().to_stream().to("out")
    task = task_of(builder.build(), collapse=True)
    batch = columns("in", "x x x x x", [1, 2, 3, 4, 5])
    batch.keys = [b"a", b"b", b"c", b"b", b"a"]
    records = task.apply([batch], 0).records
    assert [(one.key, one.order_ms) for one in records] == [(b"1", 3), (b"2", 4), (b"2", 5)]


def test_a_source_read_twice_hands_each_record_to_both() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").map_values(lambda value: f"{value}-one", value=STRING).to("out")
    builder.stream("in").map_values(lambda value: f"{value}-two", value=STRING).to("out")
    task = task_of(builder.build())
    assert taken(task, columns("in", "a b", [1, 2])) == "a-one a-two b-one b-two"
