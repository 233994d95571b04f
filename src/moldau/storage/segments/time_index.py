"""`.timeindex`: sparse map from timestamp to offset. 12 bytes per entry: timestamp, relative offset.

An entry says that no record up to its offset has a later timestamp. Timestamps only grow from entry to entry.
"""

import struct
from bisect import bisect_left, bisect_right
from typing import Final, NamedTuple

from moldau.core.ids import NO_TIMESTAMP
from moldau.storage.names import TIME_INDEX
from moldau.storage.segments.segment_files import EntryIndex

_ENTRY: Final = struct.Struct(">qi")
_TIMESTAMP: Final = struct.Struct(">q")
_RELATIVE_OFFSET: Final = struct.Struct(">i")


class TimestampOffset(NamedTuple):
    timestamp_ms: int
    offset: int


class TimeIndex(EntryIndex):
    __slots__ = ()
    ENTRY = _ENTRY
    KIND = TIME_INDEX

    def append_if_later(self, timestamp_ms: int, offset: int) -> None:
        if timestamp_ms > self.last().timestamp_ms:
            self.entries().extend(_ENTRY.pack(timestamp_ms, offset - self._files.base_offset))

    def last(self) -> TimestampOffset:
        timestamp_ms, relative = last_in(self.last_entry())
        return TimestampOffset(timestamp_ms, self._files.base_offset + relative)

    def truncate_to(self, offset: int) -> None:
        entries = self.entries()
        relative = offset - self._files.base_offset
        self.truncate_entries(
            bisect_left(
                range(len(entries) // _ENTRY.size),
                relative,
                key=lambda slot: _RELATIVE_OFFSET.unpack_from(entries, slot * _ENTRY.size + 8)[0],
            )
        )


def relative_offset_in(entries: bytes | bytearray, timestamp_ms: int) -> int:
    """The offset, relative to the base offset, of the last entry not later than `timestamp_ms`; 0 without one."""
    slot = bisect_right(
        range(len(entries) // _ENTRY.size),
        timestamp_ms,
        key=lambda slot: _TIMESTAMP.unpack_from(entries, slot * _ENTRY.size)[0],
    )
    return int(_ENTRY.unpack_from(entries, (slot - 1) * _ENTRY.size)[1]) if slot else 0


def last_in(entries: bytes | bytearray) -> tuple[int, int]:
    """Timestamp and relative offset of the last entry."""
    if not entries:
        return NO_TIMESTAMP, 0
    timestamp_ms, relative = _ENTRY.unpack_from(entries, len(entries) - _ENTRY.size)
    return timestamp_ms, relative
