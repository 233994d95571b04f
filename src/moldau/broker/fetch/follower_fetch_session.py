"""A follower's session on one connection: it names its partitions once, then only changes (KIP-227).

Owns the list of pending partitions, which the next answer must check: those newly requested, those with a new
end or high watermark, and those that did not fit into the last answer. All others are checked from time to
time. So a round costs as much as has changed, not as much as is followed.
"""

from typing import Final

from moldau.broker.fetch.fetch_sessions import EPOCH_MAX, NO_SESSION, PARTITIONS_MAX, Forgotten, Wanted
from moldau.broker.fetch.parked_fetches import ParkedFetch, ParkedFetches
from moldau.broker.hosting.hosted_partitions import Partition, PartitionKey
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.fast.fetch_codec import PartitionWanted

SESSION_ID: Final = 1
"""A connection has one session, and the session ends with it."""
LOOK_MS: Final = 400
"""How often all partitions are checked, at least with every fetch that timed out. A follower that has caught
up must be seen to be in sync, and a log start offset moves without notice."""
_NOTHING_SENT: Final = (-1, -1)


class Reading:
    """One partition: what the follower requested and what it was last sent."""

    __slots__ = ("partition", "sent", "wanted")

    def __init__(self, wanted: PartitionWanted) -> None:
        self.wanted = wanted
        self.partition: Partition | None = None
        """The replica that notifies us of news: the one hosted at the last check."""
        self.sent = _NOTHING_SENT
        """High watermark and log start offset."""


class FollowerFetchSession:
    __slots__ = ("_looked_ms", "_parked_fetches", "_readings", "epoch", "follower", "id", "parked", "pending")

    def __init__(self, parked_fetches: ParkedFetches, *, is_kept: bool) -> None:
        """`is_kept`: whether the follower continues with this session."""
        self.id = SESSION_ID if is_kept else NO_SESSION
        self.epoch = 1
        self.follower = (-1, -1)
        """Broker id and broker epoch."""
        self.pending: dict[PartitionKey, None] = {}
        """The partitions the next answer must check, longest unserved first."""
        self.parked: ParkedFetch | None = None
        self._parked_fetches = parked_fetches
        self._readings: dict[PartitionKey, Reading] = {}
        self._looked_ms = 0

    def resume(self, session_id: int, epoch: int) -> None:
        """ApiError when the epoch is not the next one. The follower then opens a new session."""
        if session_id == NO_SESSION or session_id != self.id:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if epoch != self.epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        self.epoch = 1 if epoch == EPOCH_MAX else epoch + 1

    def ask(self, follower: tuple[int, int], changed: Wanted, forgotten: Forgotten, now_ms: int) -> None:
        """Takes the partitions of the next request."""
        for topic, indexes in forgotten:
            for index in indexes:
                self._forget((topic, index))
        for topic, partitions in changed:
            for wanted in partitions:
                topic_partition = (topic, wanted[0])
                reading = self._readings.get(topic_partition)
                if reading is None:
                    self._readings[topic_partition] = Reading(wanted)
                else:
                    reading.wanted = wanted
                self.pending[topic_partition] = None
        if len(self._readings) > PARTITIONS_MAX:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if follower != self.follower or now_ms - self._looked_ms >= LOOK_MS:
            self.follower = follower
            self._looked_ms = now_ms
            self.pending.update(dict.fromkeys(self._readings))

    def look_at(self, topic_partition: PartitionKey, partition: Partition | None) -> Reading:
        """`partition` is the hosted replica that will notify us of news."""
        reading = self._readings[topic_partition]
        if reading.partition is not partition:
            if reading.partition is not None:
                reading.partition.followers.pop(self, None)
            if partition is not None:
                partition.followers[self] = topic_partition
            reading.partition = partition
        return reading

    def is_news(self, topic_partition: PartitionKey, high_watermark: int, start_offset: int) -> bool:
        """Whether these values differ from those last sent. They count as sent from now on."""
        reading = self._readings[topic_partition]
        before, reading.sent = reading.sent, (high_watermark, start_offset)
        return before != reading.sent

    def committed(self, topic_partition: PartitionKey) -> None:
        """The high watermark moved: the next answer says so."""
        self.pending[topic_partition] = None

    def appended(self, topic_partition: PartitionKey) -> None:
        """There is more to read, or the leader changed: wakes the waiting fetch."""
        self.pending[topic_partition] = None
        if self.parked is not None:
            self._parked_fetches.wake(self.parked)

    def close(self) -> None:
        if self.parked is not None:
            self._parked_fetches.cancel(self.parked)
            self.parked = None
        for topic_partition in list(self._readings):
            self._forget(topic_partition)

    def _forget(self, topic_partition: PartitionKey) -> None:
        reading = self._readings.pop(topic_partition, None)
        if reading is not None and reading.partition is not None:
            reading.partition.followers.pop(self, None)
        self.pending.pop(topic_partition, None)
