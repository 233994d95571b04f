"""The producers of one log and their snapshot files.

Owns when snapshots are due and which exist. A log without idempotent producers has no state.
"""

from collections.abc import Collection, Iterable
from contextlib import suppress

from moldau.core.errors import PeerError
from moldau.core.ids import TopicPartition
from moldau.protocol.records.batch import COMPRESSION_MASK, BatchHeader
from moldau.protocol.records.control import EndTransactionMarker, read_end_transaction_marker
from moldau.storage.disk import Disk
from moldau.storage.names import SNAPSHOT, parse_segment_file, segment_file
from moldau.storage.producers.producer_state import (
    BatchMark,
    Producer,
    ProducerState,
    ProducerStateView,
    SnapshotError,
)
from moldau.storage.segments.txn_index import AbortedTxn


class ProducerLog:
    __slots__ = ("_directory", "_disk", "_unsaved", "first_unstable_offset", "snapshots", "state")

    def __init__(
        self, disk: Disk, directory: str, state: ProducerState | None = None, snapshots: tuple[int, ...] = ()
    ) -> None:
        self._disk = disk
        self._directory = directory
        self.snapshots = snapshots
        """Offsets of the snapshots that are on disk or about to be written, ascending."""
        self._unsaved: dict[int, bytes] = {}
        self.replace_state(state)

    def replace_state(self, state: ProducerState | None) -> None:
        self.state = state
        self.first_unstable_offset = state.first_unstable_offset if state else None

    def views(self) -> list[ProducerStateView]:
        return self.state.views() if self.state else []

    @property
    def highest_id(self) -> int:
        """-1 when there is no known idempotent producer."""
        return max(self.state.producers, default=-1) if self.state else -1

    def has_open_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether this producer has an open transaction in this partition."""
        producer = self._find(producer_id)
        return producer is not None and producer.epoch == producer_epoch and producer.txn_first_offset >= 0

    def has_reached_epoch(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether this producer has written to this partition in this epoch or a later one."""
        producer = self._find(producer_id)
        return producer is not None and producer.epoch >= producer_epoch

    def _find(self, producer_id: int) -> Producer | None:
        return None if self.state is None else self.state.producers.get(producer_id)

    def next_in_line(self, producer_id: int, epoch: int, sequence: int, attributes: int) -> Producer | None:
        """Returns the producer when this plain batch is exactly the next one expected of it, which is the usual
        case."""
        if self.state is None or attributes > COMPRESSION_MASK:
            return None
        producer = self.state.producers.get(producer_id)
        if (
            producer is not None
            and producer.epoch == epoch
            and producer.next_sequence == sequence
            and producer.txn_first_offset < 0
        ):
            return producer
        return None

    def check(
        self, topic_partition: TopicPartition, batch: BatchHeader, records: memoryview, is_client: bool
    ) -> BatchMark | None:
        """Call before a leader's append. Returns the mark of the earlier batch when this one is a duplicate."""
        if self.state is None:
            return None
        if batch.is_control:
            marker = read_marker(records)
            if marker is not None:
                self.state.check_marker(topic_partition, batch, marker)
        elif is_client:
            return self.state.check_client_batch(topic_partition, batch)
        else:
            self.state.check_epoch(topic_partition, batch)
        return None

    def apply(self, batch: BatchHeader, records: memoryview) -> AbortedTxn | None:
        """Call after appending a batch with a producer id. Returns the entry for the transaction index, if any."""
        if self.state is None:
            self.state = ProducerState()
        aborted = apply_batch(self.state, batch, records)
        self.first_unstable_offset = self.state.first_unstable_offset
        return aborted

    def high_watermark_advanced(self, high_watermark: int) -> None:
        if self.state is not None:
            self.state.forget_ended_before(high_watermark)
            self.first_unstable_offset = self.state.first_unstable_offset

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        if self.state is not None:
            self.state.expire(now_ms, expiration_ms)

    def take_snapshot(self, offset: int) -> None:
        """Keeps a copy of the state, for a restart to begin from. The next flush writes it."""
        if not self.snapshots or self.snapshots[-1] < offset:
            self._unsaved[offset] = (self.state or ProducerState()).encode_snapshot()
            self.snapshots = (*self.snapshots, offset)

    def take_last_snapshot(self, offset: int) -> None:
        """At close. A clean start without a snapshot assumes an empty state, so an empty state needs none."""
        if self.snapshots or (self.state is not None and not self.state.is_empty):
            self.take_snapshot(offset)

    def read_snapshot(self, offset: int) -> ProducerState | None:
        """None when the snapshot cannot be used; it is then removed."""
        data = self._unsaved.get(offset)
        try:
            if data is None:
                data = self._disk.read_bytes(f"{self._directory}/{segment_file(offset, SNAPSHOT)}")
            return ProducerState.decode_snapshot(data)
        except (FileNotFoundError, SnapshotError):
            self._unsaved.pop(offset, None)
            self._remove(offset)
            self.snapshots = tuple(each for each in self.snapshots if each != offset)
            return None

    def take_unsaved(self) -> list[tuple[str, bytes]]:
        unsaved = [(segment_file(offset, SNAPSHOT), data) for offset, data in self._unsaved.items()]
        self._unsaved = {}
        return unsaved

    def remove_snapshots(self, *, below: int = 0, above: int | None = None) -> None:
        """Removes the snapshots a restart must no longer begin from, because the log was cut there."""
        leaving = [each for each in self.snapshots if each < below or (above is not None and each > above)]
        self.snapshots = tuple(each for each in self.snapshots if each not in leaving)
        for offset in leaving:
            self._unsaved.pop(offset, None)
            self._remove(offset)
        if above is not None and leaving:
            # A snapshot that came back after a crash would describe batches that are gone.
            self._disk.sync_directory(self._directory)

    def remove_snapshots_at(self, offsets: Collection[int]) -> None:
        """Removes the snapshots of segments that are gone. The log still has the snapshots around them."""
        for offset in offsets:
            self._unsaved.pop(offset, None)
            self._remove(offset)
        self.snapshots = tuple(each for each in self.snapshots if each not in offsets)

    def remove_strays(self, names: Iterable[str]) -> None:
        """Removes snapshots that a flush may have written after the log was cut below them."""
        for name in names:
            file = parse_segment_file(name)
            if file is not None and file.offset not in self.snapshots:
                self._remove(file.offset)

    def _remove(self, offset: int) -> None:
        with suppress(FileNotFoundError):
            self._disk.remove(f"{self._directory}/{segment_file(offset, SNAPSHOT)}")


def apply_batch(state: ProducerState, batch: BatchHeader, records: memoryview) -> AbortedTxn | None:
    if not batch.is_control:
        state.apply_data(batch)
        return None
    marker = read_marker(records)
    return None if marker is None else state.apply_marker(batch, marker)


def read_marker(records: memoryview) -> EndTransactionMarker | None:
    try:
        return read_end_transaction_marker(records)
    except PeerError:
        return None  # a control batch of an unknown kind ends no transaction
