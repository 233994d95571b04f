"""A consumer group of a fake cluster: its members, their assignment, and the committed offsets.

Nothing happens in the background: a member learns of a rebalance in its next poll, gives up the partitions it loses
there, and gets new ones once the others have given theirs up in their polls.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from moldau.testing.fakes.fake_log import PartitionKey


@dataclass(eq=False)
class FakeMember:
    member_id: str
    topics: Sequence[str]
    is_cooperative: bool
    owned: set[PartitionKey] = field(default_factory=set)
    target: set[PartitionKey] = field(default_factory=set)
    seen_generation: int = -1
    is_granted: bool = False
    is_expelled: bool = False

    def wants(self, topic: str) -> bool:
        return any(
            re.match(wanted, topic) is not None if wanted.startswith("^") else wanted == topic
            for wanted in self.topics
        )


@dataclass(frozen=True)
class FakeGroupMetadata:
    """What `consumer_group_metadata` returns and `send_offsets_to_transaction` takes."""

    group: str
    member_id: str | None
    generation: int


class Topics(Protocol):
    """The number of partitions of each topic."""

    def __call__(self) -> Mapping[str, int]: ...


class FakeGroup:
    def __init__(self, name: str, topics: Topics) -> None:
        self.name = name
        self.offsets: dict[PartitionKey, int] = {}
        self.metadata: dict[PartitionKey, str] = {}
        self.generation = 0
        self._topics = topics
        self._members: list[FakeMember] = []
        self._joined = 0

    def join(self, topics: Sequence[str], is_cooperative: bool) -> FakeMember:
        self._joined += 1
        member = FakeMember(f"{self.name}-{self._joined}", topics, is_cooperative)
        self._members.append(member)
        self.rebalance()
        return member

    def leave(self, member: FakeMember) -> None:
        if member in self._members:
            self._members.remove(member)
            self.rebalance()

    def has(self, metadata: FakeGroupMetadata) -> bool:
        """No member: a consumer that assigned its partitions itself."""
        if metadata.member_id is None:
            return not self._members
        return any(member.member_id == metadata.member_id for member in self._members)

    def topic_changed(self, topic: str) -> None:
        if any(member.wants(topic) for member in self._members):
            self.rebalance()

    def rebalance(self) -> None:
        """Assigns by range: each member that reads a topic gets a contiguous part of it."""
        self.generation += 1
        for member in self._members:
            member.target = set()
            member.is_granted = False
        for topic, count in sorted(self._topics().items()):
            readers = [member for member in self._members if member.wants(topic)]
            for number, member in enumerate(readers):
                member.target |= _share(topic, count, number, len(readers))

    def losses(self, member: FakeMember) -> set[PartitionKey]:
        """What a member gives up when it learns of a rebalance: everything, unless it cooperates."""
        if member.seen_generation == self.generation:
            return set()
        return member.owned - member.target if member.is_cooperative else set(member.owned)

    def gains(self, member: FakeMember) -> set[PartitionKey] | None:
        """None while others still hold some of it, or when nothing changed."""
        if member.is_granted:
            return None
        wanted = member.target - member.owned
        held = {
            partition_key for other in self._members if other is not member for partition_key in other.owned
        }
        return None if wanted & held else wanted

    def commit(self, offsets: Mapping[PartitionKey, int]) -> None:
        self.offsets.update(offsets)


def _share(topic: str, count: int, number: int, readers: int) -> set[PartitionKey]:
    size, more = divmod(count, readers)
    first = number * size + min(number, more)
    return {(topic, partition) for partition in range(first, first + size + (number < more))}
