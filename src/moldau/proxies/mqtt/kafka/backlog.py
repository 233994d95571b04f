"""How much is on its way to Kafka. Above the limit nothing more is read from any client, until half has arrived."""

from collections.abc import Callable


class Backlog:
    """`on_full` and `on_room` take turns."""

    __slots__ = ("_bytes_max", "_on_full", "_on_room", "bytes", "is_full")

    def __init__(self, bytes_max: int, on_full: Callable[[], None], on_room: Callable[[], None]) -> None:
        self._bytes_max = bytes_max
        self._on_full = on_full
        self._on_room = on_room
        self.bytes = 0
        self.is_full = False

    def add(self, size: int) -> None:
        self.bytes += size
        if self.bytes > self._bytes_max and not self.is_full:
            self.is_full = True
            self._on_full()

    def remove(self, size: int) -> None:
        self.bytes -= size
        if self.is_full and self.bytes * 2 < self._bytes_max:
            self.is_full = False
            self._on_room()
