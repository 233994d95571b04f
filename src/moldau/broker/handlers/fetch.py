"""Fetch (1), v4-18.

v5 log start offset   v7 sessions (KIP-227)   v9 leader epoch (KIP-320)   v11 rack (KIP-392)   v12 flexible,
last fetched epoch   v13 topic ids (KIP-516)   v15 replica state   v17 directory id   v18 high watermark

Record batches are never looked into: an answer is a list of slices of log files.
"""

from typing import Final

from moldau.broker.api_table import ApiSpec
from moldau.broker.fetch_sessions import NO_SESSION, Fetched, FetchSession, Wanted
from moldau.broker.parked_fetches import ParkedFetch
from moldau.broker.partitions import Partition, TopicKey, leader_epoch_error, missing_partition_error
from moldau.broker.session import ClientSession, frame_chunks
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.fast.fetch import (
    TOPIC_IDS_FROM,
    PartitionFetched,
    decode_fetch,
    encode_fetch_response,
)
from moldau.protocol.messages.fetch import FetchRequest
from moldau.storage.partition_log import PartitionLog

READ_COMMITTED: Final = 1
FLEXIBLE_FROM: Final = 12
NO_REPLICA: Final = -1
"""No other replica to read from is preferred."""
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
    for _, partitions in wanted:
        if len(partitions) > MANY_PARTITIONS:
            wanted = _each_once(wanted)
            break
    if session_epoch >= 0:
        sessions = broker.fetch_sessions
        try:
            now_ms = broker.clock.monotonic_ms()
            has_topic_ids = version >= TOPIC_IDS_FROM
            fetch_session = sessions.resume(session_id, session_epoch, now_ms, has_topic_ids=has_topic_ids)
            if fetch_session is not None:
                sessions.update(fetch_session, wanted, forgotten)
                wanted = fetch_session.wanted()
                is_full = False
            elif _all_hosted(session, wanted):
                fetch_session = sessions.open(wanted, now_ms, has_topic_ids=has_topic_ids)
        except ApiError as error:
            return _framed(version, correlation_id, error.code, NO_SESSION, [])
    elif session_id != NO_SESSION:
        broker.fetch_sessions.close(session_id)
    if len(wanted) > 1 or (wanted and len(wanted[0][1]) > 1):
        bytes_max = min(bytes_max, max(bytes_min, session.connection.portion_bytes()))
        if session.fetch_turn and fetch_session is None:
            wanted = _rotated(wanted, session.fetch_turn)
    fetch = _Fetch(
        session,
        version,
        correlation_id,
        wanted,
        bytes_min,
        bytes_max,
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
        hosted = self.session.broker.partitions
        is_committed = self.isolation == READ_COMMITTED
        fetched: Fetched = []
        size, left, has_error = 0, self.bytes_max, False
        for topic, wanted in self.wanted:
            by_index = hosted.by_index(topic)
            answers: list[PartitionFetched] = []
            for index, leader_epoch, offset, _, _, partition_bytes_max in wanted:
                partition = by_index.get(index)
                log = None if partition is None else partition.log
                if partition is None or log is None or 0 <= leader_epoch != partition.leader_epoch:
                    answers.append(_refused(index, _refusal(topic, partition, leader_epoch)))
                    has_error = True
                    continue
                high_watermark = log.high_watermark
                stable = log.last_stable_offset if is_committed else high_watermark
                bytes_max = partition_bytes_max if partition_bytes_max < left else left
                try:
                    records = None
                    if left or not size:
                        records = log.read(offset, bytes_max, end_offset=stable, at_least_one_batch=size == 0)
                except (ApiError, StorageFault) as error:
                    answers.append(self._failed(index, log, error))
                    has_error = True
                    continue
                aborted = None
                if is_committed:
                    aborted = [] if records is None else log.aborted_transactions(offset, stable)
                else:
                    stable = log.last_stable_offset
                if records is not None:
                    size += records.size
                    left = max(0, self.bytes_max - size)
                answers.append(
                    (index, 0, high_watermark, stable, log.start_offset, aborted, NO_REPLICA, records or b"")
                )
            fetched.append((topic, answers))
        has_room = left > 0 or not size
        self.session.fetch_turn = 0 if has_room else self.session.fetch_turn + _places_served(fetched)
        return fetched, size, has_error

    def _failed(self, index: int, log: PartitionLog, error: ApiError | StorageFault) -> PartitionFetched:
        if isinstance(error, StorageFault):
            self.session.broker.disks.fail(error)
            return _refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
        return _refused(index, error.code, log.high_watermark, log.start_offset)


def _refusal(topic: TopicKey, partition: Partition | None, leader_epoch: int) -> ErrorCode:
    if partition is None:
        return missing_partition_error(topic)
    return leader_epoch_error(partition, leader_epoch) or ErrorCode.KAFKA_STORAGE_ERROR


def _each_once(wanted: Wanted) -> Wanted:
    """A partition named twice is read once, from where it was named last."""
    return [
        (topic, list({partition[0]: partition for partition in partitions}.values()))
        for topic, partitions in wanted
    ]


def _rotated(wanted: Wanted, turn: int) -> Wanted:
    """The same, beginning with the one whose turn it is, so that none is starved by those named before it."""
    turn %= sum(len(partitions) for _, partitions in wanted)
    for place, (topic, partitions) in enumerate(wanted):
        if turn < len(partitions):
            first, last = (topic, partitions[turn:]), (topic, partitions[:turn])
            return [first, *wanted[place + 1 :], *wanted[:place], last]
        turn -= len(partitions)
    return wanted


def _places_served(fetched: Fetched) -> int:
    """How many partitions there are up to the last that gave something."""
    partitions = [partition for _, answers in fetched for partition in answers]
    return max(place for place, (*_, records) in enumerate(partitions, 1) if records)


def _all_hosted(session: ClientSession, wanted: Wanted) -> bool:
    """A session that is full of partitions nobody has would cost memory and save nothing."""
    find = session.broker.partitions.find
    return all(find(topic, each[0]) is not None for topic, partitions in wanted for each in partitions)


def _refused(
    index: int, code: ErrorCode, high_watermark: int = -1, start_offset: int = -1
) -> PartitionFetched:
    return (index, int(code), high_watermark, -1, start_offset, None, NO_REPLICA, b"")


def _framed(
    version: int, correlation_id: int, code: ErrorCode, session_id: int, fetched: Fetched
) -> list[Chunk]:
    body, size = encode_fetch_response(version, 0, int(code), session_id, fetched)
    return frame_chunks(correlation_id, body, size, has_tags=version >= FLEXIBLE_FROM)
