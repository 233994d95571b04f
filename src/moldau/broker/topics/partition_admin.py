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


class PartitionResult(NamedTuple):
    """What came of a request for one partition."""

    topic_partition: TopicPartition
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


class Reassignment(NamedTuple):
    """A partition on the move."""

    topic_partition: TopicPartition
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class PartitionAdmin(Protocol):
    async def elect(
        self, election_type: ElectionType, topic_partitions: Sequence[TopicPartition] | None
    ) -> Sequence[PartitionResult]:
        """None elects wherever it is needed, and tells of those partitions only."""

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PartitionResult]:
        """Sets partitions on the move to these replicas; None takes back a move under way."""

    def reassignments(self, topic_partitions: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        """The moves under way: all, or those of these partitions."""


NOT_NEEDED = "Leader election not needed for topic partition."
NO_MOVE = "No partition reassignment is in progress."


def no_such_partition(topic_partition: TopicPartition, *, has_topic: bool) -> PartitionResult:
    message = (
        f"No such partition as {topic_partition}"
        if has_topic
        else f"No such topic as {topic_partition.topic}"
    )
    return PartitionResult(topic_partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


class LonePartitions:
    """For a broker that stands alone: it leads everything, and has everything."""

    def __init__(self, catalog: TopicCatalog, broker_id: BrokerId) -> None:
        self._catalog = catalog
        self._broker_id = broker_id

    async def elect(
        self, election_type: ElectionType, topic_partitions: Sequence[TopicPartition] | None
    ) -> Sequence[PartitionResult]:
        return [
            self._missing(topic_partition)
            or PartitionResult(topic_partition, ErrorCode.ELECTION_NOT_NEEDED, NOT_NEEDED)
            for topic_partition in topic_partitions or ()
        ]

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PartitionResult]:
        return [
            self._missing(topic_partition) or self._move(topic_partition, replicas)
            for topic_partition, replicas in targets.items()
        ]

    def reassignments(self, topic_partitions: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        return ()

    def _move(self, topic_partition: TopicPartition, replicas: Sequence[int] | None) -> PartitionResult:
        if replicas is None:
            return PartitionResult(topic_partition, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, NO_MOVE)
        try:
            check_replicas(replicas, [self._broker_id])
        except ApiError as error:
            return PartitionResult(topic_partition, error.code, error.message)
        return PartitionResult(topic_partition)

    def _missing(self, topic_partition: TopicPartition) -> PartitionResult | None:
        entry = self._catalog.find(topic_partition.topic)
        if entry is not None and 0 <= topic_partition.partition < len(entry.partitions):
            return None
        return no_such_partition(topic_partition, has_topic=entry is not None)
