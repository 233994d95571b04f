"""The task: order of input, failures, changes of the state and rollback."""

import pytest

from moldau.pipeline.operators.decoding import DecodingError
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import SLICE_RECORDS, ProcessingError, Task
from moldau.pipeline.streams import JSON, LONG, STRING, StreamsBuilder, Topology, tumbling


def columns(topic: str, *rows: tuple[str | None, bytes | None, int]) -> Columns:
    keys = [None if key is None else key.encode() for key, _, _ in rows]
    return Columns(
        topic, 0, list(range(len(rows))), [time for _, _, time in rows], keys, [value for _, value, _ in rows]
    )


def merged(*topics: str) -> Topology:
    builder = StreamsBuilder(value=STRING)
    builder.stream(*topics).to("out")
    return builder.build()


def task_of(topology: Topology, **options: object) -> Task:
    return Task(topology, topology.sub_topologies[0], 0, **options)  # type: ignore[arg-type]


def test_the_oldest_head_goes_first_and_each_partition_keeps_its_order() -> None:
    task = task_of(merged("a", "b"))
    batch = [columns("a", ("a", b"a5", 5), ("a", b"a1", 1)), columns("b", ("b", b"b3", 3), ("b", b"b6", 6))]
    written = task.apply(batch, 0).records
    assert [record.value for record in written] == [b"b3", b"a5", b"a1", b"b6"]


def test_bytes_that_cannot_be_read_fail_and_name_the_record() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in").to("out")
    with pytest.raises(DecodingError, match=r"in-0 at offset 1 is not string \(key\), json \(value\)"):
        task_of(builder.build()).apply([columns("in", ("k", b"{}", 0), ("k", b"{", 0))], 0)


def test_dead_letters_keep_the_rest_going() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in").map_values(lambda value: value["x"], value=LONG).to("out")
    task = task_of(builder.build(), on_error="dead_letter")
    rows = (
        ("k", b'{"x": 1}', 0),
        ("k", b"{", 1),
        ("k", b"{}", 2),
        ("k", b'{"x": 4}', 3),
        ("k", b'{"x": 5}', -1),
    )
    outputs = task.apply([columns("in", *rows)], 0)
    assert [record.value for record in outputs.records] == [(1).to_bytes(8, "big"), (4).to_bytes(8, "big")]
    assert sorted((dead.offset, dead.reason.split(":")[0]) for dead in outputs.dead) == [
        (1, "JSONDecodeError"),
        (2, "KeyError"),
        (4, "ValueError"),
    ]
    assert all(dead.value is not None and "Traceback" in dead.trace for dead in outputs.dead)


def test_a_function_that_raises_names_the_record() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").map_values(int).to("out", value=LONG)
    with pytest.raises(ProcessingError, match="in-0 at offset 0 could not be processed: ValueError"):
        task_of(builder.build()).apply([columns("in", ("k", b"x", 0))], 0)


def test_event_time_from_a_field() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in", timestamp="at").to("out")
    written = task_of(builder.build()).apply([columns("in", ("k", b'{"at": 42}', 7))], 0).records
    assert [record.timestamp_ms for record in written] == [42]


def counting() -> Topology:
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().count(store="all").to_stream().to("out")
    stream.group_by_key().windowed_by(tumbling(10)).count(store="windows").to_stream().to("windowed")
    return builder.build()


def test_changes_of_each_batch_rebuild_the_state() -> None:
    topology = counting()
    task, copy = task_of(topology), task_of(topology)
    for start in range(0, 60, 5):
        batch = [columns("in", ("a", b"", start), ("b", b"", start + 3), (None, b"", start + 4))]
        task.apply(batch, 0)
        copy.state.load(task.state.take_changes())
        assert sorted(copy.state.items()) == sorted(task.state.items())
    assert len(task.state.stores["windows"]) < 8, "windows past their retention are dropped"


def test_state_goes_back_to_an_older_version() -> None:
    topology = counting()
    task = task_of(topology)
    batch = [columns("in", ("a", b"", 1), ("a", b"", 2))]
    task.apply(batch, 0)
    version = list(task.state.items())
    first = task.apply(batch, 0).records
    task.state.clear()
    task.state.load(version)
    assert task.apply(batch, 0).records == first


def test_a_batch_without_input_changes_nothing() -> None:
    task = task_of(counting())
    task.apply([columns("in", ("a", b"", 1))], 0)
    task.state.take_changes()
    assert task.apply([], 5).records == []
    assert task.state.take_changes() == []


def long_batch(broken: int) -> Columns:
    rows = [(f"k{number}", b'{"x": %d}' % number, number) for number in range(3 * SLICE_RECORDS + 7)]
    rows[broken] = ("broken", b"{}", broken)
    return columns("in", *rows)


def test_a_long_batch_without_state_gives_every_record_in_its_order() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in").map_values(lambda value: value["x"], value=LONG).to("out")
    broken = 2 * SLICE_RECORDS + 3
    outputs = task_of(builder.build(), on_error="dead_letter").apply([long_batch(broken)], 0)
    numbers = [int.from_bytes(record.value or b"") for record in outputs.records]
    assert numbers == [number for number in range(3 * SLICE_RECORDS + 7) if number != broken]
    assert [record.timestamp_ms for record in outputs.records] == numbers
    assert [(dead.offset, dead.key) for dead in outputs.dead] == [(broken, b"broken")]


def test_a_long_batch_that_fails_leaves_the_time_of_the_task() -> None:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in").map_values(lambda value: value["x"], value=LONG).to("out")
    task = task_of(builder.build())
    with pytest.raises(ProcessingError, match=f"offset {SLICE_RECORDS + 5}"):
        task.apply([long_batch(SLICE_RECORDS + 5)], 0)
    assert task.state.times == {}
