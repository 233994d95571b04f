"""The file names of one segment, and the entries of its index files.

Owns paths and the bytes of index files: loads whole entries, appends in memory, hands out what is not yet on disk.
The index modules know what an entry means.
"""

import struct
from contextlib import suppress
from typing import ClassVar

from moldau.storage.disk import Disk
from moldau.storage.names import SEGMENT_SUFFIXES, segment_file
from moldau.storage.residency import Residency


class SegmentFiles:
    __slots__ = ("base_offset", "directory", "disk", "suffix")

    def __init__(self, disk: Disk, directory: str, base_offset: int, suffix: str = "") -> None:
        self.disk = disk
        self.directory = directory
        self.base_offset = base_offset
        self.suffix = suffix

    def path(self, kind: str) -> str:
        return f"{self.directory}/{segment_file(self.base_offset, kind)}{self.suffix}"

    def rename(self, suffix: str) -> None:
        """Replaces the suffix of every file: `.cleaned`, `.swap`, `.deleted` or none."""
        for kind in SEGMENT_SUFFIXES:
            path = f"{self.directory}/{segment_file(self.base_offset, kind)}"
            with suppress(FileNotFoundError):
                self.disk.rename(path + self.suffix, path + suffix)
        self.suffix = suffix


class EntryIndex:
    """Entries of fixed size, in file format. Those of the active segment stay in memory until a flush writes them in
    bulk: an index can always be rebuilt from its log, so an entry is not worth a system call."""

    __slots__ = ("_entries", "_files", "_residency", "_saved", "recently_used")
    ENTRY: ClassVar[struct.Struct]
    KIND: ClassVar[str]

    def __init__(self, files: SegmentFiles, residency: Residency, *, is_new: bool = False) -> None:
        self._files = files
        self._residency = residency
        self._entries: bytearray | None = bytearray() if is_new else None
        self._saved = 0
        self.recently_used = False

    def entries(self) -> bytearray:
        self.recently_used = True
        if self._entries is None:
            self._entries = loaded = bytearray(self.read_file())
            self._saved = len(loaded)
            self._residency.admit(self, len(loaded))
        return self._entries

    def __len__(self) -> int:
        return len(self.entries()) // self.ENTRY.size

    def snapshot(self) -> bytes:
        """A copy of the entries, for a reader on another thread."""
        entries = self._entries
        return self.read_file() if entries is None else bytes(entries)

    def read_file(self) -> bytes:
        """Returns whole entries only. Zeros at the end are the preallocated part of an index that Kafka did not
        close."""
        try:
            data = self._files.disk.read_bytes(self._files.path(self.KIND))
        except FileNotFoundError:
            return b""
        size = self.ENTRY.size
        used = len(data.rstrip(b"\0"))
        return data[: min(-(-used // size), len(data) // size) * size]

    def last_entry(self) -> bytes:
        """Empty when there is none. Does not load the other entries."""
        size = self.ENTRY.size
        if self._entries is None:
            try:
                file = self._files.disk.open(self._files.path(self.KIND), writable=False)
            except FileNotFoundError:
                return b""
            last = file.read((file.size() // size - 1) * size, size) if file.size() >= size else b""
            if last.strip(b"\0") or not last:
                return last
        entries = self.entries()
        return bytes(entries[len(entries) - size :]) if entries else b""

    def truncate_entries(self, count: int) -> None:
        entries = self.entries()
        if count * self.ENTRY.size < len(entries):
            del entries[count * self.ENTRY.size :]
            self._saved = -1

    def reset(self) -> None:
        """Empties the index for a rebuild. The next save rewrites the file."""
        self._entries = bytearray()
        self._saved = -1

    @property
    def is_saved(self) -> bool:
        return self._entries is None or self._saved == len(self._entries)

    def take_unsaved(self) -> tuple[bool, bytes] | None:
        """Returns what a save must append to the file; when the first value is true, the save empties the file first.
        The entries count as saved from now on: if the write fails, the whole directory goes offline and the index is
        rebuilt."""
        if self._entries is None or self._saved == len(self._entries):
            return None
        rewrite = self._saved < 0
        data = bytes(self._entries[max(self._saved, 0) :])
        self._saved = len(self._entries)
        return rewrite, data

    def save(self) -> None:
        if unsaved := self.take_unsaved():
            rewrite, data = unsaved
            file = self._files.disk.open(self._files.path(self.KIND), create=True)
            if rewrite:
                file.truncate(0)
            file.append(data)
            file.sync()

    def release(self) -> None:
        """The segment takes no more appends, so its entries may be evicted from memory."""
        if self._entries is not None:
            self._residency.admit(self, len(self._entries))

    def leave(self) -> None:
        self._residency.dismiss(self)

    def evict(self) -> None:
        if self.is_saved:
            self._entries = None
