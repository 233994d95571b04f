"""What every state store offers its host: its content and its changes as bytes, and loading them again.

All stores hold bytes: a user's function that mutates an aggregate cannot change the store, and a snapshot is just a
copy. Keys of the content are unique; a value None in changes means removed. A store remembers the previous value of
each changed key, and so can roll back to a savepoint.
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
        """The keys changed since the last savepoint, or without one since the last `take_changes`, to their values
        before. None: the key did not exist."""
        self._outer: list[tuple[dict[Any, Any], tuple[Any, ...]]] = []
        """The same for the outer savepoints, and what else has to be restored."""

    @abstractmethod
    def items(self) -> Iterator[Item]:
        """The whole content."""

    @abstractmethod
    def take_changes(self) -> list[Change]:
        """The changes since the last call, each key once with its current value."""

    @abstractmethod
    def load(self, changes: Iterable[Change]) -> None:
        """Applies the items of a snapshot, or changes. They do not count as changes themselves."""

    def savepoint(self) -> None:
        """Sets a savepoint. Savepoints nest."""
        self._outer.append((self._before, self._mark()))
        self._before = {}

    def keep(self) -> None:
        """Keeps the changes since the last savepoint."""
        inner, (outer, _) = self._before, self._outer.pop()
        if outer:
            for place, held in inner.items():
                outer.setdefault(place, held)
        else:
            outer = inner
        self._before = outer

    def rollback(self) -> None:
        """Restores the content as of the last savepoint."""
        changed, (self._before, mark) = self._before, self._outer.pop()
        self.load([self._packed(place, held) for place, held in changed.items()])
        self._put_back(mark)

    @abstractmethod
    def _packed(self, place: Any, held: Any) -> Change:
        """The previous value of a key, in the form for `load`."""

    def _mark(self) -> tuple[Any, ...]:
        """What a savepoint keeps besides the changed keys."""
        return ()

    def _put_back(self, mark: tuple[Any, ...]) -> None:
        assert not mark

    def _take_touched(self) -> dict[Any, Any]:
        """The keys changed since the last `take_changes`."""
        assert not self._outer, "changes are taken between batches"
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
        """Restores the time that `stream_time_ms` returned, after `load`."""
        assert self.stream_time_ms is not None

    @abstractmethod
    def clear(self) -> None:
        """Empties the store, before `load` of an older version."""

    @abstractmethod
    def __len__(self) -> int: ...
