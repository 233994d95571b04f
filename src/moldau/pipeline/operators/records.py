"""What goes into a task and what comes out of it: records as columns, records as rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
NO_HEADERS: Headers = ()


@dataclass(slots=True)
class Columns:
    """Records of one partition in the order of their offsets. `headers` None: no record has any."""

    topic: str
    partition: int
    offsets: Sequence[int]
    timestamps_ms: Sequence[int]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    headers: Sequence[Headers] | None = None

    def __len__(self) -> int:
        return len(self.offsets)


class OutputRecord(NamedTuple):
    """`partition` None: Kafka's default partitioner decides (murmur2 of the key)."""

    topic: str
    partition: int | None
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = NO_HEADERS


class DeadRecord(NamedTuple):
    """A record that could not be read or processed, and why."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    reason: str
    trace: str


@dataclass(slots=True)
class Outputs:
    records: list[OutputRecord] = field(default_factory=list)
    dead: list[DeadRecord] = field(default_factory=list)
