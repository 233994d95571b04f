"""Lanes of connectors without Spark: what is sent where, and what a lost worker means to its tasks."""

import threading
from collections.abc import Callable

from py4j.protocol import Py4JError

from connect_kit import eventually
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.spark.connectors.shifts import Shifts
from moldau.pipeline.spark.connectors.task_orders import (
    RunState,
    ShiftOrder,
    ShiftReport,
    TaskId,
    TaskOrder,
    TaskReport,
)

GONE = TaskId("gone", 0)


class Lane:
    """A worker that runs whatever it is told. `fails` is raised by the next shift."""

    def __init__(self) -> None:
        self.runs: dict[int, set[str]] = {}
        self.fails: BaseException | None = None
        self._lock = threading.Lock()

    def send(self, lane: int, order: ShiftOrder) -> ShiftReport:
        with self._lock:
            failure, self.fails = self.fails, None
            if failure is not None:
                self.runs[lane] = set()
                raise failure
            before = self.runs.get(lane, set())
            wanted = {one.run for one in order.tasks}
            self.runs[lane] = wanted
        threading.Event().wait(0.001)
        running = [TaskReport(one.id, one.run, RunState.RUNNING) for one in order.tasks]
        ended = [
            TaskReport(order.tasks[0].id if order.tasks else GONE, run, RunState.ENDED)
            for run in before - wanted
        ]
        return ShiftReport(f"process of {lane}", running + ended)


class Ears:
    def __init__(self) -> None:
        self.heard: dict[str, RunState] = {}
        self.gone: list[str] = []

    def hear(self, report: TaskReport, process: str) -> None:
        self.heard[report.run] = report.state

    def is_in(self, run: str, state: RunState) -> Callable[[], bool]:
        return lambda: self.heard.get(run) is state


def order(name: str, run: str, number: int = 0) -> TaskOrder:
    plan = ConnectorPlan(
        name=name,
        worker_group="workers",
        kind="source",
        connector_class="somewhere:LinesConnector",
        config={},
        providers={},
        tasks={number: {}},
        bootstrap_servers="localhost:9092",
        clients={},
        offsets_topic="connect-offsets",
        generation=0,
    )
    return TaskOrder(plan, number, run)


def test_tasks_are_spread_and_end() -> None:
    lane, ears = Lane(), Ears()
    shifts = Shifts(2, lane.send)
    for number in range(4):
        shifts.start(order(f"c{number}", f"r{number}"), ears.hear, ears.gone.append)
    for number in range(4):
        eventually(ears.is_in(f"r{number}", RunState.RUNNING), "all run")
    assert sorted(map(len, lane.runs.values())) == [2, 2]
    shifts.end("r0")
    eventually(ears.is_in("r0", RunState.ENDED), "it has ended")
    assert ears.heard["r1"] is RunState.RUNNING
    shifts.close()


def test_a_worker_that_ends_loses_its_tasks_only() -> None:
    lane, ears = Lane(), Ears()
    shifts = Shifts(2, lane.send)
    shifts.start(order("a", "r0"), ears.hear, ears.gone.append)
    shifts.start(order("b", "r1"), ears.hear, ears.gone.append)
    eventually(lambda: len(ears.heard) == 2, "both run")
    lane.fails = OSError("the worker was killed")
    eventually(lambda: RunState.LOST in ears.heard.values(), "one is lost")
    assert sorted(ears.heard.values()) == [RunState.LOST, RunState.RUNNING]
    lost = next(run for run, state in ears.heard.items() if state is RunState.LOST)
    shifts.start(order("a" if lost == "r0" else "b", "r2"), ears.hear, ears.gone.append)
    eventually(ears.is_in("r2", RunState.RUNNING), "it runs again")
    assert ears.gone == []
    shifts.close()


def test_the_end_of_the_jvm_is_told_to_all() -> None:
    lane, ears = Lane(), Ears()
    shifts = Shifts(2, lane.send)
    shifts.start(order("a", "r0"), ears.hear, ears.gone.append)
    shifts.start(order("b", "r1"), ears.hear, ears.gone.append)
    eventually(lambda: len(ears.heard) == 2, "both run")
    lane.fails = Py4JError("no answer")
    eventually(lambda: len(ears.gone) == 2, "both know that Spark has ended")
