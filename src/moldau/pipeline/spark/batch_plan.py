"""Which task gets which ranges of a batch, and which slot runs it."""

from collections.abc import Iterable, Iterator, Sequence

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.offset_log import OffsetRange
from moldau.pipeline.spark.orders import Application, SlotOrder, TaskId, TaskOrder


class BatchPlan:
    def __init__(self, topology: Topology, application: Application, slots: int, *, ticks: bool) -> None:
        self._application = application
        self._slots = slots
        self._ticks = ticks
        self._part_of = {
            topic: part.index for part in topology.sub_topologies for topic in part.source_topics
        }

    def orders(self, batch_id: int, ranges: Iterable[OffsetRange]) -> list[SlotOrder]:
        """Only of slots that have something to do."""
        by_slot: dict[int, list[TaskOrder]] = {}
        for order in self._task_orders(ranges):
            by_slot.setdefault(slot_of(order.task, self._slots), []).append(order)
        return [
            SlotOrder(self._application, slot, batch_id, tuple(tasks))
            for slot, tasks in sorted(by_slot.items())
        ]

    def last_orders(self) -> list[SlotOrder]:
        return [SlotOrder(self._application, slot, -1, (), is_last=True) for slot in range(self._slots)]

    def _task_orders(self, ranges: Iterable[OffsetRange]) -> Iterator[TaskOrder]:
        by_task: dict[TaskId, list[OffsetRange]] = {}
        for one in ranges:
            part = self._part_of.get(one.topic)
            if part is not None:
                by_task.setdefault(TaskId(part, one.partition), []).append(one)
        for task, mine in sorted(by_task.items()):
            if self._ticks or any(one.end_offset > one.start_offset for one in mine):
                yield TaskOrder(task, tuple(mine))


def slot_of(task: TaskId, slots: int) -> int:
    """Stays the same when partitions are added; neighbours go to different slots."""
    return (task.part + task.partition) % slots


def transactional_ids(application_id: str, slots: int) -> Sequence[str]:
    return [f"{application_id}-{slot}" for slot in range(slots)]
