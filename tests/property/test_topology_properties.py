"""Random topologies of every operator: their state can be told, taken back and moved, and nobody notices."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from compat.streams.cases import make_case
from compat.streams.described import Described
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_changes_of_each_record_add_up_to_the_state(seed: int) -> None:
    case = make_case(seed)
    described = Described(case)
    driver, copy = TopologyTestDriver(described.topology), TopologyTestDriver(described.topology)
    for step in case["inputs"]:
        feed(driver, [step])
        copy.load_changes(driver.take_changes())
    assert sorted(copy.snapshot()) == sorted(driver.snapshot())
