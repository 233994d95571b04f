"""Where reading starts in a partition that holds offsets 10 to 99."""

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END

from moldau.cli.client.positions import Start, start_offset
from moldau.cli.failures import Failure


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (Start(offset=OFFSET_BEGINNING), 10),
        (Start(offset=OFFSET_END), 100),
        (Start(offset=10), 10),
        (Start(offset=55), 55),
        (Start(offset=100), 100),
        (Start(before_end=5), 95),
        (Start(before_end=500), 10),
    ],
)
def test_every_way_to_say_where(start: Start, expected: int) -> None:
    assert start_offset("orders", 0, start, 10, 100) == expected


@pytest.mark.parametrize("offset", [9, 101])
def test_an_offset_outside_the_log_is_refused_with_what_there_is(offset: int) -> None:
    with pytest.raises(
        Failure, match=rf"'orders' partition 3 has no offset {offset}: it has offsets 10 to 99"
    ):
        start_offset("orders", 3, Start(offset=offset), 10, 100)


def test_an_empty_partition_says_so() -> None:
    with pytest.raises(Failure, match="it is empty, and its next offset is 7"):
        start_offset("orders", 0, Start(offset=3), 7, 7)
