"""Fetch (1), v4-18.

v5 log start offset   v7 sessions (KIP-227)   v9 leader epoch (KIP-320)   v11 rack (KIP-392)   v12 flexible,
last fetched epoch   v13 topic ids (KIP-516)   v15 replica state   v17 directory id   v18 high watermark

Record batches are never looked into: an answer is a list of slices of log files.
"""

from typing import Final

from moldau.broker.api_table import ApiSpec
from moldau.broker.fetch_sessions import NO_SESSION, Fetched, FetchSession, Wanted
from moldau.broker.parked_fetches import ParkedFetch
from moldau.broker.partitions import Partition, leader_epoch_error, missing_partition_error
from moldau.broker.session import ClientSession, frame_chunks
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.fast.fetch import (
    PartitionFetched,
    PartitionWanted,
    decode_fetch,
    encode_fetch_response,
)
from moldau.protocol.messages.fetch import FetchRequest

READ_COMMITTED: Final = 1
FLEXIBLE_FROM: Final = 12
NO_PREFERRED_REPLICA: Final = -1
MANY_PARTITIONS: Final = 100
"""Of one topic in one request: fewer are not worth looking for repetitions."""


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    (_, wait_ms, bytes_min, bytes_max, isolation, session_id, session_epoch, wanted, forgotten, _) = (
        decode_fetch(frame, position, version)
    )
    broker = session.broker
    bytes_max = min(bytes_max, broker.configs.broker.fetch_max_bytes)
    is_full = True
    fetch_session: FetchSession | None = None
    if any(len(partitions) > MANY_PARTITIONS for _, partitions in wanted):
        wanted = _each_once(wanted)
    if session_epoch >= 0:
        sessions = broker.fetch_sessions
        try:
            now_ms = broker.clock.monotonic_ms()
            fetch_session = sessions.resume(session_id, session_epoch, now_ms)
            if fetch_session is not None:
                sessions.update(fetch_session, wanted, forgotten)
                wanted = fetch_session.wanted()
                is_full = False
            elif _all_hosted(session, wanted):
                fetch_session = sessions.open(wanted, now_ms)
        except ApiError as error:
            return _framed(version, correlation_id, error.code, NO_SESSION, [])
    elif session_id != NO_SESSION:
        broker.fetch_sessions.resume(session_id, session_epoch, 0)
    fetch = _Fetch(
        session,
        version,
        correlation_id,
        wanted,
        bytes_min,
        min(bytes_max, broker.configs.broker.fetch_max_bytes),
        isolation,
        fetch_session,
        is_full,
    )
    answer = fetch.read(is_final=wait_ms <= 0 or not wanted)
    if answer is None:
        fetch.park(wait_ms)
    return answer


API = ApiSpec.of(FetchRequest, handle_frame=handle_frame)


class _Fetch:
    """A fetch being served: read at once, or again when something was appended."""

    __slots__ = (
        "bytes_max", "bytes_min", "correlation_id", "fetch_session", "is_full", "isolation", "session",
        "version", "wanted",
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

    def read(self, *, is_final: bool) -> list[Chunk] | None:
        """The framed answer, or None if there is less than the client asked to wait for."""
        fetched, size, has_error = self._read_partitions()
        if size < self.bytes_min and not has_error and not is_final:
            return None
        session_id = NO_SESSION
        if self.fetch_session is not None:
            session_id = self.fetch_session.id
            fetched = self.fetch_session.reduce(fetched, is_full=self.is_full)
        return _framed(self.version, self.correlation_id, ErrorCode.NONE, session_id, fetched)

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
        find = self.session.broker.partitions.find
        fetched: Fetched = []
        size, left, has_error = 0, self.bytes_max, False
        for topic, wanted in self.wanted:
            answers: list[PartitionFetched] = []
            for each in wanted:
                partition = find(topic, each[0])
                if partition is None:
                    answers.append(_refused(each[0], missing_partition_error(topic)))
                    has_error = True
                    continue
                answer = self._read_partition(partition, each, left, is_first=size == 0)
                answers.append(answer)
                if answer[1]:
                    has_error = True
                elif records := answer[7]:
                    size += records.size  # type: ignore[union-attr]
                    left = max(0, self.bytes_max - size)
            fetched.append((topic, answers))
        return fetched, size, has_error

    def _read_partition(
        self, partition: Partition, wanted: PartitionWanted, bytes_left: int, *, is_first: bool
    ) -> PartitionFetched:
        index, current_leader_epoch, offset, _, _, partition_bytes_max = wanted
        log = partition.log
        if log is None:
            return _refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
        if current_leader_epoch >= 0 and (code := leader_epoch_error(partition, current_leader_epoch)):
            return _refused(index, code)
        high_watermark = log.high_watermark
        stable = log.last_stable_offset
        end_offset = stable if self.isolation == READ_COMMITTED else high_watermark
        try:
            records = log.read(
                offset,
                min(partition_bytes_max, bytes_left),
                end_offset=end_offset,
                at_least_one_batch=is_first,
            )
        except ApiError as error:
            return _refused(index, error.code, high_watermark, log.start_offset)
        except StorageFault as fault:
            self.session.broker.disks.fail(fault)
            return _refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
        aborted = None
        if self.isolation == READ_COMMITTED:
            aborted = log.aborted_transactions(offset, end_offset) if records is not None else []
        return (
            index, 0, high_watermark, stable, log.start_offset, aborted, NO_PREFERRED_REPLICA, records or b"",
        )  # fmt: skip


def _each_once(wanted: Wanted) -> Wanted:
    """A partition named twice is read once, from where it was named last."""
    return [
        (topic, list({partition[0]: partition for partition in partitions}.values()))
        for topic, partitions in wanted
    ]


def _all_hosted(session: ClientSession, wanted: Wanted) -> bool:
    """A session that is full of partitions nobody has would cost memory and save nothing."""
    find = session.broker.partitions.find
    return all(find(topic, each[0]) is not None for topic, partitions in wanted for each in partitions)


def _refused(
    index: int, code: ErrorCode, high_watermark: int = -1, start_offset: int = -1
) -> PartitionFetched:
    return (index, int(code), high_watermark, -1, start_offset, None, NO_PREFERRED_REPLICA, b"")


def _framed(
    version: int, correlation_id: int, code: ErrorCode, session_id: int, fetched: Fetched
) -> list[Chunk]:
    body, size = encode_fetch_response(version, 0, int(code), session_id, fetched)
    return frame_chunks(correlation_id, body, size, has_tags=version >= FLEXIBLE_FROM)
