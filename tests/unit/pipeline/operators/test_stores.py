"""State stores: order, ranges, retention, history, and what the suppress buffer holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.pipeline.operators.stores.buffer import BufferStore
from moldau.pipeline.operators.stores.join import JoinStore
from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.stores.keys import session_key, split_session_key, split_window_key, window_key
from moldau.pipeline.operators.stores.session import SessionStore
from moldau.pipeline.operators.stores.versioned import Placed, VersionedStore
from moldau.pipeline.operators.stores.window import WindowStore


@pytest.mark.parametrize("ordered", [False, True])
def test_ranges_follow_the_order_of_bytes(ordered: bool) -> None:
    store = KeyValueStore("s", ordered=ordered)
    for key in (b"c", b"a", b"ab", b"b"):
        store.put(key, b"v" + key, 1)
    assert [key for key, _ in store.range()] == [b"a", b"ab", b"b", b"c"]
    assert [key for key, _ in store.range(b"ab", b"b")] == [b"ab", b"b"]
    store.put(b"b", None, 2)
    store.put(b"aa", b"", 2)
    assert [key for key, _ in store.range(b"aa")] == [b"aa", b"ab", b"c"]
    assert [key for key, _ in store.with_prefix(b"a")] == [b"a", b"aa", b"ab"]


def test_a_store_may_be_changed_while_it_is_read() -> None:
    store = KeyValueStore("s", ordered=True)
    for key in (b"a", b"b", b"c"):
        store.put(key, b"", 1)
    for key, _ in store.range():
        store.put(key, None, 1)
    assert len(store) == 0


def test_composite_keys() -> None:
    assert window_key(b"k", 1, 2) == b"k" + b"\0\0\0\0\0\0\0\x01" + b"\0\0\0\x02"
    assert split_window_key(window_key(b"key", 77, 5)) == (b"key", 77, 5)
    assert split_session_key(session_key(b"key", 10, 20)) == (b"key", 10, 20)


def test_windows_past_the_retention_are_gone() -> None:
    store = WindowStore("w", retention_ms=100)
    for start_ms in range(0, 300, 10):
        store.put(b"k", b"v", start_ms, start_ms)
    assert [start for start, _ in store.fetch(b"k", 0, 1000)] == list(range(200, 300, 10))
    assert store.get(b"k", 190) is None
    assert len(store) < 15
    store.put(b"k", b"late", 100, 100)
    assert store.get(b"k", 100) is None


def test_a_row_that_came_late_is_forgotten_with_the_others() -> None:
    store = VersionedStore("v", history_ms=50)
    for since_ms in (0, 2, 4, 3, 1):
        store.put(b"k", b"v", since_ms)
    store.put(b"other", b"v", 1_000)
    assert [since_ms for since_ms, _ in store.versions(b"k")] == [4]


def test_removed_windows_are_told_as_changes() -> None:
    store = WindowStore("w", retention_ms=10)
    store.put(b"k", b"v", 0, 0)
    store.take_changes()
    store.put(b"k", b"v", 100, 100)
    assert dict(store.take_changes())[window_key(b"k", 0)] is None


def test_sessions_are_found_by_the_time_they_touch() -> None:
    store = SessionStore("s", retention_ms=1000)
    for start_ms, end_ms in ((0, 5), (20, 30), (40, 41)):
        store.put(b"k", start_ms, end_ms, b"v")
    assert [session for session, _ in store.find(b"k", 5, 20)] == [(0, 5), (20, 30)]
    assert [session for _, session, _ in store.ending_in(30, 41)] == [(20, 30), (40, 41)]
    assert store.get(b"k", 20, 30) == b"v"


def test_records_of_one_time_are_kept_apart() -> None:
    store = JoinStore("j", retention_ms=100)
    for value in (b"1", b"2"):
        store.put(b"k", value, 5)
    store.put(b"k", b"3", 4)
    assert store.fetch(b"k", 0, 10) == [(4, b"3"), (5, b"1"), (5, b"2")]
    other = JoinStore("j", retention_ms=100)
    other.load(store.items())
    other.put(b"k", b"4", 5)
    assert [value for _, value in other.fetch(b"k", 5, 5)] == [b"1", b"2", b"4"]


def test_the_buffer_keeps_the_place_of_the_first_change() -> None:
    buffer = BufferStore("b")
    buffer.hold(b"x", 5, b"x1", b"x0", 5, ())
    buffer.hold(b"y", 6, b"y1", None, 6, (("h", b"v"), ("n", None)))
    buffer.hold(b"x", 9, b"x2", b"x1", 9, ())
    copy = BufferStore("b")
    copy.load(buffer.items())
    assert copy.bytes_held == buffer.bytes_held > 0
    first, second = copy.release(), copy.release()
    assert (first.key, first.new, first.prior, first.timestamp_ms) == (b"x", b"x2", b"x0", 9)
    assert second.headers == (("h", b"v"), ("n", None))
    assert (len(copy), copy.bytes_held, copy.oldest()) == (0, 0, None)


def test_a_version_that_comes_late_is_history() -> None:
    store = VersionedStore("v", history_ms=100)
    assert store.put_version(b"k", b"3", 30) is Placed.LATEST
    assert store.put_version(b"k", b"1", 10) is Placed.BEFORE
    assert store.put_version(b"k", None, 20) is Placed.BEFORE
    assert store.get(b"k") == (b"3", 30)
    at = {when: store.get_as_of(b"k", when) for when in (9, 10, 19, 20, 29, 30, 99)}
    first, present = (b"1", 10), (b"3", 30)
    assert at == {9: None, 10: first, 19: first, 20: None, 29: None, 30: present, 99: present}


def test_versions_go_when_the_next_one_is_past_the_history() -> None:
    store = VersionedStore("v", history_ms=100)
    for since_ms in (0, 50, 120):
        store.put_version(b"k", b"%d" % since_ms, since_ms)
    assert store.get_as_of(b"k", 49) == (b"0", 0)
    store.put_version(b"other", b"", 150)
    assert store.get_as_of(b"k", 49) is None
    assert store.get_as_of(b"k", 50) == (b"50", 50)
    assert store.put_version(b"k", b"too late", 49) is Placed.NOWHERE
    store.put_version(b"other", None, 10_000)
    assert store.versions(b"k") == [(120, b"120")]
    assert store.get_as_of(b"k", 5_000) == (b"120", 120)
    store.put_version(b"k", b"", 20_000)
    assert store.versions(b"other") == []


@given(
    st.lists(
        st.tuples(st.sampled_from([b"a", b"b"]), st.sampled_from([None, b"x", b"y"]), st.integers(0, 120)),
        max_size=30,
    ),
    st.integers(0, 30),
)
def test_changes_rebuild_a_versioned_store(puts: list[tuple[bytes, bytes | None, int]], cut: int) -> None:
    store, copy = VersionedStore("v", history_ms=40), VersionedStore("v", history_ms=40)
    for part in (puts[:cut], puts[cut:]):
        for put in part:
            store.put_version(*put)
        copy.load(store.take_changes())
        copy.advance(store.stream_time_ms or -1)
    snapshot = VersionedStore("v", history_ms=40)
    snapshot.load(store.items())
    snapshot.advance(store.stream_time_ms or -1)
    for other in (copy, snapshot):
        assert sorted(other.items()) == sorted(store.items())
        assert list(other.range()) == list(store.range())
        for key in (b"a", b"b"):
            assert [other.get_as_of(key, at) for at in range(130)] == [
                store.get_as_of(key, at) for at in range(130)
            ]
