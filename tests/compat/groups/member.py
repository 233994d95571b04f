"""What the tests ask of a member of a group, in the tests' own words.

A member polls by itself, from a thread of its own, until it is told to stop or to leave. `confluent_member` and
`java_member` do it, each with its library; failures are ClientFailure with Kafka's name of the error.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from compat.groups.waiting import wait_until

Place = tuple[str, int]
"""Topic and partition."""
Committed = tuple[int, str]
"""Offset and metadata."""
MEMBER_SETTINGS = {
    "session.timeout.ms": "10000",
    # Members learn of a rebalance from the answer to a heartbeat.
    "heartbeat.interval.ms": "100",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": "false",
    "fetch.max.wait.ms": "50",
    "retry.backoff.ms": "50",
}
CLASSIC, CONSUMER = "classic", "consumer"
"""The two group protocols."""
SAID_BY_THE_BROKER = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
"""In the consumer protocol (KIP-848), whose clients refuse to be told."""


@dataclass(frozen=True)
class Event:
    kind: str
    """assigned, revoked or lost."""
    places: frozenset[Place]


@dataclass(frozen=True)
class Got:
    place: Place
    offset: int
    value: bytes


class Member(Protocol):
    name: str
    """Its `client.id`; member ids begin with it, so members sort by it too, which is what assignors do."""

    @property
    def assignment(self) -> frozenset[Place]: ...

    @property
    def events(self) -> Sequence[Event]: ...

    @property
    def got(self) -> Sequence[Got]: ...

    @property
    def failures(self) -> Sequence[str]: ...

    @property
    def member_id(self) -> str: ...

    def commit(self, offsets: Mapping[Place, Committed]) -> None: ...

    def committed(self, places: Collection[Place]) -> dict[Place, Committed]: ...

    def stop_polling(self) -> None: ...

    def poll_again(self) -> None: ...

    def leave(self) -> None:
        """Closes the consumer; a static member stays in the group."""


class Library(Protocol):
    """A client library with which members are opened."""

    name: str
    assignors: Mapping[str, str]
    """By Kafka's names, what the library calls each that it has."""
    protocol: str
    """Of the members, unless their settings say another."""

    def open(self, name: str, group: str, topics: Sequence[str], settings: Mapping[str, str]) -> Member:
        """A topic that begins with ^ is a pattern."""


def member_settings(name: str, group: str, protocol: str, settings: Mapping[str, str]) -> dict[str, str]:
    identity = {"client.id": name, "group.id": group}
    return for_protocol(protocol, MEMBER_SETTINGS | identity | dict(settings))


def for_protocol(protocol: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Those a member may have; `protocol` is for where they do not say which."""
    chosen = {"group.protocol": protocol, **settings}
    if chosen["group.protocol"] == CONSUMER:
        chosen = {key: value for key, value in chosen.items() if key not in SAID_BY_THE_BROKER}
    return chosen


def wait_for_assignments(wanted: Mapping[Member, Collection[Place]]) -> None:
    """Until each member has exactly these."""

    def told() -> str:
        return "; ".join(f"{member.name} {sorted(member.assignment)}" for member in wanted)

    try:
        wait_until(
            lambda: all(member.assignment == set(places) for member, places in wanted.items()),
            "the assignment",
        )
    except TimeoutError:
        raise AssertionError(f"the assignment is {told()}") from None


def wait_for_sizes(
    members: Sequence[Member],
    sizes: Sequence[int],
    places: Collection[Place],
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Until every place belongs to exactly one member and so many members have so many; the order does not count."""

    def shared() -> bool:
        meanwhile()
        held = [place for member in members for place in member.assignment]
        counts = sorted(len(member.assignment) for member in members)
        return sorted(held) == sorted(places) and counts == sorted(sizes)

    try:
        wait_until(shared, "the partitions are shared out")
    except TimeoutError:
        told = "; ".join(f"{member.name} {sorted(member.assignment)}" for member in members)
        raise AssertionError(f"the assignment is {told}") from None


def wait_for_records(members: Collection[Member], count: int) -> list[Got]:
    """What all of them got together, once it is so many."""
    wait_until(lambda: sum(len(member.got) for member in members) >= count, f"{count} records")
    return [got for member in members for got in member.got]
