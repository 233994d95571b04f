"""Positions in topics, and the ranges of offsets between them."""

import json
from collections.abc import Iterator
from typing import NamedTuple

Positions = dict[str, dict[int, int]]
"""Topic to partition to the next offset to read."""


class OffsetRange(NamedTuple):
    """From `start_offset`, up to but without `end_offset`."""

    topic: str
    partition: int
    start_offset: int
    end_offset: int


def positions_from_json(text: str) -> Positions:
    return {
        topic: {int(partition): offset for partition, offset in partitions.items()}
        for topic, partitions in json.loads(text).items()
    }


def positions_to_json(positions: Positions) -> dict[str, dict[str, int]]:
    return {
        topic: {str(partition): offset for partition, offset in sorted(partitions.items())}
        for topic, partitions in sorted(positions.items())
    }


def ranges_between(starts: Positions, ends: Positions) -> Iterator[OffsetRange]:
    """Ranges of all partitions, also empty ones."""
    for topic, partitions in ends.items():
        for partition, end_offset in partitions.items():
            # A partition that was added later starts at its first record.
            start_offset = starts.get(topic, {}).get(partition, 0)
            yield OffsetRange(topic, partition, start_offset, max(start_offset, end_offset))


def distance(starts: Positions, ends: Positions) -> int:
    """The number of offsets between the two."""
    return sum(one.end_offset - one.start_offset for one in ranges_between(starts, ends))
