"""What clients were told, and what must therefore hold."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Violation(AssertionError):
    """A promise was broken."""


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int


@dataclass
class Transaction:
    values: dict[int, bytes]
    """One value for each partition."""
    committed: bool | None = None
    """None: the producer was never told."""


@dataclass
class History:
    acknowledged: dict[bytes, Place] = field(default_factory=dict)
    """Written with acks=all, and told so."""
    sent: set[bytes] = field(default_factory=set)
    read: dict[Place, bytes] = field(default_factory=dict)
    """What a consumer was given, and where."""
    transactions: list[Transaction] = field(default_factory=list)
    owners: dict[tuple[int, int], str] = field(default_factory=dict)
    """The member that owned a partition of the group in a generation."""

    def acknowledge(self, value: bytes, place: Place) -> None:
        known = self.acknowledged.setdefault(value, place)
        if known != place:
            raise Violation(f"{value!r} was acknowledged at {known} and at {place}")

    def saw(self, place: Place, value: bytes) -> None:
        known = self.read.setdefault(place, value)
        if known != value:
            raise Violation(f"{known!r} was read at {place}, and later {value!r}")

    def owns(self, generation: int, partition: int, member: str) -> None:
        known = self.owners.setdefault((generation, partition), member)
        if known != member:
            raise Violation(
                f"partition {partition} was given to {known} and to {member}, both in generation {generation}"
            )

    def check_final(self, log: dict[tuple[str, int], dict[int, bytes]]) -> None:
        """`log` is what a reader of everything committed finds in the end, by partition and offset."""
        for value, place in self.acknowledged.items():
            found = log[place.topic, place.partition].get(place.offset)
            if found != value:
                raise Violation(f"{value!r} was acknowledged at {place}; in the end {found!r} is there")
        for place, value in self.read.items():
            found = log[place.topic, place.partition].get(place.offset)
            if found != value:
                raise Violation(f"{value!r} was read at {place}; in the end {found!r} is there")
        seen: dict[bytes, tuple[str, int, int]] = {}
        for (topic, partition), records in log.items():
            for offset, value in records.items():
                if value.startswith(b"loose"):
                    continue
                at = seen.setdefault(value, (topic, partition, offset))
                if at != (topic, partition, offset):
                    raise Violation(f"{value!r} is there twice: {at} and {(topic, partition, offset)}")
        for transaction in self.transactions:
            there = [value in seen for value in transaction.values.values()]
            if any(there) != all(there):
                raise Violation(f"half of a transaction is there: {transaction.values} {there}")
            if transaction.committed is not None and any(there) != transaction.committed:
                raise Violation(f"{transaction} was told, but found otherwise: {there}")
