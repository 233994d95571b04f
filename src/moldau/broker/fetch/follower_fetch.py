"""Serves a follower's fetch: everything up to the end of the log, as stored.

The fetch offset tells the leader how far the follower is. Where the logs diverge, the answer says so and
carries no data (KIP-595).
"""

from typing import NamedTuple

from moldau.broker.fetch.consumer_fetch import failed, framed, refused
from moldau.broker.fetch.fetch_sessions import Fetched
from moldau.broker.fetch.follower_fetch_session import FollowerFetchSession
from moldau.broker.fetch.parked_fetches import ParkedFetch
from moldau.broker.hosting.hosted_partitions import (
    Leading,
    PartitionKey,
    leader_error,
    missing_partition_error,
)
from moldau.broker.request.client_session import ClientSession, frame_answer
from moldau.core.chunks import Chunk, FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol import codec
from moldau.protocol.fast.fetch_codec import PartitionFetched
from moldau.protocol.messages.log.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from moldau.storage.log.partition_log import PartitionLog


class _Readable(NamedTuple):
    """What a follower may read from a partition, and how much."""

    partition_index: int
    log: PartitionLog
    leading: Leading
    offset: int
    bytes_max: int


class _Diverging(NamedTuple):
    """The point where the follower's log diverges from ours."""

    answer: PartitionFetched
    epoch: int
    end_offset: int


class FollowerFetch:
    __slots__ = (
        "_bytes_max", "_bytes_min", "_client", "_correlation_id", "_is_full", "_is_noted", "_reading", "_version",
    )  # fmt: skip

    def __init__(
        self,
        client: ClientSession,
        version: int,
        correlation_id: int,
        reading: FollowerFetchSession,
        bytes_min: int,
        bytes_max: int,
        *,
        is_full: bool,
    ) -> None:
        """`is_full`: the answer names every partition, changed or not."""
        self._client = client
        self._version = version
        self._correlation_id = correlation_id
        self._reading = reading
        self._bytes_min = bytes_min
        self._bytes_max = bytes_max
        self._is_full = is_full
        self._is_noted = False

    def read(self, *, is_final: bool) -> list[Chunk] | None:
        """The framed answer, or None if there is less than `bytes_min` and the follower can still wait."""
        found = self._examine_pending()
        if diverging := {
            topic_partition: each for topic_partition, each in found.items() if isinstance(each, _Diverging)
        }:
            return self._diverging_answer(diverging)
        examined = {
            topic_partition: each
            for topic_partition, each in found.items()
            if not isinstance(each, _Diverging)
        }
        answers: list[tuple[PartitionKey, PartitionFetched, bool]] = []
        size, has_error = 0, False
        for topic_partition, each in examined.items():
            answer = self._read_one(each, size) if isinstance(each, _Readable) else each
            is_left_out = (
                isinstance(each, _Readable)
                and not (answer[1] or answer[7])
                and each.offset < each.log.end_offset
            )
            has_error |= answer[1] != 0
            size += answer[7].size if isinstance(answer[7], FileSlice) else 0
            answers.append((topic_partition, answer, is_left_out))
        if size < self._bytes_min and not (has_error or is_final or (size and self._has_enough(examined))):
            return None
        for each, (_, answer, _) in zip(examined.values(), answers, strict=True):
            if isinstance(each, _Readable) and isinstance(answer[7], FileSlice):
                each.leading.sent(answer[7].size)
        return framed(
            self._version, self._correlation_id, ErrorCode.NONE, self._reading.id, self._news(answers)
        )

    def park(self, wait_ms: int) -> None:
        reading = self._reading
        reading.parked = ParkedFetch(self._attempt, ())
        self._client.broker.parked_fetches.park(reading.parked, wait_ms)

    def _attempt(self, is_final: bool) -> bool:
        answer = self.read(is_final=is_final)
        if answer is None:
            return False
        self._reading.parked = None
        self._client.connection.reply(answer)
        return True

    def _examine_pending(self) -> dict[PartitionKey, _Readable | _Diverging | PartitionFetched]:
        # All offsets are noted before anything is read. Noting one may commit writes, and a producer that
        # waited for that may write again at once to any of these partitions. A read before that would miss
        # the write until the fetch times out.
        pending = self._reading.pending
        examined = {topic_partition: self._examine(topic_partition) for topic_partition in list(pending)}
        self._is_noted = True
        for topic_partition in list(pending):
            if topic_partition not in examined:
                examined[topic_partition] = self._examine(topic_partition)
        return examined

    def _examine(self, topic_partition: PartitionKey) -> _Readable | _Diverging | PartitionFetched:
        """Notes the follower's offset. Returns the answer itself where there is nothing to read."""
        broker = self._client.broker
        partition = broker.partitions.find(*topic_partition)
        index, leader_epoch, offset, last_epoch, _, bytes_max = self._reading.look_at(
            topic_partition, partition
        ).wanted
        if partition is None:
            return refused(index, missing_partition_error(broker.catalog, *topic_partition))
        if (code := leader_error(partition, leader_epoch)) is not None:
            return refused(index, code)
        log, leading = partition.log, partition.leading
        if log is None:
            return refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
        if (
            last_epoch > log.epochs.latest
        ):  # The follower follows a later leader by now: it did not get its log from us.
            return refused(index, ErrorCode.UNKNOWN_LEADER_EPOCH)
        diverging = log.epochs.divergence(offset, last_epoch, log.end_offset)
        if diverging is not None:
            return _Diverging((index, 0, log.high_watermark, -1, log.start_offset, None, -1, b""), *diverging)
        if offset < log.start_offset:
            return refused(index, ErrorCode.OFFSET_OUT_OF_RANGE, log.high_watermark, log.start_offset)
        if leading is None or (not self._is_noted and not leading.fetched(*self._reading.follower, offset)):
            return refused(index, ErrorCode.UNKNOWN_LEADER_EPOCH)
        return _Readable(index, log, leading, offset, bytes_max)

    def _read_one(self, found: _Readable, size: int) -> PartitionFetched:
        """`size`: the bytes already in the answer."""
        index, log, leading, offset, partition_bytes_max = found
        bytes_max = min(partition_bytes_max, max(0, self._bytes_max - size))
        records: FileSlice | None = None
        if offset != log.end_offset and not leading.holds_back(self._reading.follower[0]):
            try:
                records = log.read(offset, bytes_max, end_offset=log.end_offset, at_least_one_batch=size == 0)
            except (ApiError, StorageFault) as error:
                return failed(self._client.broker.disks, index, log, error)
        return (index, 0, log.high_watermark, -1, log.start_offset, None, -1, records or b"")

    def _has_enough(self, examined: dict[PartitionKey, _Readable | PartitionFetched]) -> bool:
        """Whether enough is available and only the size of the batches keeps the answer below `bytes_min`.
        Then waiting for more would not help."""
        available = sum(
            found.log.available_bytes(found.offset, found.log.end_offset, found.bytes_max)
            for found in examined.values()
            if isinstance(found, _Readable)
        )
        return min(available, self._bytes_max) >= self._bytes_min

    def _news(self, answers: list[tuple[PartitionKey, PartitionFetched, bool]]) -> Fetched:
        """The partitions with news. Those that did not fit stay pending for the next fetch."""
        by_topic: dict[str | bytes, list[PartitionFetched]] = {}
        for topic_partition, answer, is_left_out in answers:
            if not is_left_out:
                self._reading.pending.pop(topic_partition, None)
            is_news = self._reading.is_news(topic_partition, answer[2], answer[4])
            if is_news or self._is_full or answer[1] or answer[7]:
                by_topic.setdefault(topic_partition[0], []).append(answer)
        return list(by_topic.items())

    def _diverging_answer(self, diverging: dict[PartitionKey, _Diverging]) -> list[Chunk]:
        """Tagged fields need the general codec. Everything else waits for the next answer."""
        by_topic: dict[str | bytes, list[PartitionData]] = {}
        for topic_partition, found in diverging.items():
            self._reading.pending.pop(topic_partition, None)
            by_topic.setdefault(topic_partition[0], []).append(_partition_data(found))
        answer = FetchResponse(
            session_id=self._reading.id,
            responses=[
                FetchableTopicResponse(
                    topic=topic if isinstance(topic, str) else "",
                    topic_id=TOPIC_ID_ZERO if isinstance(topic, str) else TopicId(topic),
                    partitions=partitions,
                )
                for topic, partitions in by_topic.items()
            ],
        )
        return frame_answer(self._correlation_id, codec.encode(answer, self._version), has_tags=True)


def _partition_data(found: _Diverging) -> PartitionData:
    index, code, high_watermark, _, start_offset, *_ = found.answer
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=high_watermark,
        log_start_offset=start_offset,
        diverging_epoch=EpochEndOffset(epoch=found.epoch, end_offset=found.end_offset),
        aborted_transactions=None,
        records=b"",
    )
