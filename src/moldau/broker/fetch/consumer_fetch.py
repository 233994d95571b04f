"""Serves a consumer's fetch: at once, or later when there is enough to read.

Record batches are not parsed: an answer is a list of slices of log files.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.fetch.fetch_sessions import NO_SESSION, Fetched, FetchSession, Wanted
from moldau.broker.fetch.parked_fetches import ParkedFetch
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.hosted_partitions import (
    Partition,
    TopicKey,
    leader_epoch_error,
    missing_partition_error,
)
from moldau.broker.request.client_session import ClientSession, frame_chunks
from moldau.broker.request.throttling import quota_user
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.fast.fetch_codec import PartitionFetched, encode_fetch_response
from moldau.storage.log.partition_log import PartitionLog

READ_COMMITTED: Final = 1
FLEXIBLE_FROM: Final = 12
FOLLOWERS_SINCE: Final = 11
"""From this version on a fetch names its rack and may read from followers (KIP-392)."""
NO_REPLICA: Final = -1
"""Tells the consumer to stay with this replica."""
NONE_ABORTED: Final = ()
NOTHING: Final[Wanted] = []


class ConsumerFetch:
    """One fetch, read at once or again after an append."""

    __slots__ = (
        "bytes_max", "bytes_min", "correlation_id", "fetch_session", "forbidden", "is_full", "isolation", "rack",
        "session", "version", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        session: ClientSession,
        version: int,
        correlation_id: int,
        wanted: Wanted,
        bytes_min: int,
        bytes_max: int,
        isolation: int,
        fetch_session: FetchSession | None,
        is_full: bool,
        rack: str = "",
        forbidden: Wanted = NOTHING,
    ) -> None:
        self.session = session
        self.version = version
        self.correlation_id = correlation_id
        self.wanted = wanted
        self.bytes_min = bytes_min
        self.bytes_max = bytes_max
        self.isolation = isolation
        self.fetch_session = fetch_session
        self.is_full = is_full
        self.rack = rack
        self.forbidden = forbidden
        """What the client asks for and may not read."""

    def read(self, *, is_final: bool) -> list[Chunk] | None:
        """The framed answer, or None if there is less than `bytes_min` and the client can still wait."""
        fetched, size, has_error = self._read_partitions()
        if self.forbidden:
            fetched += unread(self.forbidden)
        if size < self.bytes_min and not (has_error or is_final or (size and self._has_enough())):
            return None
        if self.session.broker.quotas.is_active and (throttle_ms := self._throttle_ms(size)):
            return self._throttled(throttle_ms)
        session_id = NO_SESSION
        if self.fetch_session is not None:
            session_id = self.fetch_session.id
            fetched = self.fetch_session.reduce(fetched, is_full=self.is_full)
        return framed(self.version, self.correlation_id, ErrorCode.NONE, session_id, fetched)

    def _throttle_ms(self, size: int) -> int:
        session = self.session
        if session.throttle_ms:
            return session.throttle_ms
        broker, client = session.broker, session.client
        now_ms = broker.clock.monotonic_ms()
        return broker.quotas.fetched(quota_user(client), client.client_id or "", size, now_ms)

    def _throttled(self, throttle_ms: int) -> list[Chunk]:
        """An empty answer: the client asks for the same again. A session that it has just opened ends."""
        session = self.session
        session.throttle_ms = throttle_ms
        session.connection.rest(throttle_ms / 1000)
        session_id = NO_SESSION
        if self.fetch_session is not None:
            if self.is_full:
                session.broker.fetch_sessions.close(self.fetch_session.id)
            else:
                session_id = self.fetch_session.id
        return framed(self.version, self.correlation_id, ErrorCode.NONE, session_id, [], throttle_ms)

    def _has_enough(self) -> bool:
        """Whether enough is available and only the size of the batches keeps the answer below `bytes_min`.
        Then waiting for more would not help."""
        find = self.session.broker.partitions.find
        available = 0
        for topic, partitions in self.wanted:
            for index, _, offset, _, _, partition_bytes_max in partitions:
                if (partition := find(topic, index)) is not None and (log := partition.log) is not None:
                    end = log.last_stable_offset if self.isolation == READ_COMMITTED else log.high_watermark
                    available += log.available_bytes(offset, end, partition_bytes_max)
        return min(available, self.bytes_max) >= self.bytes_min

    def park(self, wait_ms: int) -> None:
        session = self.session
        parked_fetches = session.broker.parked_fetches
        fetch = ParkedFetch(self._attempt, self._partitions())
        session.on_disconnect = lambda: parked_fetches.cancel(fetch)
        parked_fetches.park(fetch, wait_ms)

    def _attempt(self, is_final: bool) -> bool:
        answer = self.read(is_final=is_final)
        if answer is None:
            return False
        self.session.on_disconnect = None
        self.session.connection.reply(answer)
        return True

    def _partitions(self) -> list[Partition]:
        find = self.session.broker.partitions.find
        found = (find(topic, each[0]) for topic, partitions in self.wanted for each in partitions)
        return [partition for partition in found if partition is not None]

    def _read_partitions(self) -> tuple[Fetched, int, bool]:
        """The answers, their bytes of records, and whether one is an error. One long loop, because a call for each
        partition would cost more than most partitions do."""
        hosted = self.session.broker.partitions
        is_committed = self.isolation == READ_COMMITTED
        from_leader = self.version < FOLLOWERS_SINCE
        rack = self.rack
        none_aborted = NONE_ABORTED if is_committed else None
        fetched: Fetched = []
        size, left, has_error = 0, self.bytes_max, False
        has_left_out = False
        for topic, wanted in self.wanted:
            by_index = hosted.by_index(topic)
            answers: list[PartitionFetched] = []
            for index, leader_epoch, offset, _, _, partition_bytes_max in wanted:
                partition = by_index.get(index)
                log = None if partition is None else partition.log
                if (
                    partition is None
                    or log is None
                    or 0 <= leader_epoch != partition.leader_epoch
                    or (from_leader and not partition.is_leader)
                ):
                    answers.append(refused(index, self._refusal(topic, index, partition, leader_epoch)))
                    has_error = True
                    continue
                high_watermark = log.high_watermark
                if offset == high_watermark == log.end_offset and not rack:
                    # Nothing new: the usual case for a client with very many partitions.
                    stable = (
                        high_watermark
                        if log.producers.first_unstable_offset is None
                        else log.last_stable_offset
                    )
                    answers.append(
                        (index, 0, high_watermark, stable, log.start_offset, none_aborted, NO_REPLICA, b"")
                    )
                    continue
                if rack and (nearer := _nearer_replica(partition, rack, offset)) >= 0:
                    answers.append(
                        (
                            index,
                            0,
                            high_watermark,
                            log.last_stable_offset,
                            log.start_offset,
                            [],
                            nearer,
                            b"",
                        )
                    )
                    has_error = True
                    continue
                stable = log.last_stable_offset if is_committed else high_watermark
                bytes_max = partition_bytes_max if partition_bytes_max < left else left
                try:
                    records = None
                    if left or not size:
                        records = log.read(offset, bytes_max, end_offset=stable, at_least_one_batch=size == 0)
                except (ApiError, StorageFault) as error:
                    answers.append(failed(self.session.broker.disks, index, log, error))
                    has_error = True
                    continue
                if records is None and offset < stable:
                    has_left_out = True
                aborted: Sequence[tuple[int, int]] | None = none_aborted
                if not is_committed:
                    stable = log.last_stable_offset
                elif records is not None:
                    aborted = log.segments.aborted_transactions(offset, stable)
                if records is not None:
                    size += records.size
                    left = max(0, self.bytes_max - size)
                answers.append(
                    (index, 0, high_watermark, stable, log.start_offset, aborted, NO_REPLICA, records or b"")
                )
            fetched.append((topic, answers))
        is_full = size > 0 and (left == 0 or has_left_out)
        self.session.fetch_turn = self.session.fetch_turn + _last_served(fetched) if is_full else 0
        return fetched, size, has_error

    def _refusal(
        self, topic: TopicKey, index: int, partition: Partition | None, leader_epoch: int
    ) -> ErrorCode:
        if partition is None:
            return missing_partition_error(self.session.broker.catalog, topic, index)
        if (code := leader_epoch_error(partition, leader_epoch)) is not None:
            return code
        is_here = partition.log is not None
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_here else ErrorCode.KAFKA_STORAGE_ERROR


def _last_served(fetched: Fetched) -> int:
    """The number of partitions up to and including the last that returned records."""
    partitions = [partition for _, answers in fetched for partition in answers]
    return max(place for place, (*_, records) in enumerate(partitions, 1) if records)


def _nearer_replica(partition: Partition, rack: str, offset: int) -> int:
    leading = partition.leading
    return NO_REPLICA if leading is None else leading.preferred_replica(rack, offset)


def refused(
    index: int, code: ErrorCode, high_watermark: int = -1, start_offset: int = -1
) -> PartitionFetched:
    return (index, int(code), high_watermark, -1, start_offset, None, NO_REPLICA, b"")


def unread(wanted: Wanted) -> Fetched:
    """The answer about partitions that the client may not read."""
    code = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return [
        (topic, [(each[0], code, -1, -1, -1, NONE_ABORTED, NO_REPLICA, b"") for each in partitions])
        for topic, partitions in wanted
    ]


def failed(disks: Disks, index: int, log: PartitionLog, error: ApiError | StorageFault) -> PartitionFetched:
    if isinstance(error, StorageFault):
        disks.fail(error)
        return refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
    return refused(index, error.code, log.high_watermark, log.start_offset)


def framed(
    version: int,
    correlation_id: int,
    code: ErrorCode,
    session_id: int,
    fetched: Fetched,
    throttle_ms: int = 0,
) -> list[Chunk]:
    body, size = encode_fetch_response(version, throttle_ms, int(code), session_id, fetched)
    return frame_chunks(correlation_id, body, size, has_tags=version >= FLEXIBLE_FROM)
