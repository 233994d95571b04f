"""History of several partitions in the order of time, so that a join or a window sees it as it happened. Pure.

As Kafka Streams does: records wait until every partition that has more to come shows how far it is.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from moldau.pipeline.operators.records import Columns
from moldau.pipeline.sql.queries.messages import Place, cut

HELD_MAX: Final = 5_000
"""Records of one partition. A partition that is ahead is not read on before the others have come up to it."""
LAST: Final = 2**63


class TimeMerge:
    def __init__(self, places: Iterable[Place]) -> None:
        self._held: dict[Place, deque[Columns]] = {place: deque() for place in places}
        self._ends: dict[Place, int] = {}
        """Partitions that have been read to their end, and the offset there."""

    def add(self, batch: Iterable[Columns], ends: dict[Place, int]) -> None:
        for columns in batch:
            self._held[columns.topic, columns.partition].append(columns)
        self._ends.update(ends)

    def released(self) -> list[Columns]:
        """What no record to come is older than, as far as partitions are in the order of time themselves."""
        shown = [
            max(held[-1].timestamps_ms) if held else -1
            for place, held in self._held.items()
            if place not in self._ends
        ]
        bound_ms = min(shown, default=LAST)
        return [part for held in self._held.values() for part in _up_to(held, bound_ms)]

    def passed_ends(self) -> dict[Place, int]:
        """The ends of the partitions that hold nothing back."""
        return {place: offset for place, offset in self._ends.items() if not self._held[place]}

    def too_far_ahead(self) -> set[Place]:
        return {place for place, held in self._held.items() if sum(map(len, held)) > HELD_MAX}


def _up_to(held: deque[Columns], bound_ms: int) -> Iterable[Columns]:
    """Takes the records from the front that are not later. One behind a later one waits for it."""
    while held:
        columns = held[0]
        count = bisect_right(list(accumulate(columns.timestamps_ms, max)), bound_ms)
        if count == 0:
            return
        if count == len(columns):
            yield held.popleft()
            continue
        held[0] = cut(columns, count, len(columns))
        yield cut(columns, 0, count)
        return
