"""Incremental fetch sessions, KIP-227."""

from itertools import count

import pytest

from moldau.broker.fetch.fetch_sessions import FetchSession, FetchSessions
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError


def wanted(index: int, offset: int = 0) -> tuple[int, int, int, int, int, int]:
    return (index, -1, offset, -1, -1, 1000)


def fetched(index: int, *, error: int = 0, high_watermark: int = 0, records: bytes = b"") -> tuple:
    return (index, error, high_watermark, high_watermark, 0, None, -1, records)


def sessions(slots_max: int = 2) -> FetchSessions:
    ids = count(1)
    return FetchSessions(slots_max=slots_max, eviction_ms_min=120_000, new_id=lambda: next(ids))


def opened(partitions: int) -> FetchSession:
    session = sessions().open([("t", [wanted(i) for i in range(partitions)])], now_ms=0, has_topic_ids=False)
    assert session is not None
    session.reduce([("t", [fetched(i) for i in range(partitions)])], is_full=True)
    return session


def test_a_full_answer_names_every_partition_and_the_next_only_what_changed() -> None:
    session = sessions().open([("t", [wanted(0), wanted(1)])], now_ms=0, has_topic_ids=False)
    assert session is not None
    everything = [("t", [fetched(0), fetched(1)])]
    assert session.reduce(everything, is_full=True) == everything
    assert session.reduce(everything, is_full=False) == []
    moved = fetched(1, high_watermark=5)
    assert session.reduce([("t", [fetched(0), moved])], is_full=False) == [("t", [moved])]
    assert session.reduce([("t", [fetched(0), moved])], is_full=False) == []


def test_an_error_is_always_told_and_its_end_too() -> None:
    session = opened(1)
    refused = fetched(0, error=ErrorCode.OFFSET_OUT_OF_RANGE)
    for _ in range(2):
        assert session.reduce([("t", [refused])], is_full=False) == [("t", [refused])]
    assert session.reduce([("t", [fetched(0)])], is_full=False) == [("t", [fetched(0)])]


def test_a_partition_that_gave_data_is_served_last_next_time() -> None:
    session = opened(3)
    session.reduce(
        [("t", [fetched(0, high_watermark=1, records=b"x"), fetched(1), fetched(2)])], is_full=False
    )
    assert [each[0] for _, partitions in session.wanted() for each in partitions] == [1, 2, 0]


def test_partitions_are_added_moved_and_forgotten() -> None:
    session = opened(2)
    session.update([("t", [wanted(1, offset=7)]), ("u", [wanted(0)])], [("t", [0])])
    assert session.wanted() == [("t", [wanted(1, offset=7)]), ("u", [wanted(0)])]


def test_the_epoch_must_follow() -> None:
    cache = sessions()
    session = cache.open([], now_ms=0, has_topic_ids=False)
    assert session is not None
    assert cache.resume(session.id, 1, 0, has_topic_ids=False) is session
    assert cache.resume(session.id, 2, 0, has_topic_ids=False) is session
    with pytest.raises(ApiError) as refused:
        cache.resume(session.id, 2, 0, has_topic_ids=False)
    assert refused.value.code is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    with pytest.raises(ApiError) as refused:
        cache.resume(999, 1, 0, has_topic_ids=False)
    assert refused.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_full_fetch_or_a_closing_one_ends_the_old_session(epoch: int) -> None:
    cache = sessions()
    session = cache.open([], now_ms=0, has_topic_ids=False)
    assert session is not None
    assert cache.resume(session.id, epoch, 0, has_topic_ids=False) is None
    assert len(cache) == 0


def test_slots_are_bounded_and_only_unused_sessions_give_way() -> None:
    cache = sessions(slots_max=2)
    first, second = (
        cache.open([], now_ms=0, has_topic_ids=False),
        cache.open([], now_ms=0, has_topic_ids=False),
    )
    assert first is not None and second is not None
    assert cache.open([], now_ms=1000, has_topic_ids=False) is None
    cache.resume(first.id, 1, 100_000, has_topic_ids=False)
    third = cache.open([], now_ms=120_000, has_topic_ids=False)
    assert third is not None and len(cache) == 2
    assert cache.resume(first.id, 2, 120_000, has_topic_ids=False) is first
    with pytest.raises(ApiError):
        cache.resume(second.id, 1, 120_000, has_topic_ids=False)


def test_names_and_topic_ids_do_not_mix() -> None:
    """A client that lost a topic's id goes on by name; the answer would hold both (KIP-516)."""
    cache = sessions()
    session = cache.open([("t", [wanted(0)])], now_ms=0, has_topic_ids=False)
    assert session is not None
    with pytest.raises(ApiError) as refused:
        cache.resume(session.id, 1, 0, has_topic_ids=True)
    assert refused.value.code is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
