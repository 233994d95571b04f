"""Elections and reassignments requested by clients, carried out by the broker that received the request.

They need no controller: every change is a compare-and-set, and the controller sees the result like any other change.
A decision based on an outdated image is made again.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from moldau.broker.run_in_order import RunInOrder
from moldau.broker.topics.partition_admin import (
    NO_MOVE,
    NOT_NEEDED,
    ElectionType,
    PartitionResult,
    Reassignment,
    no_such_partition,
)
from moldau.cluster.controller.elections import decide_preferred, decide_unclean
from moldau.cluster.controller.reassignment import check_target, decide_cancel, decide_start
from moldau.cluster.controller.writing import move_writes
from moldau.coordination.image import ClusterImage, load_image
from moldau.coordination.partition_states import StaleState, StateWrite, write_states
from moldau.coordination.store import Store, StoreError
from moldau.coordination.tree_layout import NO_LEADER
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicPartition

TRIES_MAX: Final = 5

_NOT_THERE: Final = {
    ElectionType.PREFERRED: (
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.",
    ),
    ElectionType.UNCLEAN: (
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "Eligible topic partition leaders are not available.",
    ),
}  # fmt: skip


class ClusterPartitionAdmin:
    """Implements `broker.topics.partition_admin.PartitionAdmin`."""

    def __init__(self, store: Store, image: Callable[[], ClusterImage], run_in_order: RunInOrder) -> None:
        self._store = store
        self._image = image
        self._run_in_order = run_in_order

    async def elect(
        self, election_type: ElectionType, places: Sequence[TopicPartition] | None
    ) -> Sequence[PartitionResult]:
        wanted = places if places is not None else _all_partitions(self._image())
        results = [
            await self._try(topic_partition, partial(self._elect, topic_partition, election_type))
            for topic_partition in wanted
        ]
        if places is not None:
            return results
        return [each for each in results if each.code is not ErrorCode.ELECTION_NOT_NEEDED]

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PartitionResult]:
        return [
            await self._try(
                topic_partition, partial(self._move, topic_partition, target, allows_factor_change)
            )
            for topic_partition, target in targets.items()
        ]

    def reassignments(self, places: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        image = self._image()
        return [
            Reassignment(
                topic_partition,
                topic.replicas[topic_partition.partition],
                topic.adding.get(topic_partition.partition, ()),
                topic.removing.get(topic_partition.partition, ()),
            )
            for topic_partition in (_all_partitions(image) if places is None else places)
            if (topic := image.topics.get(topic_partition.topic)) is not None
            and topic.is_reassigning(topic_partition.partition)
        ]

    async def _try(self, topic_partition: TopicPartition, job: Callable[[], None]) -> PartitionResult:
        try:
            await self._run_in_order(job)
        except ApiError as error:
            return PartitionResult(topic_partition, error.code, error.message)
        except StorageFault as fault:
            return PartitionResult(topic_partition, ErrorCode.REQUEST_TIMED_OUT, str(fault))
        return PartitionResult(topic_partition)

    def _elect(self, topic_partition: TopicPartition, election_type: ElectionType) -> None:
        def attempt(image: ClusterImage) -> None:
            state = image.state(topic_partition)
            assert state is not None, "its existence was checked"
            topic = image.topics[topic_partition.topic]
            is_preferred = election_type is ElectionType.PREFERRED
            is_done = (
                state.leader == topic.target(topic_partition.partition)[0]
                if is_preferred
                else state.leader != NO_LEADER
            )
            if is_done:
                raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, NOT_NEEDED)
            decide = decide_preferred if is_preferred else decide_unclean
            after = decide(image, topic, topic_partition.partition)
            if after is None or after.leader == NO_LEADER:
                raise ApiError(*_NOT_THERE[election_type])
            write_states(self._store, [StateWrite(topic_partition, after)])

        self._attempt(topic_partition, attempt)

    def _move(
        self, topic_partition: TopicPartition, target: Sequence[int] | None, allows_factor_change: bool
    ) -> None:
        def attempt(image: ClusterImage) -> None:
            topic, partition = image.topics[topic_partition.topic], topic_partition.partition
            if target is None:
                if not topic.is_reassigning(partition):
                    raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, NO_MOVE)
                move = decide_cancel(topic, [partition])
            else:
                check_target(image, topic, partition, target, allows_factor_change=allows_factor_change)
                if tuple(target) == topic.replicas[partition] and not topic.is_reassigning(partition):
                    return
                move = decide_start(topic, {partition: tuple(target)})
            states, ops = move_writes(topic, move, image.controller_epoch)
            write_states(self._store, states, after=ops)

        self._attempt(topic_partition, attempt)

    def _attempt(self, topic_partition: TopicPartition, attempt: Callable[[ClusterImage], None]) -> None:
        """Runs on a worker thread: first with the present image, then with newly read ones."""
        image = self._image()
        for _ in range(TRIES_MAX):
            if image.state(topic_partition) is None:
                missing = no_such_partition(topic_partition, has_topic=topic_partition.topic in image.topics)
                raise ApiError(missing.code, missing.message)
            try:
                attempt(image)
            except (StaleState, StoreError):
                image = load_image(self._store)
            else:
                return
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"{topic_partition} kept changing; try again")


def _all_partitions(image: ClusterImage) -> list[TopicPartition]:
    return [
        TopicPartition(name, partition)
        for name, topic in image.topics.items()
        for partition in range(len(topic))
    ]
