"""The input and the output of a task: records as columns, records as rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
NO_HEADERS: Headers = ()


@dataclass(slots=True)
class Columns:
    """Records of one partition in the order of their offsets. `headers` None: no record has any.

    `order_ms`: order times, by which the partitions of a task are merged; None: the timestamps. `writer`: the task that
    wrote the records, if a partition is read as several queues, one for each writer.
    """

    topic: str
    partition: int
    offsets: Sequence[int]
    timestamps_ms: Sequence[int]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    headers: Sequence[Headers] | None = None
    order_ms: Sequence[int] | None = None
    writer: str = ""

    def __len__(self) -> int:
        return len(self.offsets)

    def slices(self, records: int) -> Iterator["Columns"]:
        """The same, a number of records at a time."""
        for start in range(0, len(self), records):
            part = slice(start, start + records)
            yield replace(
                self,
                offsets=self.offsets[part],
                timestamps_ms=self.timestamps_ms[part],
                keys=self.keys[part],
                values=self.values[part],
                headers=self.headers and self.headers[part],
                order_ms=self.order_ms and self.order_ms[part],
            )


class OutputRecord(NamedTuple):
    """`partition` None: Kafka's default partitioner decides (murmur2 of the key). `order_ms`: the order time of the
    input record, for a record for an internal topic."""

    topic: str
    partition: int | None
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = NO_HEADERS
    order_ms: int = -1


class DeadRecord(NamedTuple):
    """A record that could not be read, processed or written, and why.

    With offset -1 it is not from the input: a record that an operator held back (`topic` is the operator's name, key
    and value are from its store), or an output of a punctuation that the broker rejected (`topic` is the output topic).
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    reason: str
    trace: str


LATE: Final = "late"
NULL_KEY: Final = "null key"
NULL_VALUE: Final = "null value"
EXPIRED: Final = "expired"
SKIPPED: Final = "skipped"
NEGATIVE_TIMESTAMP: Final = "negative timestamp"


@dataclass(slots=True)
class Dropped:
    """How many records an operator has dropped for one reason, and the largest lateness among them."""

    count: int = 0
    late_ms_max: int = 0


@dataclass(slots=True)
class Outputs:
    records: list[OutputRecord] = field(default_factory=list)
    dead: list[DeadRecord] = field(default_factory=list)
    dropped: dict[tuple[str, str], Dropped] = field(default_factory=dict)
    """By (node, reason). As in Kafka Streams, a record that is late for several windows counts once for each."""

    def drop(self, node: str, reason: str, late_ms: int = 0) -> None:
        dropped = self.dropped.get((node, reason))
        if dropped is None:
            dropped = self.dropped[node, reason] = Dropped()
        dropped.count += 1
        dropped.late_ms_max = max(dropped.late_ms_max, late_ms)

    def add(self, other: "Outputs") -> None:
        """Appends later outputs."""
        self.records += other.records
        self.dead += other.dead
        for place, more in other.dropped.items():
            dropped = self.dropped.setdefault(place, Dropped())
            dropped.count += more.count
            dropped.late_ms_max = max(dropped.late_ms_max, more.late_ms_max)
