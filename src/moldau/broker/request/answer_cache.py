"""Caches encoded answers by request until the cluster's metadata changes.

A fleet of clients asks for the same metadata again and again. Ten thousand partitions take tens of
milliseconds to encode, and microseconds to send again.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

CACHED_BYTES_MAX: Final = 16 * 1024 * 1024
ANSWERS_MAX: Final = 1000
REQUEST_BYTES_MAX: Final = 4096
"""Longer requests are not cached: hardly any two are equal."""


class AnswerKey(NamedTuple):
    """Everything an answer depends on, besides the metadata."""

    api_key: int
    version: int
    request: bytes
    listener: str
    local_host: str


class AnswerCache:
    def __init__(self, metadata_epoch: Callable[[], int]) -> None:
        self._metadata_epoch = metadata_epoch
        self._epoch = metadata_epoch()
        self._bodies: dict[AnswerKey, bytes] = {}
        self._bytes = 0

    def find(self, key: AnswerKey) -> bytes | None:
        if self._epoch != self._metadata_epoch():
            self._forget()
        return self._bodies.get(key)

    def remember(self, key: AnswerKey, body: bytes) -> None:
        if len(key.request) > REQUEST_BYTES_MAX or len(body) > CACHED_BYTES_MAX:
            return
        is_full = self._bytes + len(body) > CACHED_BYTES_MAX or len(self._bodies) == ANSWERS_MAX
        if is_full or self._epoch != self._metadata_epoch():
            self._forget()
        self._bodies[key] = body
        self._bytes += len(body)

    def _forget(self) -> None:
        self._bodies.clear()
        self._bytes = 0
        self._epoch = self._metadata_epoch()
