"""What every state store can do for its host: tell its content and its changes as bytes, and take them back.

All stores speak bytes: an aggregate that a user's function mutates cannot reach back into the store, and a snapshot
needs no more than a copy. Keys of the content are unique; values None in changes mean removed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

Item = tuple[bytes, bytes]
Change = tuple[bytes, bytes | None]


class Store(ABC):
    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def items(self) -> Iterator[Item]:
        """The whole content."""

    @abstractmethod
    def take_changes(self) -> list[Change]:
        """What changed since the last call, each key once with its present value."""

    @abstractmethod
    def load(self, changes: Iterable[Change]) -> None:
        """Applies items of a snapshot, or changes since; none of it counts as a change of its own."""

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
