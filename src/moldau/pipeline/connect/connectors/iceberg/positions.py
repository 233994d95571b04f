"""How far a task has got in each topic partition, and whether that is the topic whose offsets the tables have. Pure.

A table leaves out records whose offsets it has. If the topic was deleted and made again, or lost its last records,
that would leave out new ones, so two things are failures: offsets that go back, and a table with offsets beyond the
topic's end. The second is tried out: when a partition gives nothing more below the table's offset, the task asks for
the records from there. If there are some, it goes back to where it was; if others come, the topic ends before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moldau.pipeline.connect.api import ConnectError, Offsets, TopicPartition


@dataclass(slots=True)
class _Doubt:
    end: int
    """A table has the records below."""
    at: int
    """Behind the last record that has come."""
    is_asked: bool = False
    """The records from `end` on have been asked for."""
    passed: int | None = None
    """The last one of them that has come. The records from `at` on have been asked for."""


class Positions:
    def __init__(self, connector: str) -> None:
        self._connector = connector
        self._first: Offsets = {}
        self._next: Offsets = {}
        self._doubts: dict[TopicPartition, _Doubt] = {}
        self._reached: Offsets = {}
        """Up to where the topics are known to have records."""
        self._failed: set[tuple[TopicPartition, int]] = set()
        self._is_repeated = False
        self.asked: Offsets = {}
        """From where the task wants records. Emptied by it."""

    def begin(self, places: Iterable[tuple[TopicPartition, int]]) -> None:
        """A `put` of these records, which is repeated if the last one failed with the first of them."""
        self._is_repeated = next(iter(places), None) in self._failed

    def failed(self, places: Iterable[tuple[TopicPartition, int]]) -> None:
        self._failed = set(places)

    def ended(self) -> None:
        self._failed.clear()

    def takes(self, place: TopicPartition, offset: int) -> bool:
        """Whether the record is a new one. Raises ConnectError if the topic cannot be the one that it was."""
        doubt = self._doubts.get(place)
        if doubt is not None and doubt.is_asked and self._is_passed(place, offset, doubt):
            return False
        following = self._next.get(place)
        if following is None:
            self._first[place] = offset
        elif offset < following:
            if self._is_repeated:
                return False
            raise ConnectError(
                f"After the record {following - 1} of {place.topic}-{place.partition} came the record {offset}: "
                f"{self._advice()}"
            )
        return True

    def took(self, place: TopicPartition, offset: int) -> None:
        self._next[place] = offset + 1

    def flushed(
        self, offsets: Mapping[TopicPartition, int], ends: Iterable[Mapping[TopicPartition, int]]
    ) -> Offsets:
        """`offsets` are where the reading is, `ends` what tables have. Answers limits for what is committed: nothing is
        while in doubt."""
        for place, at in offsets.items():
            if place not in self._next:
                continue
            doubt = self._doubts.get(place)
            if doubt is None:
                end = max((one.get(place, 0) for one in ends), default=0)
                if max(at, self._reached.get(place, 0)) < end:
                    self._doubts[place] = _Doubt(end, at)
            elif not doubt.is_asked:
                if at >= doubt.end:
                    del self._doubts[place]
                elif at == doubt.at:
                    doubt.is_asked = True
                    self.asked[place] = doubt.end
                else:
                    doubt.at = at
        return {place: self._first[place] for place in self._doubts}

    def forget(self, places: Iterable[TopicPartition]) -> None:
        for place in places:
            for one in (self._first, self._next, self._doubts, self._reached, self.asked):
                one.pop(place, None)

    def _is_passed(self, place: TopicPartition, offset: int, doubt: _Doubt) -> bool:
        """Whether it comes again."""
        if doubt.passed is None:
            if offset < doubt.end:
                raise ConnectError(
                    f"A table has the records of {place.topic}-{place.partition} up to {doubt.end - 1}, and the topic "
                    f"ends before: {self._advice()}"
                )
            self.asked[place] = doubt.at
            doubt.passed = offset
            return True
        if offset > doubt.passed or self._is_repeated:
            doubt.passed = max(offset, doubt.passed)
            return True
        self._reached[place] = doubt.end
        del self._doubts[place]
        return False

    def _advice(self) -> str:
        return (
            "the topic was deleted and made again, or has lost records. Tables leave out records below the offsets "
            f"that they keep for the connector {self._connector}: create it under another name, and it writes the "
            "topic from its beginning"
        )
