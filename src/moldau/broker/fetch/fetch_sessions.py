"""Incremental fetch sessions of consumers (KIP-227): a client names its partitions once, then only changes.

Owns the bounded set of sessions. Knows which partitions a client reads and from which offset, and nothing
about logs.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from moldau.broker.hosting.hosted_partitions import TopicKey
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.fast.fetch_codec import PartitionFetched, PartitionWanted

NO_SESSION: Final = 0
FULL_FETCH_EPOCH: Final = 0
CLOSING_EPOCH: Final = -1
EPOCH_MAX: Final = 2**31 - 1
PARTITIONS_MAX: Final = 250_000
"""In all sessions together, at about 300 bytes each. A client that gets no session continues with full
fetches."""

Wanted = list[tuple[TopicKey, list[PartitionWanted]]]
Forgotten = list[tuple[TopicKey, list[int]]]
Fetched = list[tuple[TopicKey, list[PartitionFetched]]]


class _Sent(NamedTuple):
    """The values last sent to the client for a partition. They are sent again when they change."""

    high_watermark: int
    log_start_offset: int


_NOTHING_SENT: Final = _Sent(-1, -1)


class FetchSession:
    __slots__ = ("_sent", "_wanted", "epoch", "has_topic_ids", "id", "last_used_ms")

    def __init__(self, session_id: int, now_ms: int, *, has_topic_ids: bool) -> None:
        self.id = session_id
        self.has_topic_ids = has_topic_ids
        """Whether the session names topics by id or by name; it cannot change (KIP-516)."""
        self.epoch = 1
        self.last_used_ms = now_ms
        self._wanted: dict[tuple[TopicKey, int], PartitionWanted] = {}
        self._sent: dict[tuple[TopicKey, int], _Sent] = {}

    def __len__(self) -> int:
        return len(self._wanted)

    def update(self, changed: Wanted, forgotten: Forgotten) -> None:
        for topic, partitions in changed:
            for partition in partitions:
                self._wanted[topic, partition[0]] = partition
        for topic, indexes in forgotten:
            for index in indexes:
                self._wanted.pop((topic, index), None)
                self._sent.pop((topic, index), None)

    def wanted(self) -> Wanted:
        """All partitions of the session, in the order in which they are served."""
        grouped: Wanted = []
        for (topic, _), partition in self._wanted.items():
            if grouped and grouped[-1][0] == topic:
                grouped[-1][1].append(partition)
            else:
                grouped.append((topic, [partition]))
        return grouped

    def reduce(self, fetched: Fetched, *, is_full: bool) -> Fetched:
        """Drops partitions without news. A partition that returned records moves to the end of the queue."""
        reduced: Fetched = []
        for topic, partitions in fetched:
            kept = [partition for partition in partitions if self._is_news(topic, partition) or is_full]
            if kept:
                reduced.append((topic, kept))
        return reduced

    def _is_news(self, topic: TopicKey, partition: PartitionFetched) -> bool:
        index, error_code, high_watermark, _, log_start_offset, _, _, records = partition
        key = (topic, index)
        if error_code:
            self._sent.pop(key, None)
            return True
        now = _Sent(high_watermark, log_start_offset)
        before = self._sent.get(key, _NOTHING_SENT)
        if now != before:
            self._sent[key] = now
        if records and (wanted := self._wanted.pop(key, None)) is not None:
            self._wanted[key] = wanted
            return True
        return now != before


class FetchSessions:
    def __init__(self, *, slots_max: int, eviction_ms_min: int, new_id: Callable[[], int]) -> None:
        self._slots_max = slots_max
        self._eviction_ms_min = eviction_ms_min
        self._new_id = new_id
        self._sessions: dict[int, FetchSession] = {}
        """In order of last use, least recently used first."""
        self._partitions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def resume(self, session_id: int, epoch: int, now_ms: int, *, has_topic_ids: bool) -> FetchSession | None:
        """The session of an incremental fetch, or None for a fetch without one."""
        if epoch in (FULL_FETCH_EPOCH, CLOSING_EPOCH):
            self.close(session_id)
            return None
        session = self._sessions.get(session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if epoch != session.epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if has_topic_ids != session.has_topic_ids:
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        session.last_used_ms = now_ms
        self._sessions[session_id] = self._sessions.pop(session_id)
        return session

    def open(self, wanted: Wanted, now_ms: int, *, has_topic_ids: bool) -> FetchSession | None:
        """A new session, or None when every slot is in use. The client then continues with full fetches."""
        count = sum(len(partitions) for _, partitions in wanted)
        if self._partitions + count > PARTITIONS_MAX:
            return None
        if len(self._sessions) >= self._slots_max and not self._evict(now_ms):
            return None
        session_id = self._new_id()
        while session_id in self._sessions or session_id <= NO_SESSION:
            session_id = self._new_id()
        session = self._sessions[session_id] = FetchSession(session_id, now_ms, has_topic_ids=has_topic_ids)
        self.update(session, wanted, [])
        return session

    def update(self, session: FetchSession, changed: Wanted, forgotten: Forgotten) -> None:
        """ApiError when the session would hold too many partitions; the client then starts a new one."""
        before = len(session)
        session.update(changed, forgotten)
        self._partitions += len(session) - before
        if self._partitions > PARTITIONS_MAX:
            self.close(session.id)
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)

    def close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._partitions -= len(session)

    def _evict(self, now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.last_used_ms < self._eviction_ms_min:
            return False
        self.close(oldest.id)
        return True
