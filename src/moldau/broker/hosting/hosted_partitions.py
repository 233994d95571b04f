"""The partitions this broker hosts, and the fetches and followers that wait on them.

Owns the map from (topic, index) to an open log. Does not read or write data itself.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.transactions.verification import Verifying
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId
from moldau.storage.log.partition_log import PartitionLog

if TYPE_CHECKING:
    from moldau.broker.fetch.follower_fetch_session import FollowerFetchSession
    from moldau.broker.fetch.parked_fetches import ParkedFetch

TopicKey = str | bytes
"""A topic as a request names it: by name in older versions, by id in newer ones."""
PartitionKey = tuple[TopicKey, int]
"""A partition as a request names it."""


class Leading(Protocol):
    """What the leader of a partition with several replicas does. A leader of a single replica has none."""

    @property
    def is_short(self) -> bool:
        """Whether fewer replicas are in sync than `min.insync.replicas` requires."""

    @property
    def is_settled(self) -> bool:
        """Whether everything written before this leadership began is committed (KIP-207)."""

    def appended(self) -> None:
        """Something was appended: followers may fetch it, and it may be committed."""

    def fetched(self, replica: int, broker_epoch: int, offset: int) -> bool:
        """A follower fetches from `offset`, so it has stored everything before it. False when it is not a
        replica of this partition, or has restarted since it sent the request."""

    def holds_back(self, replica: int) -> bool:
        """Whether a follower gets nothing now because it is throttled (KIP-73)."""

    def sent(self, size: int) -> None:
        """Counts bytes sent to a follower."""

    def when_committed(
        self, end_offset: int, callback: Callable[[ErrorCode], None], timeout_ms: int | None = None
    ) -> None:
        """Calls back when everything before `end_offset` is committed, or no longer can be. Never calls back
        from within the call."""

    def preferred_replica(self, rack: str, offset: int) -> int:
        """The replica from which a consumer in this rack should read (KIP-392); -1 for this one."""


class Partition:
    """One hosted replica. `log` is None while its directory is offline."""

    __slots__ = (
        "followers", "index", "is_leader", "leader_epoch", "leading", "log", "topic", "topic_id", "verifying",
        "waiters",
    )  # fmt: skip

    def __init__(
        self,
        topic: str,
        topic_id: TopicId,
        index: int,
        log: PartitionLog | None,
        leader_epoch: int,
        *,
        is_leader: bool = True,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.leader_epoch = leader_epoch
        self.is_leader = is_leader
        self.leading: Leading | None = None
        """Set on the leader where there are other replicas."""
        self.waiters: dict[ParkedFetch, None] = {}
        """Fetches that try again when there is more to read, oldest first."""
        self.followers: dict[FollowerFetchSession, PartitionKey] = {}
        """The sessions of followers of this partition, each with the key it uses for it."""
        self.verifying = Verifying()

    @property
    def is_committed(self) -> bool:
        """Whether everything in the log is committed."""
        return self.leading is None or self.log is None or self.log.high_watermark >= self.log.end_offset

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

    def remove(self, topic: str, index: int) -> Partition | None:
        by_index = self._topics.get(topic, {})
        removed = by_index.pop(index, None)
        if removed is not None and not by_index:
            self.remove_topic(topic)
            self._topics.pop(removed.topic_id, None)
        return removed

    def remove_topic(self, topic: str) -> list[Partition]:
        removed = list(self._topics.pop(topic, {}).values())
        for partition in removed:
            self._topics.pop(partition.topic_id, None)
        return removed

    def find(self, topic: TopicKey, index: int) -> Partition | None:
        by_index = self._topics.get(topic)
        return None if by_index is None else by_index.get(index)

    def by_index(self, topic: TopicKey) -> Mapping[int, Partition]:
        """The partitions of a topic; empty when none is hosted here."""
        return self._topics.get(topic) or _NO_PARTITIONS

    def of_topic(self, topic: str) -> list[Partition]:
        return list(self._topics.get(topic, {}).values())

    def __iter__(self) -> Iterator[Partition]:
        for key, by_index in self._topics.items():
            if isinstance(key, str):
                yield from by_index.values()


def missing_partition_error(catalog: TopicCatalog, topic: TopicKey, index: int) -> ErrorCode:
    """Why a partition is not hosted here: it may be on other brokers."""
    is_name = isinstance(topic, str)
    entry = catalog.find(topic) if isinstance(topic, str) else catalog.find_by_id(TopicId(topic))
    if entry is not None and 0 <= index < len(entry.partitions):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_name or entry is not None else ErrorCode.UNKNOWN_TOPIC_ID
    )


def leader_error(partition: Partition, current_leader_epoch: int) -> ErrorCode | None:
    """The error for a request that only the leader can answer; None if we lead in that epoch."""
    code = leader_epoch_error(partition, current_leader_epoch)
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if code is None and not partition.is_leader else code


def leader_epoch_error(partition: Partition, current_leader_epoch: int) -> ErrorCode | None:
    """The error for a client that knows another leader epoch (KIP-320); None if the epochs agree."""
    if current_leader_epoch < 0 or current_leader_epoch == partition.leader_epoch:
        return None
    if current_leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH
