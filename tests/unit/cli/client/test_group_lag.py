"""How far behind a group is, from what its coordinator and the leaders say."""

import pytest

from moldau.cli.client.group_lag import LogState, PartitionLag, seconds_behind
from moldau.cli.client.group_queries import Committed
from moldau.core.ids import TopicPartition

PLACE = TopicPartition("orders", 0)


def lag(offset: int | None, log: LogState | None) -> PartitionLag:
    committed = None if offset is None else Committed(offset, None, None)
    return PartitionLag(PLACE, committed, log, None, None)


@pytest.mark.parametrize(
    ("offset", "log", "unread", "unread_bytes", "note"),
    [
        (0, LogState(0, 10, 10, 1000), 10, 1000, None),
        (5, LogState(0, 10, 10, 1000), 5, 500, None),
        (10, LogState(0, 10, 10, 1000), 0, 0, None),
        (2, LogState(6, 10, 10, 1000), 4, 1000, "4 offsets were deleted unread"),
        (
            12,
            LogState(0, 10, 10, 1000),
            0,
            0,
            "committed beyond the log end: the topic may have been recreated",
        ),
        (5, LogState(0, 8, 10, 1000), 3, 300, "2 offsets are blocked by an open transaction"),
        (9, LogState(0, 8, 10, 1000), 0, 0, "2 offsets are blocked by an open transaction"),
        (5, LogState(0, 10, 10, None), 5, None, None),
        (7, LogState(7, 7, 7, 0), 0, 0, None),
        (None, LogState(0, 10, 10, 1000), None, None, "no committed offset"),
        (5, None, None, None, "no leader, or the topic does not exist"),
    ],
)
def test_lag_is_what_a_read_committed_consumer_has_still_to_read(
    offset: int | None, log: LogState | None, unread: int | None, unread_bytes: int | None, note: str | None
) -> None:
    found = lag(offset, log)
    assert (found.lag, found.lag_bytes, found.note) == (unread, unread_bytes, note)


def test_time_behind_is_the_age_of_the_next_record() -> None:
    assert seconds_behind(1_000, now_ms=3_500) == 2.5
    assert seconds_behind(None, now_ms=3_500) == 0
    assert seconds_behind(9_000, now_ms=3_500) == 0
