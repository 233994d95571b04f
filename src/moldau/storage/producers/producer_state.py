"""What a log knows about its producers: enough to reject gaps, recognise duplicates and find open transactions.

Owns the state of KIP-98 and its snapshot format. Pure: the log decides when to check, apply, save and load. A batch
is checked before it is written and applied after.
"""

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from crc32c import crc32c

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, TopicPartition
from moldau.protocol.records.batch import SEQUENCE_MAX, BatchHeader
from moldau.protocol.records.control import ControlType, EndTransactionMarker
from moldau.storage.segments.txn_index import AbortedTxn

BATCHES_KEPT: Final = 5
"""The number of batches an idempotent producer may have in flight."""

SNAPSHOT_VERSION: Final = 1
_SNAPSHOT_HEAD: Final = struct.Struct(">hIi")
_SNAPSHOT_ENTRY: Final = struct.Struct(">qhiqiqiq")
_CRC_COVERS_FROM: Final = 6
EMPTY_SNAPSHOT_BYTES: Final = _SNAPSHOT_HEAD.size


class SnapshotError(ValueError):
    """A snapshot that cannot be used. It can be rebuilt from an older one and the log."""


class BatchMark(NamedTuple):
    """What is kept of a written batch."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerStateView(NamedTuple):
    """One row of DescribeProducers."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    txn_first_offset: int


class Producer:
    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp_ms",
        "next_sequence",
        "txn_first_offset",
    )

    def __init__(self) -> None:
        self.epoch: int = NO_PRODUCER_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp_ms: int = NO_TIMESTAMP
        self.txn_first_offset = -1
        self.next_sequence = 0
        """The sequence number the next batch of this epoch must start with."""
        self.batches: tuple[BatchMark, ...] = ()

    def add(self, epoch: int, mark: BatchMark) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = ()
        self.batches = (*self.batches[1 - BATCHES_KEPT :], mark)
        self.next_sequence = (mark.last_sequence + 1) & SEQUENCE_MAX
        self.last_timestamp_ms = mark.timestamp_ms

    def end_transaction(self, epoch: int, coordinator_epoch: int, timestamp_ms: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = ()
            self.next_sequence = 0
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp_ms = timestamp_ms
        self.txn_first_offset = -1

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def facts(self) -> tuple[object, ...]:
        """Everything that is known, for comparing two states."""
        return (
            self.epoch,
            self.coordinator_epoch,
            self.last_timestamp_ms,
            self.txn_first_offset,
            self.batches,
        )


class ProducerState:
    __slots__ = ("_ended", "_ongoing", "producers")

    def __init__(self) -> None:
        self.producers: dict[int, Producer] = {}
        self._ongoing: dict[int, int] = {}
        """The first offset of each open transaction and its producer, ascending."""
        self._ended: dict[int, int] = {}
        """The first and last offset of ended transactions whose marker is not yet below the high watermark."""

    # --- checks, before a write

    def check_client_batch(self, topic_partition: TopicPartition, batch: BatchHeader) -> BatchMark | None:
        """None when the batch may be appended at the offset it carries; the mark of the earlier batch when it is a
        duplicate."""
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            return None
        if batch.producer_epoch == producer.epoch:
            last_sequence = batch.last_sequence
            for mark in producer.batches:
                if mark.last_sequence == last_sequence and mark.first_sequence == batch.base_sequence:
                    return mark
        self.check_epoch(topic_partition, batch)
        where = f"producer {batch.producer_id} at offset {batch.base_offset} in partition {topic_partition}"
        if batch.producer_epoch != producer.epoch:
            if batch.base_sequence != 0 and producer.epoch != NO_PRODUCER_EPOCH:
                raise ApiError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of {where}: {batch.producer_epoch} (request epoch), "
                    f"{batch.base_sequence} (seq. number), {producer.epoch} (current producer epoch)",
                )
        elif batch.base_sequence != producer.next_sequence:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for {where}: {batch.base_sequence} (incoming seq. number), "
                f"{producer.last_sequence} (current end sequence number)",
            )
        if producer.txn_first_offset >= 0 and not batch.is_transactional:
            raise ApiError(ErrorCode.INVALID_TXN_STATE, f"Expected transactional write from {where}")
        return None

    def check_epoch(self, topic_partition: TopicPartition, batch: BatchHeader) -> None:
        producer = self.producers.get(batch.producer_id)
        if producer is not None and batch.producer_epoch < producer.epoch:
            raise ApiError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {batch.producer_id} at offset {batch.base_offset} in {topic_partition} is "
                f"{batch.producer_epoch}, which is smaller than the last seen epoch {producer.epoch}",
            )

    def check_marker(
        self, topic_partition: TopicPartition, batch: BatchHeader, marker: EndTransactionMarker
    ) -> None:
        self.check_epoch(topic_partition, batch)
        producer = self.producers.get(batch.producer_id)
        if producer is not None and producer.coordinator_epoch > marker.coordinator_epoch:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producer {batch.producer_id} at offset {batch.base_offset} in "
                f"{topic_partition}: {marker.coordinator_epoch} (zombie), {producer.coordinator_epoch} (current)",
            )

    # --- changes, after a write or in a replay

    def apply_data(self, batch: BatchHeader) -> None:
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = self.producers[batch.producer_id] = Producer()
        producer.add(
            batch.producer_epoch,
            BatchMark(batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp),
        )
        if batch.is_transactional and producer.txn_first_offset < 0:
            producer.txn_first_offset = batch.base_offset
            self._ongoing[batch.base_offset] = batch.producer_id

    def apply_marker(self, batch: BatchHeader, marker: EndTransactionMarker) -> AbortedTxn | None:
        """Ends the producer's transaction. Returns the entry for the transaction index if it was aborted."""
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = self.producers[batch.producer_id] = Producer()
        first_offset = producer.txn_first_offset
        producer.end_transaction(batch.producer_epoch, marker.coordinator_epoch, batch.max_timestamp)
        if first_offset < 0:
            return None
        self._ongoing.pop(first_offset, None)
        self._ended[first_offset] = batch.last_offset
        if marker.control_type is not ControlType.ABORT:
            return None
        last_stable_offset = next(iter(self._ongoing), batch.last_offset + 1)
        return AbortedTxn(batch.producer_id, first_offset, batch.last_offset, last_stable_offset)

    def forget_ended_before(self, high_watermark: int) -> None:
        if self._ended:
            self._ended = {first: last for first, last in self._ended.items() if last >= high_watermark}

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        expired = [
            producer_id
            for producer_id, producer in self.producers.items()
            if producer.txn_first_offset < 0 and now_ms - producer.last_timestamp_ms >= expiration_ms
        ]
        for producer_id in expired:
            del self.producers[producer_id]

    # --- questions

    @property
    def first_unstable_offset(self) -> int | None:
        """The start of the earliest transaction that read_committed readers must not see yet."""
        if not self._ongoing and not self._ended:
            return None
        return min((*self._ongoing, *self._ended))

    @property
    def is_empty(self) -> bool:
        return not self.producers and not self._ended

    def views(self) -> list[ProducerStateView]:
        return [
            ProducerStateView(
                producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_timestamp_ms,
                producer.coordinator_epoch,
                producer.txn_first_offset,
            )
            for producer_id, producer in self.producers.items()
        ]

    # --- the snapshot file

    def encode_snapshot(self) -> bytes:
        data = bytearray(_SNAPSHOT_HEAD.pack(SNAPSHOT_VERSION, 0, len(self.producers)))
        for producer_id, producer in self.producers.items():
            last = producer.batches[-1] if producer.batches else BatchMark(NO_SEQUENCE, -1, 0, NO_TIMESTAMP)
            data += _SNAPSHOT_ENTRY.pack(
                producer_id,
                producer.epoch,
                last.last_sequence,
                last.last_offset,
                last.offset_delta,
                producer.last_timestamp_ms,
                producer.coordinator_epoch,
                producer.txn_first_offset,
            )
        crc = crc32c(memoryview(data)[_CRC_COVERS_FROM:])
        _SNAPSHOT_HEAD.pack_into(data, 0, SNAPSHOT_VERSION, crc, len(self.producers))
        return bytes(data)

    @classmethod
    def decode_snapshot(cls, data: bytes) -> "ProducerState":
        if len(data) < _SNAPSHOT_HEAD.size:
            raise SnapshotError(f"it is too short: {len(data)} bytes")
        version, crc, count = _SNAPSHOT_HEAD.unpack_from(data)
        if version != SNAPSHOT_VERSION:
            raise SnapshotError(f"version {version} is unknown")
        if crc != crc32c(memoryview(data)[_CRC_COVERS_FROM:]):
            raise SnapshotError("its CRC does not match")
        if count < 0 or _SNAPSHOT_HEAD.size + count * _SNAPSHOT_ENTRY.size != len(data):
            raise SnapshotError(f"{count} entries do not fit {len(data)} bytes")
        state = cls()
        state._load(_SNAPSHOT_ENTRY.iter_unpack(memoryview(data)[_SNAPSHOT_HEAD.size :]))
        return state

    def _load(self, entries: Iterable[tuple[int, ...]]) -> None:
        for producer_id, epoch, sequence, last_offset, delta, timestamp, coordinator, txn_first in entries:
            producer = self.producers[producer_id] = Producer()
            producer.epoch = epoch
            if last_offset >= 0:
                producer.add(epoch, BatchMark(sequence, last_offset, delta, timestamp))
            producer.last_timestamp_ms = timestamp
            producer.coordinator_epoch = coordinator
            producer.txn_first_offset = txn_first
        self._ongoing = dict(
            sorted(
                (producer.txn_first_offset, producer_id)
                for producer_id, producer in self.producers.items()
                if producer.txn_first_offset >= 0
            )
        )
