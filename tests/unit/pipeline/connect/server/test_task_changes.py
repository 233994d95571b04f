"""Tasks of a source that are replaced are fenced before new ones start: what is fenced, and what waits."""

from dataclasses import replace

import pytest

from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.task_changes import needs_round, replaced_tasks
from moldau.pipeline.connect.server.hosting.task_plans import TaskPlans
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ClusterState, ConnectorEntry, Kind
from moldau.pipeline.connect.server.state.config_records import (
    Record,
    connector_record,
    fencing_record,
    task_records,
)

CONFIG = {"name": "lines", "connector.class": "FileStreamSource", "file": "in.txt", "topic": "lines"}
EVERYTHING = Shares.everything()


def tasks(*reads: str) -> list[dict[str, str]]:
    return [{"reads": one} for one in reads]


def replayed(state: ClusterState, *records: Record) -> ConnectorEntry:
    for key, value in records:
        state.replay(key, value, state.offset + 1)
    return state.connectors["lines"]


@pytest.mark.parametrize(
    ("before", "now", "replaced", "waits"),
    [
        ((), ("a", "b"), set(), False),
        (("a",), ("b",), {0}, False),
        (("a",), ("a", "b"), set(), False),
        (("ab",), ("a", "b"), {0}, True),
        (("a", "b"), ("a", "b", "c"), set(), False),
        (("a", "b", "c"), ("a", "bc"), {1, 2}, True),
        (("a", "b"), ("ab",), {0, 1}, True),
        (("a", "b"), (), {0, 1}, True),
    ],
)
def test_what_is_fenced(
    before: tuple[str, ...], now: tuple[str, ...], replaced: set[int], waits: bool
) -> None:
    state = ClusterState()
    entry = replayed(
        state,
        connector_record("lines", CONFIG),
        *task_records("lines", tasks(*before)),
        fencing_record("lines", len(before)),
    )
    assert replaced_tasks(entry, tasks(*now)) == replaced
    assert needs_round(frozenset(replaced), tasks(*now)) == waits


def test_all_are_fenced_when_more_has_changed() -> None:
    state = ClusterState()
    start = connector_record("lines", CONFIG), *task_records("lines", tasks("a", "b", "c"))
    entry = replayed(state, *start, fencing_record("lines", 3))
    assert not entry.needs_fencing
    # Commits whose tasks have not started yet.
    entry = replayed(state, *task_records("lines", tasks("ab", "c")), *task_records("lines", tasks("ab")))
    assert entry.needs_fencing
    assert replaced_tasks(entry, tasks("ab")) == {0, 1, 2}
    # Another configuration.
    entry = replayed(state, fencing_record("lines", 1), connector_record("lines", {**CONFIG, "file": "x"}))
    assert replaced_tasks(entry, tasks("ab")) == {0}
    # A connector that was stopped has no tasks.
    entry = replayed(state, *task_records("lines", tasks("a", "b")), fencing_record("lines", 2))
    entry = replayed(state, *task_records("lines", ()))
    assert replaced_tasks(entry, tasks("a", "b")) == {0, 1}


def test_the_record_is_that_of_kafka_connect_and_a_change() -> None:
    assert fencing_record("a", 2) == (b"tasks-fencing-a", b'{"task-count":2}')
    state = ClusterState()
    replayed(state, connector_record("lines", CONFIG), *task_records("lines", tasks("a")))
    change = state.replay(*fencing_record("lines", 1), state.offset + 1)
    assert change is not None and change.kind is Kind.TASKS
    replayed(state, connector_record("lines", {**CONFIG, "file": "x"}))
    state.replay(*connector_record("lines", None), state.offset + 1)
    assert state.replay(*fencing_record("lines", 1), state.offset + 1) is None
    assert replayed(state, connector_record("lines", CONFIG)).fenced_tasks is None


def test_what_has_not_changed_goes_on_meanwhile() -> None:
    made = TaskPlans(read_configuration())
    entry = ConnectorEntry(
        "lines",
        CONFIG,
        tasks=tuple(tasks("a", "b", "c")),
        config_offset=1,
        tasks_offset=5,
        fenced_tasks=3,
        fenced_offset=6,
    )
    (before,) = made.wanted({"lines": entry}, EVERYTHING).values()
    changed = replace(entry, tasks=tuple(tasks("a", "bc")), tasks_offset=9)
    (meanwhile,) = made.wanted({"lines": changed}, EVERYTHING).values()
    assert meanwhile.plan.tasks == {0: {"reads": "a"}}
    assert meanwhile.plan.task_digest(0) == before.plan.task_digest(0)
    (after,) = made.wanted({"lines": replace(changed, fenced_offset=10)}, EVERYTHING).values()
    assert after.plan.tasks == {0: {"reads": "a"}, 1: {"reads": "bc"}}
    # A worker that has just got its share has nothing that could go on.
    (new,) = TaskPlans(read_configuration()).wanted({"lines": changed}, EVERYTHING).values()
    assert new.plan.tasks == {}
    # The group gives a sink's partitions to its tasks.
    sink = {**CONFIG, "connector.class": "FileStreamSink", "topics": "lines"}
    (wanted,) = made.wanted({"lines": replace(changed, config=sink)}, EVERYTHING).values()
    assert sorted(wanted.plan.tasks) == [0, 1]
