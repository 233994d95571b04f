"""`.txnindex`: the aborted transactions whose end marker is in the segment. 34 bytes per entry.

Exists only where a transaction was aborted. A read_committed reader gets the entries that overlap its range, so that
it can skip their records.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from moldau.storage.names import TXN_INDEX
from moldau.storage.segments.segment_files import EntryIndex

_ENTRY: Final = struct.Struct(">hqqqq")
VERSION: Final = 0


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    """The last stable offset after this transaction ended. Later entries concern only offsets from there on."""


class TxnIndex(EntryIndex):
    __slots__ = ()
    ENTRY = _ENTRY
    KIND = TXN_INDEX

    def append(self, aborted: AbortedTxn) -> None:
        self.entries().extend(_ENTRY.pack(VERSION, *aborted))

    def __iter__(self) -> Iterator[AbortedTxn]:
        for _, *fields in _ENTRY.iter_unpack(bytes(self.entries())):
            yield AbortedTxn(*fields)

    def collect(self, first_offset: int, end_offset: int) -> tuple[list[AbortedTxn], bool]:
        """Returns the entries that overlap the range, and whether later segments can be skipped."""
        found: list[AbortedTxn] = []
        for aborted in self:
            if aborted.last_offset >= first_offset and aborted.first_offset < end_offset:
                found.append(aborted)
            if aborted.last_stable_offset >= end_offset:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        self.truncate_entries(sum(1 for aborted in self if aborted.last_offset < offset))
