"""What the config topic says, record by record."""

import pytest

from moldau.pipeline.connect.server.state.cluster_state import ClusterState, Kind
from moldau.pipeline.connect.server.state.config_records import (
    Record,
    RestartRequest,
    TargetState,
    connector_record,
    logger_record,
    restart_record,
    target_state_record,
    task_records,
)

CONFIG = {"name": "orders", "connector.class": "FileStreamSink"}


def replayed(*records: Record, state: ClusterState | None = None) -> ClusterState:
    state = state or ClusterState()
    for key, value in records:
        state.replay(key, value, state.offset + 1)
    return state


def test_the_formats_are_those_of_kafka_connect() -> None:
    assert connector_record("a", {"k": "v"}) == (b"connector-a", b'{"properties":{"k":"v"}}')
    assert connector_record("a", None) == (b"connector-a", None)
    assert task_records("a", [{"k": "v"}]) == [
        (b"task-a-0", b'{"properties":{"k":"v"}}'),
        (b"commit-a", b'{"tasks":1}'),
    ]
    assert target_state_record("a", TargetState.STOPPED) == (
        b"target-state-a",
        b'{"state":"PAUSED","state.v2":"STOPPED"}',
    )
    assert restart_record(RestartRequest("a", only_failed=True, with_tasks=False)) == (
        b"restart-connector-a",
        b'{"include-tasks":false,"only-failed":true}',
    )
    assert logger_record("moldau", "DEBUG") == (b"logger-cluster-moldau", b'{"level":"DEBUG"}')


def test_tasks_count_once_they_are_committed() -> None:
    tasks = task_records("orders", [{"n": "0"}, {"n": "1"}])
    state = replayed(connector_record("orders", CONFIG), *tasks[:-1])
    assert state.connectors["orders"].tasks == ()
    replayed(tasks[-1], state=state)
    entry = state.connectors["orders"]
    assert [task["n"] for task in entry.tasks] == ["0", "1"]
    assert entry.has_current_tasks


def test_tasks_of_an_older_configuration_stay_until_there_are_others() -> None:
    state = replayed(connector_record("orders", CONFIG), *task_records("orders", [{"n": "0"}]))
    replayed(connector_record("orders", {**CONFIG, "file": "x"}), state=state)
    entry = state.connectors["orders"]
    assert (len(entry.tasks), entry.has_current_tasks) == (1, False)


def test_compaction_may_have_removed_a_task() -> None:
    tasks = task_records("orders", [{"n": "0"}, {"n": "1"}])
    state = replayed(connector_record("orders", CONFIG), tasks[0], tasks[-1])
    entry = state.connectors["orders"]
    assert (entry.tasks, entry.is_consistent, entry.has_current_tasks) == ((), False, False)


def test_a_compacted_topic_may_have_the_connector_last() -> None:
    state = replayed(
        target_state_record("orders", TargetState.PAUSED),
        *task_records("orders", [{"n": "0"}]),
        connector_record("orders", CONFIG),
    )
    entry = state.connectors["orders"]
    assert (entry.target, len(entry.tasks), entry.has_current_tasks) == (TargetState.PAUSED, 1, False)


def test_nothing_of_a_deleted_connector_is_left_for_the_next_of_its_name() -> None:
    state = replayed(
        connector_record("orders", CONFIG),
        target_state_record("orders", TargetState.STOPPED),
        *task_records("orders", [{"n": "0"}]),
        connector_record("orders", None),
        # Of a worker that did not know yet.
        *task_records("orders", [{"n": "late"}]),
        target_state_record("orders", None),
        connector_record("orders", CONFIG),
    )
    entry = state.connectors["orders"]
    assert (entry.target, entry.tasks) == (TargetState.STARTED, ())


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (b'{"state":"PAUSED"}', TargetState.PAUSED),
        (b'{"state":"PAUSED","state.v2":"STOPPED"}', TargetState.STOPPED),
        (b'{"state":"ASLEEP"}', TargetState.STARTED),
        (b"not JSON", TargetState.STARTED),
        (None, TargetState.STARTED),
    ],
)
def test_target_states_of_any_worker(value: bytes | None, target: TargetState) -> None:
    state = replayed(connector_record("orders", CONFIG), (b"target-state-orders", value))
    assert state.connectors["orders"].target is target


def test_changes_are_reported() -> None:
    state = ClusterState()

    def kind_of(record: Record) -> Kind | None:
        change = state.replay(*record, state.offset + 1)
        return None if change is None else change.kind

    restart = restart_record(RestartRequest("orders", only_failed=False, with_tasks=True))
    assert kind_of(restart) is None
    assert kind_of(connector_record("orders", CONFIG)) is Kind.CONFIG
    assert kind_of(restart) is Kind.RESTART
    assert kind_of(target_state_record("orders", TargetState.PAUSED)) is Kind.TARGET
    assert kind_of(target_state_record("orders", TargetState.PAUSED)) is None
    assert kind_of(task_records("orders", [])[0]) is Kind.TASKS
    assert kind_of(logger_record("moldau", "INFO")) is Kind.LOGGER
    assert kind_of((b"session-key", b'{"key":"x"}')) is None
    assert kind_of(connector_record("orders", None)) is Kind.REMOVED
    assert kind_of(connector_record("orders", None)) is None
