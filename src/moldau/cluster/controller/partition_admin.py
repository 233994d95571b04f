"""Elections and moves that people ask for, done by whichever broker was asked.

No controller is needed for these: every change is a compare-and-set on what it was decided on, and the controller
sees its outcome like any other change. What was decided on an image the tree has left behind is decided anew.
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


class ClusterPartitions:
    """Implements `broker.partition_admin.PartitionAdmin`."""

    def __init__(self, store: Store, image: Callable[[], ClusterImage], run_in_order: RunInOrder) -> None:
        self._store = store
        self._image = image
        self._run_in_order = run_in_order

    async def elect(
        self, election_type: ElectionType, places: Sequence[TopicPartition] | None
    ) -> Sequence[PartitionResult]:
        wanted = places if places is not None else _all_places(self._image())
        results = [await self._try(place, partial(self._elect, place, election_type)) for place in wanted]
        if places is not None:
            return results
        return [each for each in results if each.code is not ErrorCode.ELECTION_NOT_NEEDED]

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PartitionResult]:
        return [
            await self._try(place, partial(self._move, place, target, allows_factor_change))
            for place, target in targets.items()
        ]

    def reassignments(self, places: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        image = self._image()
        return [
            Reassignment(
                place,
                topic.replicas[place.partition],
                topic.adding.get(place.partition, ()),
                topic.removing.get(place.partition, ()),
            )
            for place in (_all_places(image) if places is None else places)
            if (topic := image.topics.get(place.topic)) is not None and topic.is_reassigning(place.partition)
        ]

    async def _try(self, place: TopicPartition, job: Callable[[], None]) -> PartitionResult:
        try:
            await self._run_in_order(job)
        except ApiError as error:
            return PartitionResult(place, error.code, error.message)
        except StorageFault as fault:
            return PartitionResult(place, ErrorCode.REQUEST_TIMED_OUT, str(fault))
        return PartitionResult(place)

    def _elect(self, place: TopicPartition, election_type: ElectionType) -> None:
        def attempt(image: ClusterImage) -> None:
            state = image.state(place)
            assert state is not None, "its existence was checked"
            topic = image.topics[place.topic]
            is_preferred = election_type is ElectionType.PREFERRED
            is_well = (
                state.leader == topic.target(place.partition)[0]
                if is_preferred
                else state.leader != NO_LEADER
            )
            if is_well:
                raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, NOT_NEEDED)
            decide = decide_preferred if is_preferred else decide_unclean
            after = decide(image, topic, place.partition)
            if after is None or after.leader == NO_LEADER:
                raise ApiError(*_NOT_THERE[election_type])
            write_states(self._store, [StateWrite(place, after)])

        self._attempt(place, attempt)

    def _move(self, place: TopicPartition, target: Sequence[int] | None, allows_factor_change: bool) -> None:
        def attempt(image: ClusterImage) -> None:
            topic, partition = image.topics[place.topic], place.partition
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

        self._attempt(place, attempt)

    def _attempt(self, place: TopicPartition, attempt: Callable[[ClusterImage], None]) -> None:
        """On a worker thread. The first time on the image at hand, then on one read anew."""
        image = self._image()
        for _ in range(TRIES_MAX):
            if image.state(place) is None:
                missing = no_such_partition(place, has_topic=place.topic in image.topics)
                raise ApiError(missing.code, missing.message)
            try:
                attempt(image)
            except (StaleState, StoreError):
                image = load_image(self._store)
            else:
                return
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"{place} kept changing while it was written; try again")


def _all_places(image: ClusterImage) -> list[TopicPartition]:
    return [
        TopicPartition(name, partition)
        for name, topic in image.topics.items()
        for partition in range(len(topic))
    ]
