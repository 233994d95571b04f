"""What compaction leaves of one batch: all of it, some of its records, an empty batch, or nothing.

Pure: bytes in, bytes out. A batch that keeps all its records is passed through unchanged.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from moldau.core.ids import NO_TIMESTAMP
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import COMPRESSION_MASK, DELETE_HORIZON_FLAG, BatchHeader, read_header
from moldau.protocol.records.builder import seal_batch
from moldau.protocol.records.record import (
    RecordSpan,
    read_varint,
    scan_records,
    uncompressed_records,
    write_varint,
)
from moldau.storage.cleaner.offset_map import OffsetMap
from moldau.storage.cleaner.transactions import CleanedTransactions

_INT64_SPAN: Final = 1 << 64
_INT64_MIN: Final = -(1 << 63)


class LastRecord(NamedTuple):
    """The last write of an active producer: its last data offset, or only the epoch of a marker when it has no data."""

    last_data_offset: int | None
    producer_epoch: int


class Kept(NamedTuple):
    """A batch to write, with the header that the indexes need."""

    header: BatchHeader
    data: Buffer


class BatchFilter:
    __slots__ = (
        "_bytes_max",
        "_delete_retention_ms",
        "_end_offset",
        "_last_records",
        "_map",
        "_now_ms",
        "_transactions",
        "records_kept",
        "records_read",
    )

    def __init__(
        self,
        offset_map: OffsetMap,
        transactions: CleanedTransactions,
        last_records: Mapping[int, LastRecord],
        *,
        end_offset: int,
        now_ms: int,
        delete_retention_ms: int,
        decompressed_bytes_max: int,
    ) -> None:
        """`end_offset` is the end of the range this round may clean."""
        self._map = offset_map
        self._transactions = transactions
        self._last_records = last_records
        self._end_offset = end_offset
        self._now_ms = now_ms
        self._delete_retention_ms = delete_retention_ms
        self._bytes_max = decompressed_bytes_max
        self.records_read = 0
        self.records_kept = 0

    def apply(self, header: BatchHeader, batch: Buffer) -> Kept | None:
        """Call for every batch, in order. Raises PeerError when its records cannot be read."""
        self.records_read += header.record_count
        is_over = header.has_delete_horizon and header.base_timestamp <= self._now_ms
        is_for_empty_transaction = False
        if header.is_control:
            is_for_empty_transaction = self._transactions.can_drop_marker(header, batch)
            discards_all = is_for_empty_transaction and is_over
        else:
            discards_all = self._transactions.is_aborted(header)
        kept = None
        if not discards_all and header.record_count:
            kept = self._keep_records(header, batch, is_for_empty_transaction, is_over)
        if kept is None and self._must_stay(header):
            kept = _shell(header)
        if kept is not None:
            self.records_kept += kept.header.record_count
        return kept

    def _must_stay(self, header: BatchHeader) -> bool:
        """An empty batch still carries a producer's last sequence number, and marks the end of the cleaned range."""
        if header.next_offset == self._end_offset:
            return True
        last = self._last_records.get(header.producer_id) if header.producer_id >= 0 else None
        if last is None:
            return False
        if last.last_data_offset is not None:
            return header.last_offset == last.last_data_offset
        return header.is_control and header.producer_epoch == last.producer_epoch

    def _keep_records(
        self, header: BatchHeader, batch: Buffer, is_for_empty_transaction: bool, is_over: bool
    ) -> Kept | None:
        data = uncompressed_records(batch, header, self._bytes_max)
        if header.is_control:
            spans, has_tombstones = list(scan_records(data, header)), False
        else:
            spans, has_tombstones = self._latest(header, data, is_over)
        if not spans:
            return None
        needs_horizon = (has_tombstones or is_for_empty_transaction) and not header.has_delete_horizon
        if needs_horizon:
            # KIP-534: the horizon counts from the first cleaning that met the batch and replaces its base timestamp.
            return _with_horizon(header, data, spans, self._now_ms + self._delete_retention_ms)
        if len(spans) == header.record_count:
            return Kept(header, batch)
        records = bytearray()
        for start, end, _, _, _, _, _ in spans:
            records += data[start:end]
        return _sealed(_recounted(header, spans), records)

    def _latest(self, header: BatchHeader, data: Buffer, is_over: bool) -> tuple[list[RecordSpan], bool]:
        """Returns the latest record of each key, and whether any of them is a tombstone."""
        last_offset_of, judged_to = self._map.get, self._map.latest_offset
        base_offset = header.base_offset
        spans: list[RecordSpan] = []
        has_tombstones = False
        for span in scan_records(data, header):
            _, _, _, offset_delta, key, _, has_value = span
            offset = base_offset + offset_delta
            is_outdated = key is None or offset < last_offset_of(key) or (is_over and not has_value)
            if is_outdated and offset <= judged_to:
                continue
            has_tombstones = has_tombstones or not has_value
            spans.append(span)
        return spans, has_tombstones


def _recounted(header: BatchHeader, spans: Sequence[RecordSpan]) -> BatchHeader:
    """The last offset stays the same, and so do the last sequence number and the end of the batch."""
    max_timestamp = header.max_timestamp
    if not header.is_log_append_time:
        max_timestamp = header.base_timestamp + max(timestamp_delta for _, _, timestamp_delta, *_ in spans)
    return header._replace(record_count=len(spans), max_timestamp=max_timestamp)


def _with_horizon(header: BatchHeader, data: Buffer, spans: Sequence[RecordSpan], horizon_ms: int) -> Kept:
    """Timestamps in records are relative to the base timestamp, so they are rewritten when it changes."""
    shift = header.base_timestamp - horizon_ms
    records = bytearray()
    body = bytearray()
    for start, end, timestamp_delta, _, _, _, _ in spans:
        _, attributes_at = read_varint(data, start)
        _, rest_at = read_varint(data, attributes_at + 1)
        body[:] = data[attributes_at : attributes_at + 1]
        write_varint(body, _wrapped(timestamp_delta + shift))
        body += data[rest_at:end]
        write_varint(records, len(body))
        records += body
    attributes = header.attributes | DELETE_HORIZON_FLAG
    header = _recounted(header, spans)._replace(base_timestamp=horizon_ms, attributes=attributes)
    return _sealed(header, records)


def _sealed(header: BatchHeader, records: Buffer) -> Kept:
    data = seal_batch(header, records, header.compression)
    return Kept(read_header(data), data)


def _shell(header: BatchHeader) -> Kept:
    attributes = header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON_FLAG)
    empty = header._replace(record_count=0, base_timestamp=NO_TIMESTAMP, attributes=attributes)
    return _sealed(empty, b"")


def _wrapped(value: int) -> int:
    """Wraps into 64 bits, as Java's arithmetic does: producers may send any timestamp."""
    return (value - _INT64_MIN) % _INT64_SPAN + _INT64_MIN
