"""One round of cleaning on one log: reads closed segments and writes the compacted ones beside them.

Owns the `.cleaned` files until the owner of the log swaps them in. It changes nothing else and knows the log only
from its task, so it may run on a worker thread or in another process.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from moldau.core.errors import PeerError
from moldau.core.ids import TopicPartition
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import BatchHeader
from moldau.protocol.records.record import scan_records, uncompressed_records
from moldau.storage.cleaner.batch_filter import BatchFilter, LastRecord
from moldau.storage.cleaner.batch_source import UncleanableLog, iter_whole_batches
from moldau.storage.cleaner.offset_map import OffsetMap
from moldau.storage.cleaner.plan import CleaningPlan, group_segments
from moldau.storage.cleaner.throttle import IoThrottle
from moldau.storage.cleaner.transactions import CleanedTransactions
from moldau.storage.disk import Disk
from moldau.storage.log.append_check import DECOMPRESSED_BYTES_MAX
from moldau.storage.log_config import LogConfig
from moldau.storage.names import CLEANED, SEGMENT_SUFFIXES
from moldau.storage.residency import Residency
from moldau.storage.segments.segment import Segment, Shared
from moldau.storage.segments.segment_files import SegmentFiles
from moldau.storage.segments.txn_index import AbortedTxn


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    dedupe_buffer_bytes: int = 128 << 20
    load_factor: float = 0.9
    io_buffer_bytes: int = 512 << 10
    io_bytes_per_second_max: float = float("inf")


class SourceSegment(NamedTuple):
    base_offset: int
    size: int
    path: str


@dataclass(frozen=True, slots=True)
class CleanTask:
    """Everything a round needs to know, as plain data."""

    topic_partition: TopicPartition
    directory: str
    config: LogConfig
    plan: CleaningPlan
    segments: tuple[SourceSegment, ...]
    """The segments below the first uncleanable offset, oldest first."""
    aborted: tuple[AbortedTxn, ...]
    last_records: Mapping[int, LastRecord]
    now_ms: int


class CleanedSegment(NamedTuple):
    base_offset: int
    size: int
    has_aborted: bool
    replaces: tuple[int, ...]
    """Base offsets of the segments it replaces."""


class CleanOutcome(NamedTuple):
    """Either the new segments, or the reason why there are none. The files of a failed round are removed."""

    segments: tuple[CleanedSegment, ...] = ()
    end_offset: int = -1
    """The log is clean up to this offset once the segments are swapped in."""
    bytes_read: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records_before: int = 0
    records_after: int = 0
    keys: int = 0
    uncleanable: str | None = None
    """Why the log itself cannot be cleaned."""
    fault: OSError | None = None
    is_cancelled: bool = False


class _Cancelled(Exception):
    pass


def clean(
    task: CleanTask,
    disk: Disk,
    settings: CleanerSettings,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> CleanOutcome:
    """Runs the round. Any failure is in the outcome."""
    round_ = _Round(task, disk, settings, is_cancelled)
    try:
        return round_.run()
    except (PeerError, UncleanableLog) as error:
        outcome = CleanOutcome(uncleanable=str(error))
    except FileNotFoundError as error:
        outcome = CleanOutcome(uncleanable=f"{error.filename} is missing")
    except _Cancelled:
        outcome = CleanOutcome(is_cancelled=True)
    except OSError as error:
        outcome = CleanOutcome(fault=error)
    with suppress(OSError):
        round_.remove_files()
    return outcome


class CleanJob:
    """One round: created on the owner's thread, run on a worker, finished by `LogCleaner`."""

    __slots__ = ("_disk", "is_cancelled", "outcome", "settings", "task")

    def __init__(self, task: CleanTask, disk: Disk, settings: CleanerSettings) -> None:
        self.task = task
        self.settings = settings
        self.outcome: CleanOutcome | None = None
        """Set by `run`, or by the caller that ran `clean` elsewhere."""
        self._disk = disk
        self.is_cancelled = False

    def run(self) -> None:
        self.outcome = clean(self.task, self._disk, self.settings, lambda: self.is_cancelled)

    def cancel(self) -> None:
        """Ends the round at its next read. Its outcome is not used."""
        self.is_cancelled = True


class _Round:
    def __init__(
        self, task: CleanTask, disk: Disk, settings: CleanerSettings, is_cancelled: Callable[[], bool]
    ) -> None:
        self._task = task
        self._disk = disk
        self._settings = settings
        self._is_cancelled = is_cancelled
        self._throttle = IoThrottle(settings.io_bytes_per_second_max)
        self._shared = Shared(disk, Residency(2), Residency(1 << 30))
        self._started: list[SegmentFiles] = []
        self._bytes_read = 0

    def run(self) -> CleanOutcome:
        task = self._task
        offset_map = self._map_offsets()
        end_offset = offset_map.latest_offset + 1
        sources = [source for source in task.segments if source.base_offset < end_offset]
        transactions = CleanedTransactions(task.aborted)
        batch_filter = BatchFilter(
            offset_map,
            transactions,
            task.last_records,
            end_offset=task.plan.first_uncleanable_offset,
            now_ms=task.now_ms,
            delete_retention_ms=task.config.delete_retention_ms,
            decompressed_bytes_max=DECOMPRESSED_BYTES_MAX,
        )
        groups = group_segments(sources, task.config, end_offset)
        cleaned = tuple(self._clean_group(group, batch_filter, transactions) for group in groups)
        return CleanOutcome(
            segments=cleaned,
            end_offset=end_offset,
            bytes_read=self._bytes_read,
            bytes_before=sum(source.size for source in sources),
            bytes_after=sum(segment.size for segment in cleaned),
            records_before=batch_filter.records_read,
            records_after=batch_filter.records_kept,
            keys=len(offset_map),
        )

    def _map_offsets(self) -> OffsetMap:
        """The last offset of each key in the dirty part, or in as much of it as fits the map."""
        first_dirty = self._task.plan.first_dirty_offset
        end_offset = self._task.plan.first_uncleanable_offset
        offset_map = OffsetMap(self._settings.dedupe_buffer_bytes, self._settings.load_factor)
        transactions = CleanedTransactions(
            each for each in self._task.aborted if each.last_offset >= first_dirty
        )
        sources = self._task.segments
        ends = [source.base_offset for source in sources[1:]] + [end_offset]
        for source, segment_end in zip(sources, ends, strict=True):
            if segment_end <= first_dirty:
                continue
            for header, batch in self._batches(source):
                if header.last_offset >= first_dirty and not self._map_batch(
                    header, batch, offset_map, transactions, first_dirty
                ):
                    return offset_map
            offset_map.read_up_to(segment_end - 1)
        return offset_map

    @staticmethod
    def _map_batch(
        header: BatchHeader,
        batch: memoryview,
        offset_map: OffsetMap,
        transactions: CleanedTransactions,
        first_dirty: int,
    ) -> bool:
        """Returns False when the map is full."""
        if header.is_control:
            transactions.can_drop_marker(header, batch)
        elif not transactions.is_aborted(header) and header.record_count:
            base_offset = header.base_offset
            data = uncompressed_records(batch, header, DECOMPRESSED_BYTES_MAX)
            for _, _, _, offset_delta, key, _, _ in scan_records(data, header):
                offset = base_offset + offset_delta
                if key is not None and offset >= first_dirty and not offset_map.put(key, offset):
                    return False
        offset_map.read_up_to(header.last_offset)
        return True

    def _clean_group(
        self, group: Sequence[SourceSegment], batch_filter: BatchFilter, transactions: CleanedTransactions
    ) -> CleanedSegment:
        segment = self._create(group[0].base_offset)
        parts: list[Buffer] = []
        batches: list[tuple[int, BatchHeader]] = []
        size = 0
        for source in group:
            for header, batch in self._batches(source):
                kept = batch_filter.apply(header, batch)
                for aborted in transactions.take_retained():
                    segment.add_aborted(aborted)
                if kept is None:
                    continue
                parts.append(kept.data)
                batches.append((size, kept.header))
                size += len(kept.data)
                if size >= self._settings.io_buffer_bytes:
                    self._write(segment, parts, batches, size)
                    parts, batches, size = [], [], 0
        self._write(segment, parts, batches, size)
        self._complete(segment)
        replaces = tuple(source.base_offset for source in group)
        return CleanedSegment(segment.base_offset, segment.size, segment.txn_index is not None, replaces)

    def _create(self, base_offset: int) -> Segment:
        files = SegmentFiles(self._disk, self._task.directory, base_offset, CLEANED)
        self._remove(files)  # left by a round that was killed
        self._started.append(files)
        return Segment.create(files, self._shared, self._task.config, now_ms=self._task.now_ms, jitter_ms=0)

    def _write(
        self, segment: Segment, parts: list[Buffer], batches: list[tuple[int, BatchHeader]], size: int
    ) -> None:
        if size:
            segment.append_run(b"".join(parts), batches)
            self._account(size)

    def _complete(self, segment: Segment) -> None:
        """Syncs the segment: the old segments will be removed in its favour."""
        segment.seal()
        segment.file().sync()
        for index in segment.indexes:
            index.save()
            self._disk.open(segment.files.path(index.KIND)).sync()

    def _batches(self, source: SourceSegment) -> Iterator[tuple[BatchHeader, memoryview]]:
        file = self._disk.open(source.path, writable=False)
        for header, batch in iter_whole_batches(
            file, source.size, source.base_offset, self._settings.io_buffer_bytes, self._account_read
        ):
            self._throttle.yield_interpreter()
            yield header, batch

    def _account_read(self, size: int) -> None:
        self._bytes_read += size
        self._account(size)

    def _account(self, size: int) -> None:
        if self._is_cancelled():
            raise _Cancelled
        self._throttle.used(size)

    def remove_files(self) -> None:
        for files in self._started:
            self._remove(files)

    def _remove(self, files: SegmentFiles) -> None:
        for kind in SEGMENT_SUFFIXES:
            with suppress(FileNotFoundError):
                self._disk.remove(files.path(kind))
