"""Translates offsets of a source into offsets of its mirror. Pure.

Offsets of the two differ: transaction markers, compaction and retention leave gaps. What is known are syncs, pairs of
offsets of the same record. An offset is translated by the last sync at or before it, and at most one offset further
than that: what follows may have been left out of the mirror. So a group that moves reads some records again, but never
misses one.

There may be millions of syncs. Groups are mostly near the end, so of the syncs at a distance of 2^n to 2^(n+1) from the
last one, only the first and the last are kept.
"""

from collections.abc import Iterable
from typing import Final

from moldau.pipeline.connect.connectors.mirror.formats import OffsetSync

TOO_OLD: Final = -1
"""The offset lies before everything that is known."""

Pair = tuple[int, int]
"""Upstream and downstream offset."""


class PartitionTranslation:
    """Of one partition of the source. Upstream offsets only grow; if one does not, the topic was created again."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        self._pairs: list[Pair] = []
        """From the last to the first."""

    def take(self, upstream: int, downstream: int) -> None:
        if self._pairs and upstream < self._pairs[0][0]:
            self._pairs = []
        elif self._pairs and upstream == self._pairs[0][0]:
            del self._pairs[0]
        self._pairs = _thinned([(upstream, downstream), *self._pairs])

    def translate(self, upstream: int) -> int | None:
        """The offset to continue at; TOO_OLD if it cannot be said; None if nothing is known yet."""
        if not self._pairs:
            return None
        for known, downstream in self._pairs:
            if known <= upstream:
                return downstream if known == upstream else downstream + 1
        return TOO_OLD

    def __len__(self) -> int:
        return len(self._pairs)


class OffsetTranslation:
    """Of all partitions of a source."""

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, int], PartitionTranslation] = {}

    def take(self, syncs: Iterable[OffsetSync]) -> None:
        for one in syncs:
            place = one.topic, one.partition
            self._partitions.setdefault(place, PartitionTranslation()).take(one.upstream, one.downstream)

    def translate(self, topic: str, partition: int, upstream: int) -> int | None:
        found = self._partitions.get((topic, partition))
        return None if found is None else found.translate(upstream)


def _thinned(pairs: list[Pair]) -> list[Pair]:
    """Keeps the first and the last of each power of two. `pairs` go from the last to the first."""
    end = pairs[0][0]
    distances = [(end - upstream).bit_length() for upstream, _ in pairs]
    last = len(pairs) - 1
    return [
        pair
        for index, pair in enumerate(pairs)
        if index == 0
        or index == last
        or distances[index] != distances[index - 1]
        or distances[index] != distances[index + 1]
    ]
