"""One segment of a log: the `.log` file and its indexes.

Owns the files that share one base offset: appends bytes, finds positions, adds index entries at Kafka's intervals.
Knows nothing of producers or epochs and assigns no offsets. Belongs to the thread that owns the log.
"""

import errno
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from moldau.core.ids import NO_TIMESTAMP
from moldau.core.ports import Buffer, File
from moldau.protocol.records.batch import HEADER_SIZE, BatchHeader
from moldau.storage.disk import Disk
from moldau.storage.log_config import LogConfig
from moldau.storage.names import DELETED, LOG, SEGMENT_SUFFIXES
from moldau.storage.residency import Residency
from moldau.storage.segments.batch_scan import SCAN_SLICE_BYTES, iter_headers
from moldau.storage.segments.offset_index import OffsetIndex
from moldau.storage.segments.segment_files import EntryIndex, SegmentFiles
from moldau.storage.segments.time_index import TimeIndex, TimestampOffset
from moldau.storage.segments.txn_index import AbortedTxn, TxnIndex

RELATIVE_OFFSET_MAX: Final = 2**31 - 1
UNKNOWN_TIMESTAMP: Final = -2
"""Not read yet. Lower than every timestamp, so the first comparison notices."""
BOUNDARIES_MAX: Final = 32
"""Batch starts kept per generation. Two generations are kept, for readers close to the end."""


class Shared(NamedTuple):
    """What all segments of a directory share."""

    disk: Disk
    open_files: Residency
    loaded_indexes: Residency


class RetiredSegment(NamedTuple):
    """A segment that was removed from its log. Its `.deleted` files stay until readers are done."""

    disk: Disk
    base_offset: int
    size_bytes: int
    reason: str
    paths: tuple[str, ...]

    def remove(self) -> None:
        """May be called on any thread, and more than once."""
        for path in self.paths:
            with suppress(FileNotFoundError):
                self.disk.remove(path)


class Segment:
    __slots__ = (
        "_boundaries",
        "_file",
        "_index_after",
        "_index_entries_max",
        "_index_interval_bytes",
        "_older_boundaries",
        "_shared",
        "base_offset",
        "created_ms",
        "files",
        "first_timestamp_ms",
        "is_index_full",
        "jitter_ms",
        "max_timestamp_ms",
        "max_timestamp_offset",
        "offset_index",
        "recently_used",
        "size",
        "time_index",
        "txn_index",
    )

    def __init__(
        self,
        files: SegmentFiles,
        shared: Shared,
        config: LogConfig,
        *,
        size: int,
        now_ms: int,
        jitter_ms: int = 0,
        is_new: bool = False,
        has_aborted: bool = False,
    ) -> None:
        self.files = files
        self.base_offset = files.base_offset
        self.size = size
        self.created_ms = now_ms
        self.jitter_ms = jitter_ms
        self.max_timestamp_ms: int = NO_TIMESTAMP if is_new else UNKNOWN_TIMESTAMP
        self.max_timestamp_offset = files.base_offset
        self.first_timestamp_ms: int | None = None
        self.offset_index = OffsetIndex(files, shared.loaded_indexes, is_new=is_new)
        self.time_index = TimeIndex(files, shared.loaded_indexes, is_new=is_new)
        self.txn_index = TxnIndex(files, shared.loaded_indexes) if has_aborted else None
        self.is_index_full = False
        self.recently_used = False
        self._shared = shared
        self._file: File | None = None
        self._index_interval_bytes = config.index_interval_bytes
        self._index_entries_max = config.segment_index_bytes // OffsetIndex.ENTRY.size
        self._index_after = size + config.index_interval_bytes
        self._boundaries: dict[int, int] | None = None
        self._older_boundaries: dict[int, int] | None = None

    @classmethod
    def create(
        cls, files: SegmentFiles, shared: Shared, config: LogConfig, *, now_ms: int, jitter_ms: int
    ) -> "Segment":
        # Kafka treats a segment without index files as damaged, even an empty one.
        for kind in (LOG, OffsetIndex.KIND, TimeIndex.KIND):
            shared.disk.open(files.path(kind), create=True)
        return cls(files, shared, config, size=0, now_ms=now_ms, jitter_ms=jitter_ms, is_new=True)

    def file(self) -> File:
        self.recently_used = True
        return self._file or self._open()

    def _open(self) -> File:
        path = self.files.path(LOG)
        try:
            file = self._shared.disk.open(path)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._shared.open_files.shrink()
            file = self._shared.disk.open(path)
        self._shared.open_files.admit(self)
        self._file = file
        return file

    def reader_file(self) -> File:
        """For another thread: does not touch the owner's bookkeeping."""
        return self._file or self._shared.disk.open(self.files.path(LOG), writable=False)

    def evict(self) -> None:
        self._file = None

    def append(
        self, data: Buffer, size: int, base_offset: int, last_offset: int, max_timestamp_ms: int
    ) -> None:
        """Appends one batch, or bytes that the index treats as one. Its offsets are in range and its bytes are
        final."""
        position = self.size
        (self._file or self._open()).append(data)
        self.recently_used = True
        self.note(position, size, base_offset, last_offset, max_timestamp_ms)

    def append_run(self, data: Buffer, batches: Sequence[tuple[int, BatchHeader]]) -> None:
        """Appends several batches in one write. Their positions are relative to `data`."""
        start = self.size
        self.file().append(data)
        for position, header in batches:
            self.note(
                start + position, header.size, header.base_offset, header.last_offset, header.max_timestamp
            )

    def note(
        self, position: int, size: int, base_offset: int, last_offset: int, max_timestamp_ms: int
    ) -> None:
        """Accounts for a batch at `position`, whether it was just appended or found by recovery."""
        self.size = position + size
        if max_timestamp_ms > self.max_timestamp_ms and max_timestamp_ms > self.max_timestamp().timestamp_ms:
            self.max_timestamp_ms = max_timestamp_ms
            self.max_timestamp_offset = last_offset
        if position == 0:
            self.first_timestamp_ms = max_timestamp_ms
        elif position > self._index_after:
            self._index(last_offset, position)
        boundaries = self._boundaries
        if boundaries is None or len(boundaries) >= BOUNDARIES_MAX:
            self._older_boundaries = boundaries
            self._boundaries = boundaries = {}
        boundaries[base_offset] = position

    def _index(self, last_offset: int, position: int) -> None:
        self.offset_index.append(last_offset, position)
        newest = self.max_timestamp()
        self.time_index.append_if_later(newest.timestamp_ms, newest.offset)
        self._index_after = position + self._index_interval_bytes
        time_entries_max = self._index_entries_max * OffsetIndex.ENTRY.size // TimeIndex.ENTRY.size - 1
        self.is_index_full = (
            len(self.offset_index) >= self._index_entries_max or len(self.time_index) >= time_entries_max
        )

    def max_timestamp(self) -> TimestampOffset:
        if self.max_timestamp_ms == UNKNOWN_TIMESTAMP:
            self.max_timestamp_ms, self.max_timestamp_offset = self.time_index.last()
        return TimestampOffset(self.max_timestamp_ms, self.max_timestamp_offset)

    def largest_timestamp_ms(self) -> int:
        """The timestamp that retention uses: the largest of the records, or the file's when no record has one."""
        timestamp_ms = self.max_timestamp().timestamp_ms
        return timestamp_ms if timestamp_ms >= 0 else self._shared.disk.modified_ms(self.files.path(LOG))

    def is_past_roll_age(self, roll_ms: int, now_ms: int, timestamp_ms: int) -> bool:
        """Counts the age in record time from the first batch, or in the broker's time if that batch has no
        timestamp."""
        if self.size == 0:
            return False
        if self.first_timestamp_ms is None:
            first = next(iter_headers(self.file(), 0, self.size, HEADER_SIZE), None)
            self.first_timestamp_ms = first[1].max_timestamp if first else NO_TIMESTAMP
        if self.first_timestamp_ms >= 0:
            return timestamp_ms - self.first_timestamp_ms > roll_ms - self.jitter_ms
        return now_ms - self.created_ms > roll_ms - self.jitter_ms

    def position_of(self, offset: int) -> int | None:
        """The position of the first batch that ends at or after `offset`; None when all end before it."""
        recent = self.recent_position_of(offset)
        if recent is not None:
            return recent
        hint, following = self.offset_index.neighbours(offset)
        if following >= 0:
            # All long batches are in the index, so the wanted one is usually the next entry.
            for position, header in iter_headers(self.file(), following, self.size, HEADER_SIZE):
                if header.base_offset <= offset <= header.base_offset + header.last_offset_delta:
                    return position
                break
        for start in (hint, 0) if hint else (0,):
            end = start
            for position, header in iter_headers(self.file(), start, self.size):
                if header.base_offset + header.last_offset_delta >= offset:
                    return position
                end = position + header.size
            if end == self.size:
                return None
            # A wrong index entry means a damaged index, not a damaged log: search from the start.
        return None

    def recent_position_of(self, offset: int) -> int | None:
        """The position of the batch that begins with `offset`, if it is one of the last ones written."""
        if self._boundaries is None:
            return None
        position = self._boundaries.get(offset)
        if position is None and self._older_boundaries is not None:
            position = self._older_boundaries.get(offset)
        return position

    def next_offset(self) -> int:
        """The offset after the last batch, read from the file."""
        following = self.base_offset
        for _, header in iter_headers(self.file(), self.offset_index.last_position(), self.size):
            following = header.next_offset
        return following

    def add_aborted(self, aborted: AbortedTxn) -> None:
        if self.txn_index is None:
            self.txn_index = TxnIndex(self.files, self._shared.loaded_indexes, is_new=True)
        self.txn_index.append(aborted)

    def seal(self) -> None:
        """Adds the last time index entry, at roll and close."""
        if self.max_timestamp_ms == UNKNOWN_TIMESTAMP:
            return  # nothing was appended since it was loaded
        newest = self.max_timestamp()
        self.time_index.append_if_later(newest.timestamp_ms, newest.offset)

    @property
    def indexes(self) -> tuple[EntryIndex, ...]:
        always = (self.offset_index, self.time_index)
        return always if self.txn_index is None else (*always, self.txn_index)

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Drops every batch that ends at or after `offset`."""
        position = self.position_of(offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        if self.txn_index is not None:
            self.txn_index.truncate_to(offset)
        if position is not None:
            self.file().truncate(position)
            self.file().sync()  # otherwise a crash could bring the old batches back below newer segments
            self.size = position
        self._boundaries = self._older_boundaries = None
        self._index_after = self.size + self._index_interval_bytes
        self.is_index_full = False
        if self.size == 0:
            self.created_ms = now_ms
            self.first_timestamp_ms = None
        newest = self.time_index.last()
        start = self.offset_index.lookup(newest.offset)
        for _, header in iter_headers(self.file(), start, self.size, SCAN_SLICE_BYTES):
            if header.max_timestamp > newest.timestamp_ms:
                newest = TimestampOffset(header.max_timestamp, header.last_offset)
        self.max_timestamp_ms, self.max_timestamp_offset = newest

    def reset(self) -> None:
        """Forgets everything about the content, before a scan reads it again."""
        for index in self.indexes:
            index.reset()
        self.size = 0
        self.max_timestamp_ms = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self.first_timestamp_ms = None
        self.is_index_full = False
        self._index_after = self._index_interval_bytes
        self._boundaries = self._older_boundaries = None

    def leave(self) -> None:
        """Drops the file descriptor, which keeps even deleted bytes on the disk. It closes with the last slice that
        is being sent, usually at once and while the file still has a name: closing a removed file waits until the
        kernel has freed its bytes."""
        self._shared.open_files.dismiss(self)
        self.evict()
        for index in self.indexes:
            index.leave()

    def retire(self, reason: str) -> RetiredSegment:
        """Renames the files to `.deleted`; the log forgets the segment. Open slices stay readable."""
        self.leave()
        self.files.rename(DELETED)
        paths = tuple(self.files.path(kind) for kind in SEGMENT_SUFFIXES)
        return RetiredSegment(self._shared.disk, self.base_offset, self.size, reason, paths)
