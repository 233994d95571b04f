"""Which offsets a batch covers, as Spark's own offset log in the checkpoint says.

The log has been written before the batch is run, and a batch run again finds the same entry: that is what makes
a batch the same batch. Reading it costs less than asking Spark for the rows of the batch.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.folder import Folder

Positions = dict[str, dict[int, int]]
"""Topic to partition to the next offset to read."""
LOG_VERSION = "v1"


class OffsetRange(NamedTuple):
    """`start_offset` to before `end_offset`; empty where the two are equal."""

    topic: str
    partition: int
    start_offset: int
    end_offset: int


class OffsetLog:
    def __init__(self, spark_checkpoint: Folder, initial: Positions) -> None:
        self._folder = spark_checkpoint.within("offsets")
        self._initial = initial
        self._kept: dict[int, Positions] = {}

    def ranges(self, batch_id: int) -> list[OffsetRange]:
        """All partitions of the batch, also those where nothing is new."""
        ends = self._positions(batch_id)
        starts = self._positions(batch_id - 1) if batch_id else self._initial
        self._kept = {batch_id: ends}
        return list(ranges_between(starts, ends))

    def _positions(self, batch_id: int) -> Positions:
        kept = self._kept.get(batch_id)
        if kept is not None:
            return kept
        content = self._folder.read(str(batch_id))
        if content is None:
            raise MoldauError(
                f"Spark's checkpoint has no offsets of batch {batch_id} in {self._folder.address}: "
                "the checkpoint is damaged, restore it or reset the application"
            )
        version, _, *sources = content.decode().splitlines()
        if version != LOG_VERSION or len(sources) != 1:
            raise MoldauError(f"the offset log in {self._folder.address} is of an unknown form ({version!r})")
        return positions_from_json(sources[0])


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
    for topic, partitions in ends.items():
        if not topic:  # the source's count of time
            continue
        for partition, end_offset in partitions.items():
            # A partition that was added since begins at its first record.
            start_offset = starts.get(topic, {}).get(partition, 0)
            yield OffsetRange(topic, partition, start_offset, max(start_offset, end_offset))
