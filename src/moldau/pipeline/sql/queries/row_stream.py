"""What a running query gives: rows in batches as they come, then an end with its reason.

One side is the query, in its own threads: `offer` and `finish`. The other is one reader, in an event loop
(`async for`) or in a thread (`read`). The queue between them is bounded: `offer` says when it is full, and the query
then pauses.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, Final, Self

from moldau.pipeline.sql.types import SqlType

ROWS_MAX: Final = 1_000
"""Rows that wait for the reader. A batch is taken whole, so that a few more can wait."""

Row = tuple[Any, ...]


class Tombstone(tuple[Any, ...]):
    """A row that says that a table's row is deleted: the columns of the key have values, all others are None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ResultColumn:
    name: str
    type: SqlType
    is_key: bool = False
    """Whether it is one of the key's columns."""


class EndReason(Enum):
    LIMIT = "Limit Reached"
    COMPLETE = "Query Completed"
    CLOSED = "Query Closed"
    FAILED = "Query Failed"


@dataclass(frozen=True, slots=True)
class End:
    reason: EndReason
    error: BaseException | None = None
    """Why it failed: a SqlError where the statement or a table is the reason."""

    @property
    def message(self) -> str:
        return self.reason.value if self.error is None else str(self.error)


CLOSED: Final = End(EndReason.CLOSED)
COMPLETE: Final = End(EndReason.COMPLETE)


def _nothing() -> None:
    pass


class RowStream:
    """`async for batch in stream` gives lists of rows; when it ends, `stream.end` says why."""

    def __init__(
        self,
        columns: Iterable[ResultColumn],
        *,
        query_id: str = "",
        limit: int | None = None,
        counts_tombstones: bool = True,
        rows_max: int = ROWS_MAX,
    ) -> None:
        """`counts_tombstones`: whether the reader shows them, so that they count for the limit."""
        self.columns = tuple(columns)
        self.query_id = query_id
        self.on_close: Callable[[], None] = _nothing
        """Called once when the stream has ended, for whatever reason. Frees what the query holds."""
        self.on_room: Callable[[], None] = _nothing
        """Called when the reader has made room after `offer` had said that there is none."""
        self._rows_max = rows_max
        self._left = limit
        self._counts_tombstones = counts_tombstones
        self._rows: deque[Any] = deque()
        self._end: End | None = None
        self._was_full = False
        self._changed = threading.Condition()
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    # The reader's side

    @property
    def end(self) -> End | None:
        """None while the query runs. Rows may still wait to be read."""
        return self._end

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[Any]:
        while True:
            rows, future = self._take_or_wait()
            if rows:
                return rows
            if future is None:
                raise StopAsyncIteration
            try:
                await future
            finally:
                with self._changed:
                    self._waiter = None

    def read(self, timeout_s: float | None = None) -> list[Any] | None:
        """The rows that wait, for a reader in a thread. An empty list after the timeout, None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._rows or self._end is not None, timeout_s)
            rows, had_no_room = self._take()
            if not rows and self._end is not None:
                return None
        if had_no_room:
            self.on_room()
        return rows

    def close(self) -> None:
        """Ends the query. Rows that wait are dropped. A second call does nothing."""
        self.finish(CLOSED)
        with self._changed:
            self._rows.clear()
            self._changed.notify_all()

    # The query's side

    def offer(self, rows: Iterable[Row]) -> bool:
        """Returns whether there is room for more. Rows beyond the limit are dropped, and the stream ends."""
        with self._changed:
            if self._end is not None:
                return False
            if self._left is None:
                self._rows.extend(rows)
            else:
                shown = (
                    rows if self._counts_tombstones else (row for row in rows if type(row) is not Tombstone)
                )
                taken = list(islice(shown, self._left))
                self._rows.extend(taken)
                self._left -= len(taken)
            has_room = len(self._rows) < self._rows_max
            self._was_full = self._was_full or not has_room
            is_over = self._left == 0
            self._wake()
        if is_over:
            self.finish(End(EndReason.LIMIT))
        return has_room and not is_over

    def finish(self, end: End) -> None:
        """Only the first end counts."""
        with self._changed:
            if self._end is not None:
                return
            self._end = end
            self._wake()
        self.on_close()

    @property
    def has_room(self) -> bool:
        return len(self._rows) < self._rows_max

    def wait_for_room(self) -> bool:
        """Blocks the query's thread until the reader has made room. False: the stream has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self.has_room or self._end is not None)
            return self._end is None

    # Both

    def _take(self) -> tuple[list[Any], bool]:
        rows = list(self._rows)
        self._rows.clear()
        had_no_room, self._was_full = self._was_full and bool(rows), False
        self._changed.notify_all()
        return rows, had_no_room

    def _take_or_wait(self) -> tuple[list[Any], "asyncio.Future[None] | None"]:
        """Rows; or a future that is done when there is something; or neither at the end."""
        with self._changed:
            rows, had_no_room = self._take()
            if not rows:
                if self._end is not None:
                    return [], None
                loop = asyncio.get_running_loop()
                future: asyncio.Future[None] = loop.create_future()
                self._waiter = (loop, future)
                return [], future
        if had_no_room:
            self.on_room()
        return rows, None

    def _wake(self) -> None:
        self._changed.notify_all()
        waiter, self._waiter = self._waiter, None
        if waiter is None:
            return
        loop, future = waiter
        try:
            loop.call_soon_threadsafe(_done, future)
        except RuntimeError:
            self._rows.clear()  # the reader's loop is closed


def _done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
