"""What the driver makes of the reports about a task: states, pauses between starts, counters."""

from typing import Any

from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.spark.connectors.task_orders import RunState, TaskOrder, TaskReport
from moldau.pipeline.spark.connectors.task_record import FENCED_MS, SETTLED_MS, TaskRecord


def plan(**more: Any) -> ConnectorPlan:
    given: dict[str, Any] = {
        "name": "lines",
        "worker_group": "workers",
        "kind": "source",
        "connector_class": "somewhere:LinesConnector",
        "config": {"file": "a"},
        "providers": {},
        "tasks": {0: {"file": "a"}, 1: {"file": "b"}},
        "bootstrap_servers": "localhost:9092",
        "clients": {},
        "offsets_topic": "connect-offsets",
        "generation": 0,
    }
    return ConnectorPlan(**{**given, **more})


def report(order: TaskOrder, state: RunState, **more: Any) -> TaskReport:
    return TaskReport(order.id, order.run, state, **more)


def test_a_task_runs() -> None:
    task = TaskRecord(plan(), 0)
    assert task.starts(0)
    order = task.started()
    assert not task.starts(0)
    assert task.status()["state"] == "UNASSIGNED"
    task.heard(report(order, RunState.RUNNING, polled=7, written=5, failed=2, topics=("b", "a")), "p1", 0)
    told = task.status()
    assert (told["state"], told["process"]) == ("RUNNING", "p1")
    assert (told["polled"], told["written"], told["failed"]) == (7, 5, 2)
    assert told["topics"] == ["a", "b"]


def test_a_failed_task_waits_longer_each_time() -> None:
    task = TaskRecord(plan(), 0)
    waits = []
    for number in range(3):
        order = task.started()
        task.heard(report(order, RunState.FAILED, error=f"no {number}", trace="here"), "p1", 1_000)
        assert (task.state, task.error, task.trace) == ("FAILED", f"no {number}", "here")
        due = task.status()["retry_at_ms"]
        assert not task.starts(due - 1)
        assert task.starts(due)
        waits.append(due - 1_000)
    assert waits == sorted(waits)
    assert waits[0] < waits[-1]
    assert task.restarts == 3


def test_a_task_that_was_fenced_does_not_hurry() -> None:
    task = TaskRecord(plan(), 0)
    for error in (
        "Kafka: Failed to commit transaction: Local: This instance has been fenced by a newer instance",
        "Kafka: Broker: There is a newer producer with the same transactionalId which fences the current one",
        "Kafka: Broker: Producer attempted an operation with an old epoch",
    ):
        task.heard(report(task.started(), RunState.FAILED, error=error), "p1", 0)
        assert task.retry_at_ms is not None and task.retry_at_ms >= FENCED_MS
    # One with other work starts at once.
    task.ended("UNASSIGNED")
    assert task.starts(0)


def test_the_trace_is_kept_until_the_task_is_well() -> None:
    task = TaskRecord(plan(), 0)
    task.heard(report(task.started(), RunState.FAILED, error="no", trace="here"), "p1", 0)
    order = task.started()
    task.heard(report(order, RunState.RUNNING), "p1", 1_000)
    assert (task.status()["state"], task.status()["trace"]) == ("RUNNING", "here")
    task.heard(report(order, RunState.RUNNING), "p1", 1_000 + SETTLED_MS)
    assert task.status()["trace"] == ""


def test_a_task_fails_for_good() -> None:
    task = TaskRecord(plan(), 0, restarts_max=1)
    task.heard(report(task.started(), RunState.FAILED, error="no"), "p1", 0)
    assert task.status()["retry_at_ms"] is not None
    task.heard(report(task.started(), RunState.FAILED, error="no"), "p1", 0)
    assert task.status()["retry_at_ms"] is None
    assert not task.starts(10**12)


def test_a_lost_task_starts_again_at_once_and_its_counters_go_on() -> None:
    task = TaskRecord(plan(), 0)
    order = task.started()
    task.heard(report(order, RunState.RUNNING, polled=10, written=10), "p1", 0)
    task.heard(report(order, RunState.LOST), "p1", 10)
    assert task.starts(10)
    again = task.started()
    # What an earlier run says no longer counts.
    task.heard(report(order, RunState.FAILED, error="late"), "p1", 20)
    assert task.error is None
    task.heard(report(again, RunState.RUNNING, polled=5, written=4), "p2", 30)
    assert (task.status()["polled"], task.status()["written"]) == (15, 14)
    assert task.status()["restarts"] == 1


def test_only_tasks_that_change_have_another_digest() -> None:
    before, after = plan(), plan(tasks={0: {"file": "a"}, 1: {"file": "c"}})
    assert before.task_digest(0) == after.task_digest(0)
    assert before.task_digest(1) != after.task_digest(1)
    one_restarted = plan(task_generations={1: 1})
    assert before.task_digest(0) == one_restarted.task_digest(0)
    assert before.task_digest(1) != one_restarted.task_digest(1)
