"""The rows of files in the order in which they were records of one topic partition. Pure but for the opening of files.

Files of one chunk overlap: each folder has some of its records. The next row is that with the lowest offset; a
file is opened when the rows before it are through.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.files.envelope import is_envelope
from moldau.pipeline.connect.data.header_texts import Typed


class Source(NamedTuple):
    """A file to replay."""

    path: str
    size: int
    first_offset: int
    topic: str
    partition: int | None
    skipped: int
    """Rows that have been delivered before."""


@dataclass(slots=True)
class Row:
    source: Source
    number: int
    """Counted from 1."""
    typed: Typed
    is_envelope: bool
    is_last: bool
    """Of its file."""

    @property
    def offset(self) -> int:
        """In the topic. Where rows do not have it: no higher than it was, and in order."""
        if self.is_envelope:
            return int(self.typed.value["offset"])
        return self.source.first_offset + self.number - 1


class Unreadable(Exception):
    """A file is broken, or in another format than its name says."""

    def __init__(self, source: Source, number: int, wrong: Exception) -> None:
        super().__init__(f"Row {number} of {source.path} cannot be read: {wrong!r}")
        self.source = source


Open = Callable[[Source], Iterator[Typed]]


def rows_in_order(sources: Iterable[Source], open_source: Open) -> Iterator[Row]:
    waiting = deque(sorted(sources, key=lambda one: (one.first_offset, one.path)))
    heads: list[tuple[int, str, Row, Iterator[Row]]] = []
    while waiting or heads:
        while waiting and (not heads or waiting[0].first_offset <= heads[0][0]):
            _push(heads, _rows(waiting.popleft(), open_source))
        if heads:
            _, _, row, rest = heapq.heappop(heads)
            yield row
            _push(heads, rest)


def _push(heads: list[tuple[int, str, Row, Iterator[Row]]], rows: Iterator[Row]) -> None:
    row = next(rows, None)
    if row is not None:
        heapq.heappush(heads, (row.offset, row.source.path, row, rows))


def _rows(source: Source, open_source: Open) -> Iterator[Row]:
    found = open_source(source)
    number, typed = 1, next(found, None)
    has_envelope = typed is not None and is_envelope(typed.schema, typed.value)
    while typed is not None:
        following, failure = None, None
        try:
            following = next(found, None)
        except (Unreadable, ConnectError) as failed:
            failure = failed
        if number > source.skipped:
            yield Row(source, number, typed, has_envelope, following is None and failure is None)
        if failure is not None:
            raise failure
        number, typed = number + 1, following
