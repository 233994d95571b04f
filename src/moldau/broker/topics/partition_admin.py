"""Electing leaders and moving replicas, as the broker's handlers ask for it.

A broker that stands alone has nothing to elect and nowhere to move to, and says so; in a cluster `cluster/` does
the work.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.topics.topic_rules import check_replicas
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import BrokerId, TopicPartition


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


class PlaceResult(NamedTuple):
    """What came of a request for one partition."""

    place: TopicPartition
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


class Reassignment(NamedTuple):
    """A partition on the move."""

    place: TopicPartition
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class PartitionAdmin(Protocol):
    async def elect(
        self, election_type: ElectionType, places: Sequence[TopicPartition] | None
    ) -> Sequence[PlaceResult]:
        """None elects wherever it is needed, and tells of those places alone."""

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PlaceResult]:
        """Sets partitions on the move to these replicas; None takes back a move under way."""

    def reassignments(self, places: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        """The moves under way: all, or those of these partitions."""


NOT_NEEDED = "Leader election not needed for topic partition."
NO_MOVE = "No partition reassignment is in progress."


def no_such_place(place: TopicPartition, *, has_topic: bool) -> PlaceResult:
    message = f"No such partition as {place}" if has_topic else f"No such topic as {place.topic}"
    return PlaceResult(place, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


class LonePartitions:
    """For a broker that stands alone: it leads everything, and has everything."""

    def __init__(self, catalog: TopicCatalog, broker_id: BrokerId) -> None:
        self._catalog = catalog
        self._broker_id = broker_id

    async def elect(
        self, election_type: ElectionType, places: Sequence[TopicPartition] | None
    ) -> Sequence[PlaceResult]:
        return [
            self._missing(place) or PlaceResult(place, ErrorCode.ELECTION_NOT_NEEDED, NOT_NEEDED)
            for place in places or ()
        ]

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PlaceResult]:
        return [self._missing(place) or self._move(place, replicas) for place, replicas in targets.items()]

    def reassignments(self, places: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        return ()

    def _move(self, place: TopicPartition, replicas: Sequence[int] | None) -> PlaceResult:
        if replicas is None:
            return PlaceResult(place, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, NO_MOVE)
        try:
            check_replicas(replicas, [self._broker_id])
        except ApiError as error:
            return PlaceResult(place, error.code, error.message)
        return PlaceResult(place)

    def _missing(self, place: TopicPartition) -> PlaceResult | None:
        entry = self._catalog.find(place.topic)
        if entry is not None and 0 <= place.partition < len(entry.partitions):
            return None
        return no_such_place(place, has_topic=entry is not None)
