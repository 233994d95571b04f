"""Whatever is written to the config topic, a worker that reads it compacted knows the same."""

import hypothesis.strategies as st
from hypothesis import given

from moldau.pipeline.connect.server.state.cluster_state import ClusterState
from moldau.pipeline.connect.server.state.config_records import (
    Record,
    TargetState,
    connector_record,
    target_state_record,
    task_records,
)

NAMES = st.sampled_from(["a", "a-0", "b"])
"""One of them looks like a task of another."""
Step = tuple[str, str, object]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """What workers do: they write tasks and states of connectors that exist."""
    found: list[Step] = []
    known: set[str] = set()
    for _ in range(draw(st.integers(1, 12))):
        name = draw(NAMES)
        what = draw(st.sampled_from(["config", "delete", "tasks", "target"]))
        if name not in known and what != "config":
            continue
        if what == "config":
            known.add(name)
            found.append((what, name, draw(st.integers(0, 2))))
        elif what == "delete":
            known.discard(name)
            found.append((what, name, None))
        elif what == "tasks":
            found.append((what, name, draw(st.integers(0, 3))))
        else:
            found.append((what, name, draw(st.sampled_from(TargetState))))
    return found


def records_of(step: Step) -> list[Record]:
    what, name, value = step
    if what == "config":
        return [connector_record(name, {"n": str(value)})]
    if what == "delete":
        return [connector_record(name, None), target_state_record(name, None)]
    if what == "tasks":
        assert isinstance(value, int)
        return task_records(name, [{"task": f"{name}/{number}"} for number in range(value)])
    assert isinstance(value, TargetState)
    return [target_state_record(name, value)]


def replayed(log: list[tuple[int, Record]]) -> ClusterState:
    state = ClusterState()
    for offset, (key, value) in log:
        state.replay(key, value, offset)
    return state


@given(steps(), st.booleans())
def test_a_compacted_log_says_the_same(given_steps: list[Step], keeps_tombstones: bool) -> None:
    log = list(enumerate(record for step in given_steps for record in records_of(step)))
    last = {key: offset for offset, (key, _) in log}
    compacted = [
        (offset, (key, value))
        for offset, (key, value) in log
        if last[key] == offset and (value is not None or keeps_tombstones)
    ]
    whole, left = replayed(log), replayed(compacted)
    assert {name: one.config for name, one in left.connectors.items()} == {
        name: one.config for name, one in whole.connectors.items()
    }
    for name, entry in whole.connectors.items():
        other = left.connectors[name]
        assert other.target is entry.target
        # Tasks that compaction has made incomplete are written again by the worker that has the connector.
        if other.has_current_tasks:
            assert entry.has_current_tasks
            assert other.tasks == entry.tasks
