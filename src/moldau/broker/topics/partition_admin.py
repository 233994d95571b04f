"""The port for leader elections and partition reassignments, as the handlers use it.

A standalone broker has nothing to elect or move, and answers so. In a cluster `cluster/` implements the port.
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
    """The result for one partition."""

    topic_partition: TopicPartition
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


class Reassignment(NamedTuple):
    """A reassignment under way."""

    topic_partition: TopicPartition
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class PartitionAdmin(Protocol):
    async def elect(
        self, election_type: ElectionType, topic_partitions: Sequence[TopicPartition] | None
    ) -> Sequence[PartitionResult]:
        """None elects wherever an election is needed; the results then name only those partitions."""

    async def reassign(
        self, targets: Mapping[TopicPartition, Sequence[int] | None], *, allows_factor_change: bool
    ) -> Sequence[PartitionResult]:
        """Starts moving partitions to these replicas; None cancels a reassignment under way."""

    def reassignments(self, topic_partitions: Sequence[TopicPartition] | None) -> Sequence[Reassignment]:
        """The reassignments under way: all, or those of these partitions."""


NOT_NEEDED = "Leader election not needed for topic partition."
NO_MOVE = "No partition reassignment is in progress."


def no_such_partition(topic_partition: TopicPartition, *, has_topic: bool) -> PartitionResult:
    message = (
        f"No such partition as {topic_partition}"
        if has_topic
        else f"No such topic as {topic_partition.topic}"
    )
    return PartitionResult(topic_partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


class StandalonePartitionAdmin:
    """For a standalone broker, which leads every partition."""

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
