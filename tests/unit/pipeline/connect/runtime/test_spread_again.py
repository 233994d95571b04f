"""What a connector starts and ends when its work is spread again."""

import threading
from dataclasses import replace

import pytest

from connect_kit import eventually
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.spark.connectors.connector_app import ConnectorApp
from moldau.pipeline.spark.connectors.shifts import Shifts
from moldau.pipeline.spark.connectors.task_orders import RunState, ShiftOrder, ShiftReport, TaskId, TaskReport


class SlowToEnd:
    """A worker whose runs end only when they may."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.running: dict[str, TaskId] = {}
        self.wanted: set[str] = set()
        self.together: list[list[str]] = []
        """What the tasks read that have run at the same time."""
        self._plans: dict[str, str] = {}
        self._lock = threading.Lock()

    def send(self, lane: int, order: ShiftOrder) -> ShiftReport:
        with self._lock:
            self.wanted = wanted = {one.run for one in order.tasks}
            ended = [run for run in self.running if run not in wanted] if self.may_end.is_set() else []
            gone = [TaskReport(self.running.pop(run), run, RunState.ENDED) for run in ended]
            for one in order.tasks:
                self.running[one.run] = one.id
                self._plans[one.run] = one.plan.tasks[one.number]["reads"]
            self.together.append(sorted(self._plans[run] for run in self.running))
        threading.Event().wait(0.001)
        return ShiftReport(
            "process", [TaskReport(id, run, RunState.RUNNING) for run, id in self.running.items()] + gone
        )


def plan(kind: str, *reads: str) -> ConnectorPlan:
    return ConnectorPlan(
        name="moving",
        worker_group="workers",
        kind=kind,
        connector_class="somewhere:LinesConnector",
        config={},
        providers={},
        tasks={number: {"reads": text} for number, text in enumerate(reads)},
        bootstrap_servers="localhost:9092",
        clients={},
        offsets_topic="connect-offsets",
        generation=0,
    )


@pytest.mark.parametrize("kind", ["source", "sink"])
def test_a_source_moves_only_when_all_that_leave_have_ended(kind: str) -> None:
    worker = SlowToEnd()
    shifts = Shifts(1, worker.send)
    app = ConnectorApp(plan(kind, "a", "b"), open_shifts=lambda _: shifts)
    app.start()
    try:
        eventually(lambda: ["a", "b"] in worker.together, "both tasks run")
        before = set(worker.wanted)
        # `b` moves from the second task to the third.
        app.update(replace(plan(kind, "a", "c", "b"), generation=1))
        eventually(lambda: worker.wanted.isdisjoint(before), "the runs before are to end")
        if kind == "sink":
            eventually(lambda: worker.together[-1].count("b") == 2, "its partitions are the group's to give")
        worker.may_end.set()
        eventually(lambda: worker.together[-1] == ["a", "b", "c"], "all tasks run")
    finally:
        worker.may_end.set()
        app.stop()
        shifts.close()
    if kind == "source":
        assert all(reads.count("b") <= 1 for reads in worker.together)
