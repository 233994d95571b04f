"""The committed offsets of all groups of a shard, and the pending offsets of open transactions.

Changed only by `replay`. Knows nothing of members: deciders check who may commit or delete.
"""

from collections.abc import Iterator
from typing import NamedTuple

from moldau.broker.group.facts import OffsetCommitted, OffsetFact, OffsetRemoved, TransactionEnded
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.core.ids import NO_PRODUCER_ID, ProducerId


class OffsetKey(NamedTuple):
    group_id: str
    topic: str
    partition: int


class _Stored(NamedTuple):
    committed: CommittedOffset
    sequence: int
    """Its position in the log among all commits: of a plain and a transactional one the later counts."""


class Offsets:
    def __init__(self) -> None:
        self._by_group: dict[str, dict[str, dict[int, _Stored]]] = {}
        self._pending: dict[ProducerId, dict[OffsetKey, _Stored]] = {}
        self._open_by_group: dict[str, set[ProducerId]] = {}
        self._sequence = 0

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        stored = self._by_group.get(group_id, {}).get(topic, {}).get(partition)
        return stored and stored.committed

    def offset(self, group_id: str, topic: str, partition: int) -> int | None:
        committed = self.get(group_id, topic, partition)
        return None if committed is None else committed.offset

    def of_group(self, group_id: str) -> Iterator[tuple[str, int, CommittedOffset]]:
        for topic, partitions in self._by_group.get(group_id, {}).items():
            for partition, stored in partitions.items():
                yield topic, partition, stored.committed

    def group_ids(self) -> set[str]:
        """Groups with offsets, pending ones included."""
        return self._by_group.keys() | self._open_by_group.keys()

    def has_any(self, group_id: str) -> bool:
        return group_id in self._by_group or group_id in self._open_by_group

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        key = OffsetKey(group_id, topic, partition)
        producers = self._open_by_group.get(group_id, ())
        return any(key in self._pending[producer_id] for producer_id in producers)

    def has_open_transactions(self, group_id: str) -> bool:
        return group_id in self._open_by_group

    def pending_of_group(self, group_id: str) -> Iterator[OffsetKey]:
        for producer_id in self._open_by_group.get(group_id, ()):
            yield from (key for key in self._pending[producer_id] if key.group_id == group_id)

    def pending_of_producer(self, producer_id: ProducerId) -> Iterator[tuple[OffsetKey, CommittedOffset]]:
        for key, stored in self._pending.get(producer_id, {}).items():
            yield key, stored.committed

    def replay(self, fact: OffsetFact) -> None:
        match fact:
            case OffsetCommitted():
                self._commit(fact)
            case OffsetRemoved(group_id, topic, partition):
                self._remove(OffsetKey(group_id, topic, partition))
            case TransactionEnded(producer_id, committed):
                self._end(producer_id, committed)

    def _commit(self, fact: OffsetCommitted) -> None:
        self._sequence += 1
        key = OffsetKey(fact.group_id, fact.topic, fact.partition)
        stored = _Stored(fact.committed, self._sequence)
        if fact.producer_id == NO_PRODUCER_ID:
            self._put(key, stored)
        else:
            self._pending.setdefault(fact.producer_id, {})[key] = stored
            self._open_by_group.setdefault(fact.group_id, set()).add(fact.producer_id)

    def _put(self, key: OffsetKey, stored: _Stored) -> None:
        self._by_group.setdefault(key.group_id, {}).setdefault(key.topic, {})[key.partition] = stored

    def _remove(self, key: OffsetKey) -> None:
        topics = self._by_group.get(key.group_id, {})
        partitions = topics.get(key.topic, {})
        partitions.pop(key.partition, None)
        if not partitions:
            topics.pop(key.topic, None)
        if not topics:
            self._by_group.pop(key.group_id, None)
        for producer_id in list(self._open_by_group.get(key.group_id, ())):
            pending = self._pending[producer_id]
            pending.pop(key, None)
            if not any(other.group_id == key.group_id for other in pending):
                self._close(key.group_id, producer_id)

    def _end(self, producer_id: ProducerId, committed: bool) -> None:
        pending = self._pending.pop(producer_id, {})
        for group_id in {key.group_id for key in pending}:
            self._close(group_id, producer_id)
        if not committed:
            return
        for key, stored in pending.items():
            before = self._by_group.get(key.group_id, {}).get(key.topic, {}).get(key.partition)
            if before is None or stored.sequence > before.sequence:
                self._put(key, stored)

    def _close(self, group_id: str, producer_id: ProducerId) -> None:
        producers = self._open_by_group[group_id]
        producers.discard(producer_id)
        if not producers:
            del self._open_by_group[group_id]
