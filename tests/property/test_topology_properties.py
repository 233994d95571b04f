"""Random topologies of every operator: their state can be told, taken back and moved, and nobody notices."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.streams.cases import make_case
from compat.streams.described import Described
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import Task
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology, hopping, tumbling
from moldau.testing import TopologyTestDriver

seeds = st.integers(0, 5000)


def feed(driver: TopologyTestDriver, steps: list[dict[str, Any]]) -> None:
    for step in steps:
        if "advance" in step:
            driver.advance_wall_clock(step["advance"])
        else:
            driver.pipe(step["topic"], step["key"], step["value"], step["ts"])


def wall_clock(steps: list[dict[str, Any]]) -> int:
    return sum(step.get("advance", 0) for step in steps)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=seeds, cut=st.integers(0, 30))
def test_a_task_that_moves_goes_on_where_it_was(seed: int, cut: int) -> None:
    case = make_case(seed)
    if any(op["op"] == "global_table" for op in case["ops"]):
        return  # filled by each host from its topic, no part of a task's state
    before, after = case["inputs"][:cut], case["inputs"][cut:]
    described = Described(case)
    stays, moves = TopologyTestDriver(described.topology), TopologyTestDriver(described.topology)
    feed(stays, before)
    feed(moves, before)
    moved = TopologyTestDriver(described.topology, now_ms=wall_clock(before))
    moved.restore(moves.snapshot())
    for topic in described.sinks:
        stays.read_bytes(topic)
    feed(stays, after)
    feed(moved, after)
    for topic in described.sinks:
        assert moved.read_bytes(topic) == stays.read_bytes(topic)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=seeds)
def test_changes_of_each_record_add_up_to_the_state(seed: int) -> None:
    case = make_case(seed)
    described = Described(case)
    driver, copy = TopologyTestDriver(described.topology), TopologyTestDriver(described.topology)
    for step in case["inputs"]:
        feed(driver, [step])
        copy.load_changes(driver.take_changes())
    assert sorted(copy.snapshot()) == sorted(driver.snapshot())


def aggregates() -> Topology:
    """Each kind that collapses, with what may follow it: a filter that hears of old values, a join that looks it up."""
    builder = StreamsBuilder(value=STRING)
    stream, other = builder.stream("in"), builder.stream("other")
    grouped = stream.group_by_key()
    grouped.count().filter(lambda key, count: count % 2 == 0).to_stream().to("even")
    grouped.windowed_by(tumbling(10, grace_ms=5)).count().to_stream().to("tumbling")
    longest = grouped.windowed_by(hopping(10, 4, grace_ms=5)).reduce(max)
    longest.to_stream().to("hopping")
    both = grouped.cogroup(lambda key, value, so_far: so_far + value)
    both = both.cogroup(other.group_by_key(), lambda key, value, so_far: so_far + value.upper())
    table = both.aggregate(str, value=STRING)
    table.to_stream().to("both")
    other.join(table, lambda value, so_far: f"{value} of {so_far}").to("seen")
    return builder.build()


rows = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 60), st.sampled_from(["in", "other"])
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=st.lists(rows, max_size=4))
def test_collapsing_leaves_out_all_but_the_last(batches: list[list[tuple[str, str, int, str]]]) -> None:
    topology = aggregates()
    every, last = (Task(topology, topology.whole, 0, collapse=collapse) for collapse in (False, True))
    for batch in batches:
        columns = [in_columns(topic, [row for row in batch if row[3] == topic]) for topic in ("in", "other")]
        told, collapsed = every.apply(columns, 0).records, last.apply(columns, 0).records
        assert latest(collapsed) == latest(told)
        tables = [record for record in collapsed if record.topic != "seen"]
        assert len(tables) == len({(record.topic, record.key) for record in tables})
        assert [one for one in collapsed if one.topic == "seen"] == [
            one for one in told if one.topic == "seen"
        ]
        assert sorted(last.state.items()) == sorted(every.state.items())


def in_columns(topic: str, rows: list[tuple[str, str, int, str]]) -> Columns:
    keys, values = [row[0].encode() for row in rows], [row[1].encode() for row in rows]
    return Columns(topic, 0, range(len(rows)), [row[2] for row in rows], keys, values)


def latest(records: list[Any]) -> dict[Any, Any]:
    """The last of each key, except where only a row that was never there is removed."""
    return {
        (record.topic, record.key): record[2:] for record in records if record.topic not in ("even", "seen")
    }
