"""Encoded answers to equal requests, until the cluster's metadata changes.

A client fleet asks for the same metadata again and again; ten thousand partitions take tens of milliseconds to
encode and microseconds to send again.
"""

from collections.abc import Callable, Hashable
from typing import Final

CACHED_BYTES_MAX: Final = 16 * 1024 * 1024


class AnswerCache:
    def __init__(self, metadata_epoch: Callable[[], int]) -> None:
        self._metadata_epoch = metadata_epoch
        self._epoch = metadata_epoch()
        self._bodies: dict[Hashable, bytes] = {}
        self._bytes = 0

    def find(self, key: Hashable) -> bytes | None:
        if self._epoch != self._metadata_epoch():
            self._forget()
        return self._bodies.get(key)

    def remember(self, key: Hashable, body: bytes) -> None:
        if self._epoch != self._metadata_epoch() or self._bytes + len(body) > CACHED_BYTES_MAX:
            self._forget()
        self._bodies[key] = body
        self._bytes += len(body)

    def _forget(self) -> None:
        self._bodies.clear()
        self._bytes = 0
        self._epoch = self._metadata_epoch()
