"""What a task knows about the current record: the context of the user's processors and of every operator."""

from dataclasses import dataclass, field
from typing import Any

from moldau.pipeline.operators.records import NO_HEADERS, Columns, Headers, Outputs

UNKNOWN_TIME_MS = -1


@dataclass(slots=True)
class RecordContext:
    """One per task, overwritten for each record."""

    partition: int
    """The task's partition."""
    topic: str = ""
    record_partition: int = 0
    offset: int = -1
    timestamp_ms: int = UNKNOWN_TIME_MS
    headers: Headers = NO_HEADERS
    order_ms: int = UNKNOWN_TIME_MS
    """The highest order time in this batch so far. Records for internal topics get it, so that a late record stays
    behind the records that it followed, also in another partition."""
    stream_time_ms: int = UNKNOWN_TIME_MS
    """The highest timestamp the task has seen."""
    wall_clock_ms: int = 0
    is_latest: bool = True
    """False while a late version of a table's row is processed: it is history already (KIP-914)."""
    current_key: Any = None
    """The key that a processor of values received."""
    columns: Columns | None = None
    """The columns of the record. None during a punctuation and while held records are released, which no record
    causes."""
    outputs: Outputs = field(default_factory=Outputs)

    def leave_record(self, timestamp_ms: int) -> None:
        """For work that no record causes."""
        self.topic, self.record_partition, self.offset = "", -1, -1
        self.timestamp_ms, self.headers, self.columns = timestamp_ms, NO_HEADERS, None
