"""The three indexes: their bytes, lookups compared with a linear search, damage and truncation."""

import struct
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.storage.os_files import OsFiles
from moldau.storage.residency import Residency
from moldau.storage.segments.offset_index import OffsetIndex, position_in
from moldau.storage.segments.segment_files import SegmentFiles
from moldau.storage.segments.time_index import TimeIndex, TimestampOffset, relative_offset_in
from moldau.storage.segments.txn_index import AbortedTxn, TxnIndex
from moldau.testing.simulation.crash_disk import CrashDisk

BASE = 1000


def files(disk: CrashDisk | None = None) -> SegmentFiles:
    return SegmentFiles(disk or CrashDisk(), "", BASE)


def offset_index(entries: list[tuple[int, int]], at: SegmentFiles | None = None) -> OffsetIndex:
    index = OffsetIndex(at or files(), Residency(1 << 20), is_new=True)
    for offset, position in entries:
        index.append(offset, position)
    return index


def test_offset_entries_are_relative_offset_and_position() -> None:
    at = files()
    offset_index([(1004, 4100), (1009, 8300)], at).save()
    assert at.disk.read_bytes("/00000000000000001000.index") == struct.pack(">iiii", 4, 4100, 9, 8300)


def test_looking_up_offsets() -> None:
    index = offset_index([(1004, 4100), (1009, 8300)])
    assert index.lookup(1003) == 0
    assert index.lookup(1004) == 4100
    assert index.lookup(1008) == 4100
    assert index.lookup(5000) == 8300
    assert index.neighbours(1003) == (0, 4100)
    assert index.neighbours(1004)[0] == 4100
    assert index.neighbours(5000) == (8300, -1)
    assert index.last_position() == 8300


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 500), unique=True).map(sorted),
    st.integers(-5, 600),
)
def test_a_lookup_finds_what_a_search_from_the_start_finds(offsets: list[int], target: int) -> None:
    entries = b"".join(struct.pack(">ii", offset, offset * 10 + 7) for offset in offsets)
    expected = max((offset * 10 + 7 for offset in offsets if offset <= target), default=0)
    assert position_in(entries, target) == expected


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), unique_by=lambda entry: entry[0]).map(
        sorted
    ),
    st.integers(-5, 600),
)
def test_a_time_lookup_finds_what_a_search_from_the_start_finds(
    entries: list[tuple[int, int]], target: int
) -> None:
    data = b"".join(struct.pack(">qi", *entry) for entry in entries)
    expected = next((offset for time, offset in reversed(entries) if time <= target), 0)
    assert relative_offset_in(data, target) == expected


def test_truncating_drops_entries_at_and_after_an_offset() -> None:
    index = offset_index([(1004, 4100), (1009, 8300), (1015, 12500)])
    index.truncate_to(1009)
    assert index.lookup(5000) == 4100
    index.truncate_to(1000)
    assert index.lookup(5000) == 0


def test_what_is_saved_is_only_what_is_new_unless_something_was_cut() -> None:
    at = files()
    index = offset_index([(1004, 4100)], at)
    index.save()
    index.append(1009, 8300)
    assert index.take_unsaved() == (False, struct.pack(">ii", 9, 8300))
    assert index.take_unsaved() is None
    index.truncate_to(1009)
    assert index.take_unsaved() == (True, struct.pack(">ii", 4, 4100))


def test_a_preallocated_tail_and_a_torn_entry_are_not_read() -> None:
    at = files()
    file = at.disk.open(at.path(".index"), create=True)
    file.append(struct.pack(">ii", 4, 4096) + bytes(4096))
    assert len(OffsetIndex(at, Residency(1 << 20))) == 1
    assert OffsetIndex(at, Residency(1 << 20)).last_position() == 4096
    torn = files()
    torn.disk.open(torn.path(".index"), create=True).append(
        struct.pack(">ii", 4, 4100) + b"\x00\x00\x00\x09\x07"
    )
    assert len(OffsetIndex(torn, Residency(1 << 20))) == 1


def test_loaded_indexes_leave_memory_when_others_need_it_and_come_back() -> None:
    disk = CrashDisk()
    residency = Residency(20)
    indexes = []
    for base in (0, 1000, 2000):
        at = SegmentFiles(disk, "", base)
        made = OffsetIndex(at, Residency(1), is_new=True)
        made.append(base + 4, 4100)
        made.save()
        indexes.append(OffsetIndex(at, residency))
    for index in indexes:
        assert index.lookup(5000) == 4100
    assert sum(index._entries is not None for index in indexes) == 2
    for index in indexes:
        assert index.lookup(5000) == 4100


def test_entries_that_are_not_on_disk_never_leave_memory() -> None:
    residency = Residency(1)
    index = offset_index([(1004, 4100)])
    index.release()
    residency.admit(index)
    residency.admit(offset_index([]))
    index.evict()
    assert index.lookup(1004) == 4100


def test_time_entries_only_get_later() -> None:
    at = files()
    index = TimeIndex(at, Residency(1 << 20), is_new=True)
    assert index.last() == TimestampOffset(-1, BASE)
    for timestamp, offset in ((500, 1004), (400, 1009), (500, 1012), (700, 1020)):
        index.append_if_later(timestamp, offset)
    index.save()
    assert at.disk.read_bytes(at.path(".timeindex")) == struct.pack(">qiqi", 500, 4, 700, 20)
    assert index.last() == TimestampOffset(700, 1020)
    index.truncate_to(1020)
    assert index.last() == TimestampOffset(500, 1004)


def test_aborted_transactions_that_touch_a_range() -> None:
    at = files()
    index = TxnIndex(at, Residency(1 << 20), is_new=True)
    first = AbortedTxn(producer_id=7, first_offset=1000, last_offset=1010, last_stable_offset=1005)
    second = AbortedTxn(producer_id=8, first_offset=1005, last_offset=1020, last_stable_offset=1021)
    index.append(first)
    index.append(second)
    assert index.collect(1000, 1004) == ([first], True)
    assert index.collect(1011, 1019) == ([second], True)
    assert index.collect(1000, 1030) == ([first, second], False)
    assert index.collect(1021, 1030) == ([], False)
    index.save()
    data = at.disk.read_bytes(at.path(".txnindex"))
    assert len(data) == 68
    assert data[:34] == struct.pack(">hqqqq", 0, 7, 1000, 1010, 1005)
    index.truncate_to(1020)
    assert list(index) == [first]


def test_an_index_without_a_file_is_empty(tmp_path: Path) -> None:
    index = OffsetIndex(SegmentFiles(OsFiles(), str(tmp_path), 0), Residency(1 << 20))
    assert len(index) == 0
    assert index.lookup(17) == 0


def test_the_last_entry_is_read_alone() -> None:
    at = files()
    offset_index([(1004, 4100), (1009, 8300)], at).save()
    index = OffsetIndex(at, Residency(1 << 20))
    assert index.last_position() == 8300
    assert index._entries is None
    assert OffsetIndex(files(), Residency(1 << 20)).last_position() == 0
