"""Plans batches so that the final results do not depend on how the input is divided into batches.

All partitions of all topics of a topology advance together in record time. A batch that cannot take everything takes
the records before a time T: in each partition, those before the first record at or after T. A task processes records
in the order of their timestamps, the partition with the oldest head first. So a batch takes the beginning of what one
large batch would take. Where no T fits (many records in one millisecond), the partitions are filled one after the
other, in the order in which a task processes equal timestamps.

Pure: a plan is a value, computed from the previous one and the end offsets. `Lookups` answers what only the brokers
know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from moldau.pipeline.spark.planning.shape import InputTopic, Shape
from moldau.pipeline.spark.positions import OffsetRange, Positions, distance, ranges_between

UNKNOWN_SIZE_RECORDS_MAX: Final = 2_000
"""The assumed size of a record in a topic that nothing has been read from."""
FIRST_STEP_MS: Final = 1_000
GOOD_SHARE: Final = 0.5
"""A batch of at least half the limit is good enough: no more requests."""
LOOKUPS_MAX: Final = 64

Place = tuple[str, int]


class Lookups(Protocol):
    def first_at(self, time_ms: int, starts: Positions, ends: Positions) -> Positions:
        """For each partition, the first offset from its start whose record has this timestamp or a later one. Its end
        if there is none."""
        ...

    def oldest_ms(self, starts: Positions, ends: Positions) -> int:
        """A lower bound for the timestamps between the two, apart from out-of-order records."""
        ...


@dataclass(frozen=True)
class Limits:
    """Of one batch. `idle_ms` is Kafka Streams' max.task.idle.ms: how long to wait for an empty partition."""

    records_max: int
    bytes_max: int
    idle_ms: int = 0


@dataclass(frozen=True)
class Plan:
    """What a batch reads, and what the planning of the next one needs."""

    batch_id: int
    starts: Positions
    ends: Positions
    clock_ms: int
    """The wall-clock time of the batch, also when it is repeated."""
    delayed: Mapping[str, tuple[Mapping[int, int], ...]] = field(default_factory=dict)
    """The ends of the coming batches, next first, for topics that are read with a delay."""
    frontier_ms: int = -1
    """All records before this time have been planned."""
    step_ms: int = FIRST_STEP_MS
    woken: tuple[str, ...] = ()
    """Tasks that run without input because a timer is due."""
    advance_ms: int | None = None
    """Stream time advances to this without input."""

    def ranges(self) -> list[OffsetRange]:
        return list(ranges_between(self.starts, self.ends))

    @property
    def has_input(self) -> bool:
        return distance(self.starts, self.ends) > 0

    @property
    def has_more(self) -> bool:
        """Whether there is something to read for the next batch already."""
        return any(later[-1] != self.ends.get(topic, {}) for topic, later in self.delayed.items() if later)


class Planner:
    """Only has state that a new process can do without: the sizes of records, and since when a partition is empty."""

    def __init__(self, shape: Shape, limits: Limits, lookups: Lookups) -> None:
        self._shape = shape
        self._limits = limits
        self._lookups = lookups
        self._users = [place for place in shape.topics if not place.is_internal]
        self._bytes_of: dict[str, float] = {}
        self._empty_since: dict[Place, int] = {}

    def learn_sizes(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        """Topic to records and bytes read recently."""
        for topic, (records, size) in sizes.items():
            if records:
                self._bytes_of[topic] = max(1.0, size / records)

    def unread(self, last: Plan, ends: Positions) -> int:
        return distance(last.ends, ends)

    def next_plan(
        self,
        last: Plan,
        ends: Positions,
        now_ms: int,
        *,
        woken: tuple[str, ...] = (),
        advance_ms: int | None = None,
    ) -> Plan | None:
        """None if there is nothing to do."""
        frontier = {place.topic: self._frontier(place, last) for place in self._users}
        reach, frontier_ms, step_ms = self._reach(last, frontier, _at_least(frontier, ends), now_ms)
        planned: Positions = {}
        delayed: dict[str, tuple[Mapping[int, int], ...]] = {}
        for place in self._shape.topics:
            wanted = _partitions(ends if place.is_internal else reach, place.topic)
            # From an earlier version of the topology it may be longer than needed now.
            queue = [*last.delayed.get(place.topic, ()), wanted][-place.delay - 1 :]
            # A queue that is too short is at its beginning: until it is full, nothing of the topic is read.
            while len(queue) <= place.delay:
                queue.insert(0, last.ends.get(place.topic, {}))
            planned[place.topic] = _not_before(last.ends.get(place.topic, {}), queue[0])
            if place.delay:
                delayed[place.topic] = tuple(queue[1:])
        comes_later = any(one != planned[topic] for topic, queue in delayed.items() for one in queue)
        is_idle = distance(last.ends, planned) == 0 and not comes_later
        if is_idle and not woken and advance_ms is None:
            return None
        return Plan(
            last.batch_id + 1,
            {topic: dict(last.ends.get(topic, {})) for topic in planned},
            planned,
            max(now_ms, last.clock_ms),
            delayed,
            frontier_ms,
            step_ms,
            woken,
            advance_ms,
        )

    def _frontier(self, place: InputTopic, last: Plan) -> dict[int, int]:
        """How far batches have been planned. For a topic with a delay, that is further than they have read."""
        later = last.delayed.get(place.topic)
        return dict(later[-1] if later else last.ends.get(place.topic, {}))

    def _reach(
        self, last: Plan, frontier: Positions, ends: Positions, now_ms: int
    ) -> tuple[Positions, int, int]:
        """The new frontier, its time, and the step of time that led to it."""
        waiting = self._waits(frontier, ends, now_ms)
        if waiting:
            return frontier, last.frontier_ms, last.step_ms
        allowed = self._allowed(frontier, ends)
        total = distance(frontier, ends)
        if total <= allowed:
            return ends, last.frontier_ms, last.step_ms
        if not self._shape.needs_time:
            return _shared(frontier, ends, allowed / total), last.frontier_ms, last.step_ms
        return self._before_a_time(last, frontier, ends, allowed)

    def _allowed(self, frontier: Positions, ends: Positions) -> int:
        """The number of records that also keeps the limit in bytes."""
        behind = {
            topic: distance({topic: frontier.get(topic, {})}, {topic: partitions})
            for topic, partitions in ends.items()
        }
        if any(count and topic not in self._bytes_of for topic, count in behind.items()):
            return min(self._limits.records_max, UNKNOWN_SIZE_RECORDS_MAX)
        total = sum(behind.values())
        size = sum(count * self._bytes_of.get(topic, 0.0) for topic, count in behind.items())
        if not total or size <= self._limits.bytes_max:
            return self._limits.records_max
        return max(1, min(self._limits.records_max, int(self._limits.bytes_max * total / size)))

    def _before_a_time(
        self, last: Plan, frontier: Positions, ends: Positions, allowed: int
    ) -> tuple[Positions, int, int]:
        """About the latest time with no more than `allowed` records before it."""
        began_ms = low_ms = max(last.frontier_ms, self._lookups.oldest_ms(frontier, ends))
        step_ms, high_ms = max(1, last.step_ms), None
        best, best_count = frontier, 0
        for _ in range(LOOKUPS_MAX):
            if high_ms is None:
                tried_ms = low_ms + step_ms
            elif high_ms - low_ms > 1:
                tried_ms = (low_ms + high_ms) // 2
            else:
                break
            found = _at_least(frontier, self._lookups.first_at(tried_ms, frontier, ends))
            count = distance(frontier, found)
            if count > allowed:
                high_ms = tried_ms
                continue
            low_ms, best, best_count = tried_ms, found, count
            if count >= allowed * GOOD_SHARE:
                break
            step_ms *= 2
        if best_count:
            return best, low_ms, max(1, low_ms - began_ms)
        # All remaining records before `high_ms` are of one millisecond, or out of order.
        found = ends if high_ms is None else self._lookups.first_at(high_ms, frontier, ends)
        return self._in_turn(frontier, _at_least(frontier, found), allowed), low_ms, 1

    def _in_turn(self, frontier: Positions, ends: Positions, allowed: int) -> Positions:
        reach: Positions = {topic: dict(partitions) for topic, partitions in frontier.items()}
        for place in self._users:
            for partition, end in sorted(ends.get(place.topic, {}).items()):
                begin = reach.setdefault(place.topic, {}).get(partition, 0)
                taken = min(allowed, end - begin)
                reach[place.topic][partition] = begin + taken
                allowed -= taken
        return reach

    def _waits(self, frontier: Positions, ends: Positions, now_ms: int) -> bool:
        """Whether a partition that has nothing is still waited for, because one it is joined with has something."""
        has = {
            (one.topic, one.partition): one.end_offset > one.start_offset
            for one in ranges_between(frontier, ends)
        }
        waits = False
        for place, found in has.items():
            if found:
                self._empty_since.pop(place, None)
            elif self._limits.idle_ms > 0 and self._partner_has(place, has):
                since_ms = self._empty_since.setdefault(place, now_ms)
                waits = waits or 0 <= now_ms - since_ms < self._limits.idle_ms
        return waits

    def _partner_has(self, place: Place, has: Mapping[Place, bool]) -> bool:
        part_of = {one.topic: one.part for one in self._users}
        topic, partition = place
        return any(
            found and other[1] == partition and part_of.get(other[0]) == part_of.get(topic)
            for other, found in has.items()
        )


def _partitions(positions: Positions, topic: str) -> dict[int, int]:
    return positions.get(topic, {})


def _not_before(starts: Mapping[int, int], ends: Mapping[int, int]) -> dict[int, int]:
    return {
        partition: max(starts.get(partition, 0), ends.get(partition, 0))
        for partition in sorted({*starts, *ends})
    }


def _at_least(starts: Positions, ends: Positions) -> Positions:
    return {topic: _not_before(starts.get(topic, {}), ends.get(topic, {})) for topic in starts}


def _shared(starts: Positions, ends: Positions, share: float) -> Positions:
    """Each partition gets its share of the batch, by how much it has."""
    return {
        topic: {
            partition: starts.get(topic, {}).get(partition, 0)
            + -int(-(end - starts.get(topic, {}).get(partition, 0)) * share // 1)
            for partition, end in partitions.items()
        }
        for topic, partitions in ends.items()
    }
