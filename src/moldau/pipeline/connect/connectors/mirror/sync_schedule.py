"""Says which offset syncs to write. Pure.

A task does not learn the offset of each record it has written. It knows where the target's partition ended before a
transaction, so the n-th record of the transaction is n offsets behind that, or further. Where nobody else writes to the
partition, that is exactly where it is. Where somebody does, it is further, and a sync that says less is safe: a group
that moves reads some records again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from moldau.pipeline.connect.connectors.mirror.formats import OffsetSync

DELAY_MS: Final = 1_000
"""How long the position of a partition may stay unreported that has moved by less than `offset.lag.max`."""

Place = tuple[str, int]
"""Topic and partition in the source."""


class SyncSchedule:
    def __init__(self, lag_max: int, *, is_countable: bool) -> None:
        """`is_countable` False: records may be left out on their way, so only the first one's offset is known."""
        self._lag_max = max(lag_max, 1)
        self._is_countable = is_countable
        self._reported: dict[Place, int] = {}
        """The last downstream offset in a sync."""
        self._due: list[OffsetSync] = []
        self._delayed: dict[Place, OffsetSync] = {}
        self._delayed_until_ms: int | None = None

    def wrote(self, offsets: Mapping[Place, Sequence[int]], began: Mapping[Place, int], now_ms: int) -> None:
        """Of a transaction that is committed: the source's offsets that were written, in their order, and where the
        target's partitions ended before."""
        for place, upstream in offsets.items():
            if upstream and place in began:
                self._wrote(place, upstream, began[place])
        if self._delayed and self._delayed_until_ms is None:
            self._delayed_until_ms = now_ms + DELAY_MS

    def take_due(self, now_ms: int) -> list[OffsetSync]:
        """The syncs to write now."""
        if self._delayed_until_ms is not None and now_ms >= self._delayed_until_ms:
            for place, sync in self._delayed.items():
                self._reported[place] = sync.downstream
                self._due.append(sync)
            self._delayed, self._delayed_until_ms = {}, None
        due, self._due = self._due, []
        return due

    def _wrote(self, place: Place, upstream: Sequence[int], began: int) -> None:
        topic, partition = place
        last = len(upstream) - 1 if self._is_countable else 0
        index = self._first_index(place, began)
        while index < last:
            self._report(OffsetSync(topic, partition, upstream[index], began + index))
            index += self._lag_max
        sync = OffsetSync(topic, partition, upstream[last], began + last)
        if index == last:
            self._report(sync)
            self._delayed.pop(place, None)
        else:
            self._delayed[place] = sync

    def _first_index(self, place: Place, began: int) -> int:
        """The first record that is too far from what was reported."""
        reported = self._reported.get(place)
        if reported is None or began < reported:
            return 0
        return max(0, reported + 1 + self._lag_max - began)

    def _report(self, sync: OffsetSync) -> None:
        self._reported[sync.topic, sync.partition] = sync.downstream
        self._due.append(sync)
