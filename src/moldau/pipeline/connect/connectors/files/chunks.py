"""Which records share files. Pure: a chunk is a run of records of one topic partition, and its end depends on them.

A chunk has one file for each folder that its records belong to. All of them are written when the chunk ends, and only
then its offsets are committed. What decides is the number of records, their size, times, schemas and folders since the
chunk began. So a task that starts again from the committed offset makes the same files, with the same names.
"""

from dataclasses import dataclass, field

from moldau.pipeline.connect.connectors.files.projection import begins_file
from moldau.pipeline.connect.data.schema import Schema


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    records_max: int
    bytes_max: int
    """Of all files together, as they are written."""
    files_max: int
    span_ms: int
    """From the time of the first record. 0: no limit."""
    compatibility: str


@dataclass(slots=True)
class Chunk:
    first_offset: int
    first_ms: int | None
    last_offset: int = -1
    count: int = 0
    bytes: int = 0
    schemas: dict[str, Schema | None] = field(default_factory=dict)
    """Of each folder's file."""

    def ends_before(self, limits: ChunkLimits, folder: str, schema: Schema | None, ms: int | None) -> bool:
        """Whether a record does not belong to this chunk any more."""
        if not self.count:
            return False
        if (
            limits.span_ms
            and ms is not None
            and self.first_ms is not None
            and ms - self.first_ms >= limits.span_ms
        ):
            return True
        if folder not in self.schemas:
            return len(self.schemas) >= limits.files_max
        return begins_file(limits.compatibility, self.schemas[folder], schema)

    def is_full(self, limits: ChunkLimits) -> bool:
        return self.count >= limits.records_max or self.bytes >= limits.bytes_max


def next_rotation_ms(now_ms: int, interval_ms: int, offset_ms: int) -> int:
    """The end of the wall-clock interval that contains `now_ms`; intervals begin at midnight of a zone."""
    local = now_ms + offset_ms
    return (local // interval_ms + 1) * interval_ms - offset_ms
