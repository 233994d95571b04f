"""What every state store can do for its host: tell its content and its changes as bytes, and take them back.

All stores speak bytes: an aggregate that a user's function mutates cannot reach back into the store, and a snapshot
needs no more than a copy. Keys of the content are unique; values None in changes mean removed. A store remembers what
each place held before it was first changed, and so goes back to a savepoint.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

Item = tuple[bytes, bytes]
Change = tuple[bytes, bytes | None]


class Store(ABC):
    def __init__(self, name: str) -> None:
        self.name = name
        self._before: dict[Any, Any] = {}
        """What each place held at the last savepoint, None for nothing; of those changed since. Without a savepoint:
        when changes were last told."""
        self._outer: list[tuple[dict[Any, Any], tuple[Any, ...]]] = []
        """The same of the savepoints around the last, and what else there is to put back to it."""

    @abstractmethod
    def items(self) -> Iterator[Item]:
        """The whole content."""

    @abstractmethod
    def take_changes(self) -> list[Change]:
        """What changed since the last call, each key once with its present value."""

    @abstractmethod
    def load(self, changes: Iterable[Change]) -> None:
        """Applies items of a snapshot, or changes since; none of it counts as a change of its own."""

    def savepoint(self) -> None:
        """Begins a stretch of changes that can be put back; savepoints nest."""
        self._outer.append((self._before, self._mark()))
        self._before = {}

    def keep(self) -> None:
        """Keeps what was changed since the last savepoint."""
        inner, (outer, _) = self._before, self._outer.pop()
        if outer:
            for place, held in inner.items():
                outer.setdefault(place, held)
        else:
            outer = inner
        self._before = outer

    def rollback(self) -> None:
        """Puts everything back as it was at the last savepoint."""
        changed, (self._before, mark) = self._before, self._outer.pop()
        self.load([self._packed(place, held) for place, held in changed.items()])
        self._put_back(mark)

    @abstractmethod
    def _packed(self, place: Any, held: Any) -> Change:
        """What a place held, as `load` takes it."""

    def _mark(self) -> tuple[Any, ...]:
        """What a savepoint keeps beside the changed places."""
        return ()

    def _put_back(self, mark: tuple[Any, ...]) -> None:
        assert not mark

    def _take_touched(self) -> dict[Any, Any]:
        """The places changed since changes were last told."""
        assert not self._outer, "changes are told between batches"
        touched, self._before = self._before, {}
        return touched

    def _forget_changes(self) -> None:
        self._before = {}
        self._outer = []

    @property
    def stream_time_ms(self) -> int | None:
        """The latest time the store has seen, where its retention depends on it."""
        return None

    def advance(self, stream_time_ms: int) -> None:
        """Takes the time back that `stream_time_ms` told, after `load`."""
        assert self.stream_time_ms is not None

    @abstractmethod
    def clear(self) -> None:
        """Empties the store, before `load` of an older version."""

    @abstractmethod
    def __len__(self) -> int: ...
