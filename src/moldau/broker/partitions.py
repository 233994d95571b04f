"""The partitions this broker hosts, and who waits for them.

Owns the map from (topic, index) to an open log. Must not read or write data itself.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId
from moldau.storage.partition_log import PartitionLog

if TYPE_CHECKING:
    from moldau.broker.parked_fetches import ParkedFetch

TopicKey = str | bytes
"""A topic as requests name it: by name in older versions, by id in newer ones."""


class Partition:
    """One hosted replica. `log` is None while its directory is offline."""

    __slots__ = ("index", "leader_epoch", "log", "topic", "topic_id", "waiters")

    def __init__(
        self, topic: str, topic_id: TopicId, index: int, log: PartitionLog | None, leader_epoch: int
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.leader_epoch = leader_epoch
        self.waiters: dict[ParkedFetch, None] = {}
        """Fetches to look at again when something is appended, oldest first."""

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index})"


_NO_PARTITIONS: Final[Mapping[int, Partition]] = {}


class HostedPartitions:
    def __init__(self) -> None:
        self._topics: dict[TopicKey, dict[int, Partition]] = {}

    def add(self, partition: Partition) -> None:
        by_index = self._topics.setdefault(partition.topic, {})
        self._topics[partition.topic_id] = by_index
        by_index[partition.index] = partition

    def remove_topic(self, topic: str) -> list[Partition]:
        removed = list(self._topics.pop(topic, {}).values())
        for partition in removed:
            self._topics.pop(partition.topic_id, None)
        return removed

    def find(self, topic: TopicKey, index: int) -> Partition | None:
        by_index = self._topics.get(topic)
        return None if by_index is None else by_index.get(index)

    def by_index(self, topic: TopicKey) -> Mapping[int, Partition]:
        """The partitions of a topic, empty when it is not here."""
        return self._topics.get(topic) or _NO_PARTITIONS

    def of_topic(self, topic: str) -> list[Partition]:
        return list(self._topics.get(topic, {}).values())

    def __iter__(self) -> Iterator[Partition]:
        for key, by_index in self._topics.items():
            if isinstance(key, str):
                yield from by_index.values()


def missing_partition_error(topic: TopicKey) -> ErrorCode:
    if isinstance(topic, str):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.UNKNOWN_TOPIC_ID


def leader_epoch_error(partition: Partition, current_leader_epoch: int) -> ErrorCode | None:
    """What a client that knows another leader epoch than ours is told (KIP-320)."""
    if current_leader_epoch < 0 or current_leader_epoch == partition.leader_epoch:
        return None
    if current_leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH
