"""A follower's fetch being served: everything up to the end of the log, as it is stored.

What a follower asks for tells the leader how far it is. Where its log parts from ours it is told so instead of
being given data (KIP-595).
"""

from typing import NamedTuple

from moldau.broker.consumer_fetch import ConsumerFetch, refused
from moldau.broker.fetch_sessions import Fetched, Wanted
from moldau.broker.parked_fetches import ParkedFetch
from moldau.broker.partitions import Leading, TopicKey, leader_error, missing_partition_error
from moldau.broker.session import ClientSession, frame_answer
from moldau.core.chunks import Chunk, FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol import codec
from moldau.protocol.fast.fetch import PartitionFetched, PartitionWanted
from moldau.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from moldau.storage.partition_log import PartitionLog

READ_UNCOMMITTED = 0


class _Readable(NamedTuple):
    """What may be read for a follower, and how much of it."""

    partition_index: int
    log: PartitionLog
    leading: Leading
    offset: int
    bytes_max: int


class FollowerFetch(ConsumerFetch):
    __slots__ = ("_diverging", "_follower", "_is_noted")

    def __init__(
        self,
        session: ClientSession,
        version: int,
        correlation_id: int,
        wanted: Wanted,
        bytes_min: int,
        bytes_max: int,
        follower: tuple[int, int],
    ) -> None:
        """`follower` is a broker's id and epoch."""
        super().__init__(
            session, version, correlation_id, wanted, bytes_min, bytes_max, READ_UNCOMMITTED, None, True
        )
        self._follower = follower
        self._is_noted = False
        self._diverging: dict[tuple[TopicKey, int], tuple[int, int]] = {}

    def park(self, wait_ms: int) -> None:
        parked_fetches = self.session.broker.parked_fetches
        fetch = ParkedFetch(self._attempt, self._partitions(), is_follower=True)
        self.session.on_disconnect = lambda: parked_fetches.cancel(fetch)
        parked_fetches.park(fetch, wait_ms)

    def _read_partitions(self) -> tuple[Fetched, int, bool]:
        # Everything is noted before anything is read: what is noted commits writes, and whoever waited for that may
        # write again at once, to any of these partitions. Read earlier, it would be missed until the time is up.
        examined = [
            (topic, [self._examine(topic, wanted) for wanted in partitions])
            for topic, partitions in self.wanted
        ]
        self._is_noted = True
        fetched: Fetched = []
        size, has_news = 0, False
        for topic, partitions in examined:
            answers: list[PartitionFetched] = []
            for found in partitions:
                answer = self._read_one(found, size) if isinstance(found, _Readable) else found
                has_news |= answer[1] != 0 or (topic, answer[0]) in self._diverging
                size += answer[7].size if isinstance(answer[7], FileSlice) else 0
                answers.append(answer)
            fetched.append((topic, answers))
        return fetched, size, has_news

    def _examine(self, topic: TopicKey, wanted: PartitionWanted) -> _Readable | PartitionFetched:
        """Takes note of how far the follower is; the answer itself where there is nothing for it to read."""
        index, leader_epoch, offset, last_epoch, _, bytes_max = wanted
        partition = self.session.broker.partitions.find(topic, index)
        if partition is None:
            return refused(index, missing_partition_error(self.session.broker.catalog, topic, index))
        if (code := leader_error(partition, leader_epoch)) is not None:
            return refused(index, code)
        log, leading = partition.log, partition.leading
        if log is None:
            return refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
        if last_epoch > log.epochs.latest:  # It follows a later leader by now: what it has is not from us.
            return refused(index, ErrorCode.UNKNOWN_LEADER_EPOCH)
        diverging = log.epochs.divergence(offset, last_epoch, log.end_offset)
        if diverging is not None:
            self._diverging[topic, index] = diverging
            return (index, 0, log.high_watermark, -1, log.start_offset, None, -1, b"")
        if offset < log.start_offset:
            return refused(index, ErrorCode.OFFSET_OUT_OF_RANGE, log.high_watermark, log.start_offset)
        if leading is None or (not self._is_noted and not leading.fetched(*self._follower, offset)):
            return refused(index, ErrorCode.UNKNOWN_LEADER_EPOCH)
        return _Readable(index, log, leading, offset, bytes_max)

    def _read_one(self, found: _Readable, size: int) -> PartitionFetched:
        """`size` is what the answer holds already."""
        index, log, leading, offset, partition_bytes_max = found
        bytes_max = min(partition_bytes_max, max(0, self.bytes_max - size))
        records: FileSlice | None = None
        if not leading.holds_back(self._follower[0]):
            try:
                records = log.read(offset, bytes_max, end_offset=log.end_offset, at_least_one_batch=size == 0)
            except (ApiError, StorageFault) as error:
                return self._failed(index, log, error)
        if records is not None:
            leading.sent(records.size)
        return (index, 0, log.high_watermark, -1, log.start_offset, None, -1, records or b"")

    def _framed(self, session_id: int, fetched: Fetched) -> list[Chunk]:
        if not self._diverging:
            return super()._framed(session_id, fetched)
        # Only the general codec knows tagged fields. What is read this time is asked for again.
        answer = FetchResponse(
            responses=[
                FetchableTopicResponse(
                    topic=topic if isinstance(topic, str) else "",
                    topic_id=TOPIC_ID_ZERO if isinstance(topic, str) else TopicId(topic),
                    partitions=[self._partition_data(topic, each) for each in partitions],
                )
                for topic, partitions in fetched
            ]
        )
        return frame_answer(self.correlation_id, codec.encode(answer, self.version), has_tags=True)

    def _partition_data(self, topic: TopicKey, fetched: PartitionFetched) -> PartitionData:
        index, code, high_watermark, _, start_offset, *_ = fetched
        epoch, end_offset = self._diverging.get((topic, index), (-1, -1))
        return PartitionData(
            partition_index=index,
            error_code=code,
            high_watermark=high_watermark,
            log_start_offset=start_offset,
            diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset),
            aborted_transactions=None,
            records=b"",
        )
