"""What a task knows about the record it is at: the context of the user's processors and of every operator."""

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
    """The highest order time the task has met in this batch; what is made now for a topic of the application bears
    it. A late record keeps its place behind what it followed, also where that goes to another partition."""
    stream_time_ms: int = UNKNOWN_TIME_MS
    """The highest timestamp the task has seen."""
    wall_clock_ms: int = 0
    is_latest: bool = True
    """False while a version of a table's row that came late makes its way: it is history already (KIP-914)."""
    current_key: Any = None
    """The key a processor of values was given."""
    columns: Columns | None = None
    """Those the record came in; None while something happens for no record's sake: a punctuation, or the release of
    what was held back."""
    outputs: Outputs = field(default_factory=Outputs)

    def leave_record(self, timestamp_ms: int) -> None:
        """What happens now is not done to a record."""
        self.topic, self.record_partition, self.offset = "", -1, -1
        self.timestamp_ms, self.headers, self.columns = timestamp_ms, NO_HEADERS, None
