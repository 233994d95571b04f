"""Which task gets which ranges of a batch, and which slot runs it."""

import zlib
from collections.abc import Iterable, Iterator, Sequence

from moldau.pipeline.plan.nodes import TRANSFORM_IN
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.orders import Application, SlotOrder, TaskId, TaskOrder
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import OffsetRange


class BatchPlan:
    def __init__(self, topology: Topology, application: Application, slots: int) -> None:
        self._application = application
        self._slots = slots
        # The driver runs functions of DataFrames itself.
        self._part_of = {
            topic: part.index
            for part in topology.sub_topologies
            if part.transform is None
            for topic in part.source_topics
        }

    def orders(self, plan: Plan, *, rests: bool) -> list[SlotOrder]:
        """Orders for the slots that have something to do. `rests`: the plan leaves nothing unread."""
        by_slot: dict[int, list[TaskOrder]] = {}
        for order in self._task_orders(plan):
            by_slot.setdefault(slot_of(order.task, self._slots), []).append(order)
        return [
            SlotOrder(
                self._application,
                slot,
                plan.batch_id,
                tuple(tasks),
                clock_ms=plan.clock_ms,
                advance_ms=plan.advance_ms,
                rests=rests,
            )
            for slot, tasks in sorted(by_slot.items())
        ]

    def last_orders(self) -> list[SlotOrder]:
        return [SlotOrder(self._application, slot, -1, (), is_last=True) for slot in range(self._slots)]

    def tasks_of(self, parts: set[int], plan: Plan) -> tuple[str, ...]:
        """All tasks of some sub-topologies."""
        return tuple(sorted({str(task) for task in self._ranges_by_task(plan) if task.part in parts}))

    def _task_orders(self, plan: Plan) -> Iterator[TaskOrder]:
        for task, mine in sorted(self._ranges_by_task(plan).items()):
            has_input = any(one.end_offset > one.start_offset for one in mine)
            if has_input or plan.advance_ms is not None or str(task) in plan.woken:
                yield TaskOrder(task, tuple(mine))

    def _ranges_by_task(self, plan: Plan) -> dict[TaskId, list[OffsetRange]]:
        by_task: dict[TaskId, list[OffsetRange]] = {}
        for one in plan.ranges():
            part = self._part_of.get(one.topic)
            if part is not None:
                by_task.setdefault(TaskId(part, one.partition), []).append(one)
        return by_task


def slot_of(task: TaskId, slots: int) -> int:
    """Does not change when partitions are added. Adjacent partitions go to different slots."""
    return (task.part + task.partition) % slots


def lane_of(application_id: str, slot: int, lanes: int) -> int:
    """Spreads applications that have only one slot over all lanes."""
    return (zlib.crc32(application_id.encode()) + slot) % lanes


def transactional_ids(application_id: str, slots: int, topics: Iterable[str] = ()) -> Sequence[str]:
    """Of all that writes for an application. `topics`: its own, among them those before functions of DataFrames."""
    transforms = [transform_id(topic) for topic in topics if topic.endswith(TRANSFORM_IN)]
    return [*(f"{application_id}-{slot}" for slot in range(slots)), *transforms]


def transform_id(topic_in: str) -> str:
    """The `transactional.id` of the function of DataFrames that reads a topic."""
    return topic_in.removesuffix("-in")
