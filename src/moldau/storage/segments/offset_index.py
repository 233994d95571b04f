"""`.index`: sparse map from offset to position in the segment. 8 bytes per entry: relative offset, position.

An entry holds the last offset of a batch and the position where that batch starts, so a search from there finds every
later batch.
"""

import struct
from bisect import bisect_left, bisect_right
from typing import Final

from moldau.storage.names import INDEX
from moldau.storage.segments.segment_files import EntryIndex

_ENTRY: Final = struct.Struct(">ii")
_FIELD: Final = struct.Struct(">i")
OFFSET_AT: Final = 0
POSITION_AT: Final = 4


class OffsetIndex(EntryIndex):
    __slots__ = ()
    ENTRY = _ENTRY
    KIND = INDEX

    def append(self, offset: int, position: int) -> None:
        self.entries().extend(_ENTRY.pack(offset - self._files.base_offset, position))

    def lookup(self, offset: int) -> int:
        """The position of the last indexed batch that ends at or before `offset`; 0 when there is none."""
        return position_in(self.entries(), offset - self._files.base_offset)

    def neighbours(self, offset: int) -> tuple[int, int]:
        """As `lookup`, plus the position of the next indexed batch; -1 when there is none."""
        entries = self.entries()
        slot = _slots_until(entries, offset - self._files.base_offset)
        before = int(_ENTRY.unpack_from(entries, (slot - 1) * _ENTRY.size)[1]) if slot else 0
        after = slot * _ENTRY.size
        return before, int(_ENTRY.unpack_from(entries, after)[1]) if after < len(entries) else -1

    def batch_start_until(self, position: int) -> int:
        """The position of the last indexed batch that starts at or before `position`; 0 when there is none."""
        entries = self.entries()
        slot = _slots_until(entries, position, POSITION_AT)
        return int(_ENTRY.unpack_from(entries, (slot - 1) * _ENTRY.size)[1]) if slot else 0

    def last_position(self) -> int:
        last = self.last_entry()
        return int(_ENTRY.unpack(last)[1]) if last else 0

    def truncate_to(self, offset: int) -> None:
        entries = self.entries()
        relative = offset - self._files.base_offset
        self.truncate_entries(
            bisect_left(
                range(len(entries) // _ENTRY.size),
                relative,
                key=lambda slot: _FIELD.unpack_from(entries, slot * _ENTRY.size)[0],
            )
        )


def _slots_until(entries: bytes | bytearray, limit: int, field_at: int = OFFSET_AT) -> int:
    """How many entries have a relative offset, or position, up to `limit`: both only grow."""
    return bisect_right(
        range(len(entries) // _ENTRY.size),
        limit,
        key=lambda slot: _FIELD.unpack_from(entries, slot * _ENTRY.size + field_at)[0],
    )


def position_in(entries: bytes | bytearray, relative_offset: int) -> int:
    slot = _slots_until(entries, relative_offset)
    return int(_ENTRY.unpack_from(entries, (slot - 1) * _ENTRY.size)[1]) if slot else 0
