"""The log of a coordinator: facts written as batches to a partition of an internal topic, and read back at
the start.

Knows records and batches. The machine knows what a fact means.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerEpoch, ProducerId
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import ControlType, read_end_transaction_marker
from moldau.protocol.records.record import Record, iter_records
from moldau.storage.log.append_check import DECOMPRESSED_BYTES_MAX
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.segments.batch_scan import iter_whole_batches

BATCH_BYTES_MAX: Final = 512 * 1024
"""Half of the default `max.message.bytes`."""
RECORD_OVERHEAD: Final = 32


class StoredRecord(NamedTuple):
    key: bytes
    value: bytes | None
    """None is a tombstone."""
    producer_id: ProducerId = NO_PRODUCER_ID
    producer_epoch: ProducerEpoch = NO_PRODUCER_EPOCH
    """Set for a record that counts only once the producer's transaction commits."""


class StoredMarker(NamedTuple):
    """The end of a transaction that wrote to this partition."""

    producer_id: ProducerId
    is_commit: bool


class ShardLog:
    def __init__(self, partition: Partition, parked_fetches: ParkedFetches) -> None:
        self._partition = partition
        self._parked_fetches = parked_fetches

    def append(self, records: Sequence[StoredRecord], now_ms: int) -> None:
        """ApiError or StorageFault when the records could not be written. A batch is written completely or
        not at all."""
        log = self._log()
        leading = self._partition.leading
        if not self._partition.is_leader:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if leading is not None and leading.is_short:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
        for batch in _batches(records, now_ms):
            log.append_as_leader(
                memoryview(batch), leader_epoch=self._partition.leader_epoch, now_ms=now_ms, is_client=False
            )
        if leading is not None:
            leading.appended()
            return
        log.advance_high_watermark(log.end_offset)
        if self._partition.waiters:
            self._parked_fetches.appended(self._partition)

    @property
    def is_committed(self) -> bool:
        """Whether everything written is committed."""
        return self._partition.is_committed

    def when_committed(self, callback: Callable[[ErrorCode], None]) -> None:
        """Calls back later. Only while `is_committed` is false."""
        leading = self._partition.leading
        assert leading is not None
        leading.when_committed(self._log().end_offset, callback)

    def read(self) -> Iterator[StoredRecord | StoredMarker]:
        """All records, oldest first. Blocks on files, so only before the partition is served."""
        return read_stored(self._log())

    def _log(self) -> PartitionLog:
        if self._partition.log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return self._partition.log


def read_stored(log: PartitionLog) -> Iterator[StoredRecord | StoredMarker]:
    for segment in log.segments.all:
        for header, batch in iter_whole_batches(segment.reader_file(), 0, segment.size):
            if header.last_offset < log.start_offset:
                continue
            if header.is_control:
                marker = read_end_transaction_marker(batch)
                if marker is not None:
                    is_commit = marker.control_type is ControlType.COMMIT
                    yield StoredMarker(ProducerId(header.producer_id), is_commit)
                continue
            producer_id = ProducerId(header.producer_id) if header.is_transactional else NO_PRODUCER_ID
            epoch = ProducerEpoch(header.producer_epoch)
            for record in iter_records(batch, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX):
                if record.key is not None:
                    yield StoredRecord(record.key, record.value, producer_id, epoch)


def _batches(records: Sequence[StoredRecord], now_ms: int) -> Iterator[bytearray]:
    """As few as the size limit allows. Records of one producer's transaction do not share a batch with
    others."""
    start, size = 0, 0
    for at, record in enumerate(records):
        weight = len(record.key) + len(record.value or b"") + RECORD_OVERHEAD
        if at > start and (size + weight > BATCH_BYTES_MAX or record[2:] != records[start][2:]):
            yield _batch(records[start:at], now_ms)
            start, size = at, 0
        size += weight
    if records:
        yield _batch(records[start:], now_ms)


def _batch(records: Sequence[StoredRecord], now_ms: int) -> bytearray:
    _, _, producer_id, producer_epoch = records[0]
    return build_batch(
        [Record(offset, now_ms, each.key, each.value, ()) for offset, each in enumerate(records)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=producer_id != NO_PRODUCER_ID,
    )
