"""When a query runs a batch although nothing was read: timers of tasks, and stream time that advances without input."""

import time
from collections.abc import Iterable
from typing import Final

from moldau.pipeline.plan.nodes import Process
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.orders import SlotReport

IDLE_STEP_MS_MIN: Final = 1_000


class TaskTimers:
    """When the wall-clock timers of each task are due next, as the workers report it."""

    def __init__(self) -> None:
        self._due_ms: dict[str, int] = {}

    def learn(self, report: SlotReport) -> None:
        for task, due_ms in report.due_ms.items():
            if due_ms is None:
                self._due_ms.pop(task, None)
            else:
                self._due_ms[task] = due_ms

    def due(self, now_ms: int) -> Iterable[str]:
        return (task for task, due_ms in self._due_ms.items() if due_ms <= now_ms)

    def rest_s(self, longest_s: float) -> float:
        """How long the query may wait: until the next timer, but no longer than `longest_s`."""
        if not self._due_ms:
            return longest_s
        return min(longest_s, max(0.001, min(self._due_ms.values()) / 1000 - time.time()))


class IdleClock:
    """Advances stream time while there is no input, so that windows close (`close_idle_ms`; None: never)."""

    def __init__(self, close_idle_ms: int | None) -> None:
        self._close_idle_ms = close_idle_ms
        self._input_at = time.monotonic()
        self._advanced_ms = -1

    def saw_input(self) -> None:
        self._input_at, self._advanced_ms = time.monotonic(), -1

    def advance_ms(self, now_ms: int) -> int | None:
        """The stream time to advance to now. None: not yet. Time advances in steps, because each costs a batch."""
        if self._close_idle_ms is None:
            return None
        idle_ms = (time.monotonic() - self._input_at) * 1000
        advance_ms = now_ms - self._close_idle_ms
        step_ms = max(IDLE_STEP_MS_MIN, self._close_idle_ms)
        if idle_ms < self._close_idle_ms or advance_ms < self._advanced_ms + step_ms:
            return None
        self._advanced_ms = advance_ms
        return advance_ms


def parts_with_timers(topology: Topology) -> set[int]:
    """The sub-topologies that may have wall-clock timers: only processors of the user schedule them."""
    return {
        part.index
        for part in topology.sub_topologies
        if any(isinstance(node, Process) for node in part.nodes)
    }
