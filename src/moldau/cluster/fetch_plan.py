"""What a fetcher asks its leader for next: the partitions it follows, when each is due, and the request for them.

A fetch names only what has changed since the last one, so a round costs little however many partitions are followed.
"""

from collections.abc import Iterable
from typing import Final

from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.replication.leader_session import FetchPosition, LeaderSession, PartitionKey
from moldau.cluster.replication.throttle import ReplicationThrottle, is_throttled
from moldau.core.ids import BrokerId, TopicId
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.protocol.messages.log.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from moldau.storage.log.partition_log import PartitionLog

THROTTLED_RETRY_MS: Final = 100
"""How long a throttled partition waits before it is checked again."""
CHECK_ALL_MS: Final = 500
"""How often all partitions are checked: retention moves the start of a log, and a directory may fail."""


class FollowedPartition:
    __slots__ = ("due_ms", "is_caught_up", "leader_epoch", "partition")

    def __init__(self, partition: Partition, leader_epoch: int) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.due_ms = 0
        self.is_caught_up = False
        """Whether it had everything committed when the leader last answered."""

    @property
    def is_current(self) -> bool:
        return not self.partition.is_leader and self.partition.leader_epoch == self.leader_epoch


class FetchPlan:
    def __init__(self, broker_id: BrokerId, clock: Clock, throttle: ReplicationThrottle) -> None:
        self._broker_id = broker_id
        self._clock = clock
        self._throttle = throttle
        self._followed: dict[PartitionKey, FollowedPartition] = {}
        self._session = LeaderSession()
        self._changed: dict[PartitionKey, None] = {}
        """Partitions whose position the leader may have to be told."""
        self._delayed: dict[PartitionKey, None] = {}
        """Partitions not to be fetched before they are due."""
        self._behind: dict[PartitionKey, None] = {}
        """Partitions being fetched that are throttled and not caught up."""
        self._checked_ms = 0

    def __len__(self) -> int:
        return len(self._followed)

    # --- what is followed

    def follow(self, partition: Partition) -> None:
        key = (partition.topic_id, partition.index)
        self._forget(key)
        self._followed[key] = FollowedPartition(partition, partition.leader_epoch)

    def unfollow(self, partition: Partition) -> None:
        self._forget((partition.topic_id, partition.index))

    def clear(self) -> None:
        self._followed.clear()
        self._delayed.clear()
        self._behind.clear()

    def _forget(self, key: PartitionKey) -> None:
        self._followed.pop(key, None)
        self._delayed.pop(key, None)
        self._behind.pop(key, None)
        self._changed[key] = None

    # --- when

    def delay(self, key: PartitionKey, wait_ms: int) -> None:
        followed = self._followed.get(key)
        if followed is not None:
            followed.due_ms = self._clock.monotonic_ms() + wait_ms
            self._delayed[key] = None
            self._behind.pop(key, None)
            self._changed[key] = None

    def end_delays(self) -> None:
        for key in self._delayed:
            self._followed[key].due_ms = 0

    def is_anything_due(self) -> bool:
        now_ms = self._clock.monotonic_ms()
        return any(
            each.due_ms <= now_ms and each.partition.log is not None for each in self._followed.values()
        )

    def next_due_ms(self) -> int | None:
        """When the first delayed partition is due; None when none is delayed."""
        return min((self._followed[key].due_ms for key in self._delayed), default=None)

    # --- requests and answers

    def begin_session(self) -> None:
        self._session.begin()

    def session_answered(self, session_id: int) -> None:
        self._session.answered(session_id)

    def request(self, settings: BrokerSettings, broker_epoch: int) -> FetchRequest:
        now_ms = self._clock.monotonic_ms()
        if self._session.is_new:
            self._session.begin()
        wanted: dict[TopicId, list[FetchPartition]] = {}
        forgotten: dict[TopicId, list[int]] = {}
        for key in self._to_check(now_ms):
            topic_id, index = key
            position = self._position(key, now_ms)
            if not self._session.update(key, position):
                continue
            if position is None:
                forgotten.setdefault(topic_id, []).append(index)
                continue
            wanted.setdefault(topic_id, []).append(
                FetchPartition(
                    partition=index,
                    current_leader_epoch=position.leader_epoch,
                    fetch_offset=position.offset,
                    last_fetched_epoch=position.last_epoch,
                    log_start_offset=position.start_offset,
                    partition_max_bytes=settings.replica_fetch_max_bytes,
                )
            )
        return FetchRequest(
            replica_state=ReplicaState(replica_id=self._broker_id, replica_epoch=broker_epoch),
            max_wait_ms=self._wait_ms_max(settings.replica_fetch_wait_max_ms, now_ms),
            min_bytes=settings.replica_fetch_min_bytes,
            max_bytes=settings.replica_fetch_response_max_bytes,
            session_id=self._session.session_id,
            session_epoch=self._session.epoch,
            topics=[
                FetchTopic(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in wanted.items()
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic_id=topic_id, partitions=indexes)
                for topic_id, indexes in forgotten.items()
            ],
        )

    def answered(self, key: PartitionKey) -> tuple[FollowedPartition, PartitionLog] | None:
        """The partition an answer is for; None when the answer is out of date."""
        self._changed[key] = None
        followed, position = self._followed.get(key), self._session.position(key)
        if followed is None or not followed.is_current:
            return None
        log = followed.partition.log
        if log is None or position is None or log.end_offset != position.offset:
            return None
        return followed, log

    def stored(self, key: PartitionKey, *, is_caught_up: bool) -> None:
        followed = self._followed.get(key)
        if followed is not None:
            followed.is_caught_up = is_caught_up
            if is_caught_up:
                self._behind.pop(key, None)

    def _to_check(self, now_ms: int) -> Iterable[PartitionKey]:
        """The partitions whose position the leader may not know."""
        if self._behind and self._throttle.is_exceeded(now_ms):
            for key in list(self._behind):
                self.delay(key, THROTTLED_RETRY_MS)
        for key in [each for each in self._delayed if self._followed[each].due_ms <= now_ms]:
            del self._delayed[key]
            self._changed[key] = None
        changed, self._changed = self._changed, {}
        if self._session.is_new or now_ms - self._checked_ms >= CHECK_ALL_MS:
            self._checked_ms = now_ms
            changed.update(dict.fromkeys(self._followed))
        return changed

    def _position(self, key: PartitionKey, now_ms: int) -> FetchPosition | None:
        """Where to fetch a partition from; None when it is not to be fetched now."""
        followed = self._followed.get(key)
        log = None if followed is None else followed.partition.log
        if followed is None or log is None or followed.due_ms > now_ms:
            return None
        if not followed.is_caught_up and self._is_throttled(log):
            if self._throttle.is_exceeded(now_ms):
                self.delay(key, THROTTLED_RETRY_MS)
                return None
            self._behind[key] = None
        return FetchPosition(followed.leader_epoch, log.end_offset, log.epochs.latest, log.start_offset)

    def _is_throttled(self, log: PartitionLog) -> bool:
        replicas = log.config.follower_throttled_replicas
        return is_throttled(replicas, log.topic_partition.partition, self._broker_id)

    def _wait_ms_max(self, wait_ms_max: int, now_ms: int) -> int:
        """Nothing else can be asked while a fetch is parked at the leader, so it must return when a delayed partition
        is due."""
        due_ms = self.next_due_ms()
        return wait_ms_max if due_ms is None else min(wait_ms_max, due_ms - now_ms)
