"""One query's way through its topics: where it is, whether it is live, and what becomes of a batch.

A reader is in the hands of one thread at a time: `History` while it catches up, `Tail` while it is live, nobody while
its client has no room. That thread calls `take`.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from moldau.pipeline.operators.failures import FAILURES
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.serdes.serde import ServiceAway
from moldau.pipeline.sql.queries.messages import Place, cut
from moldau.pipeline.sql.queries.row_stream import End, EndReason, RowStream

WAITING_BATCHES_MAX: Final = 20
"""Live batches that wait until a reader has caught up. With more it reads on by itself, and tries again."""

Take = Callable[[Sequence[Columns]], list[Any]]
"""From records to rows."""


class Stage(Enum):
    HISTORY = "catches up"
    LIVE = "is live"
    FULL = "waits for its client"
    OVER = "is over"


class Reader:
    def __init__(
        self,
        stream: RowStream,
        take: Take,
        positions: Mapping[Place, int],
        *,
        first_topics: Collection[str] = (),
        stops: Mapping[Place, int] | None = None,
        is_ordered: bool = False,
    ) -> None:
        """`first_topics` are read to their end before all others: tables that records are joined with. `stops`: where
        reading ends; None: it does not end. `is_ordered`: partitions are merged by time."""
        self.stream = stream
        self.positions = dict(positions)
        self.stops = stops
        self.first_topics = set(first_topics)
        self.is_ordered = is_ordered
        self.stage = Stage.HISTORY
        self._take: Take | None = take
        self._lock = threading.Lock()
        self._waiting: list[list[Columns]] = []
        self.has_to_wait = False
        """A service that a format needs, such as the schema registry, does not answer."""
        self.missed = False
        """Live batches were dropped, so it has to read on by itself."""

    @property
    def topics(self) -> set[str]:
        return {topic for topic, _ in self.positions}

    @property
    def is_over(self) -> bool:
        return self.stage is Stage.OVER

    @property
    def is_at_stop(self) -> bool:
        return self.stops is not None and all(
            self.positions[place] >= offset for place, offset in self.stops.items()
        )

    def take(self, batch: Sequence[Columns]) -> bool:
        """Processes what is new of a batch. Returns whether the reader shall get more."""
        take = self._take
        if take is None:
            return False
        fresh = [part for columns in batch if len(part := self._new_part(columns))]
        if not fresh:
            return True
        try:
            rows = take(fresh)
        except ServiceAway:
            self.has_to_wait = True
            return False
        except FAILURES as failure:
            self.fail(failure)
            return False
        self.has_to_wait = False
        for columns in fresh:
            self.positions[columns.topic, columns.partition] = columns.offsets[-1] + 1
        return not rows or self.stream.offer(rows)

    def take_live(self, batch: list[Columns]) -> bool:
        """The same for the tail's thread. While the reader catches up, the batch waits for it."""
        with self._lock:
            if self.stage is Stage.HISTORY:
                self.missed = self.missed or len(self._waiting) >= WAITING_BATCHES_MAX
                if self.missed:
                    self._waiting.clear()
                else:
                    self._waiting.append(batch)
                return not self.missed
            if self.stage is not Stage.LIVE:
                return False
        return self.take(batch)

    def expect_live_batches(self) -> None:
        with self._lock:
            self._waiting.clear()
            self.missed = False

    def go_live(self) -> bool:
        """It has all that was before the live batches: takes those that wait, then becomes live. Returns False if its
        client has no room, or if it has missed batches."""
        while True:
            with self._lock:
                waiting, self._waiting = self._waiting, []
                if self.missed or self.stage is not Stage.HISTORY:
                    return False
                if not waiting:
                    self.stage = Stage.LIVE
                    return True
            for batch in waiting:
                if not self.take(batch):
                    return False

    def move_to(self, stage: Stage, *, of: Collection[Stage]) -> bool:
        """Returns False if it is in none of these stages."""
        with self._lock:
            if self.stage not in of:
                return False
            self.stage = stage
            self._waiting.clear()
            self.missed = False
            return True

    def fail(self, failure: BaseException) -> None:
        self.stream.finish(End(EndReason.FAILED, failure))

    def release(self) -> None:
        """The stream has ended: gives back what the query holds."""
        with self._lock:
            self.stage = Stage.OVER
            self._waiting.clear()
        self._take = None

    def _new_part(self, columns: Columns) -> Columns:
        """Without what it has seen, and without what is behind the stop."""
        place = columns.topic, columns.partition
        position = self.positions.get(place)
        if position is None:
            return cut(columns, 0, 0)
        offsets = columns.offsets
        start = 0 if offsets[0] >= position else bisect_left(offsets, position)
        end = len(offsets)
        if self.stops is not None and offsets[-1] >= self.stops[place]:
            end = bisect_left(offsets, self.stops[place])
        return columns if (start, end) == (0, len(offsets)) else cut(columns, start, end)
