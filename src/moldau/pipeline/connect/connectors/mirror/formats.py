"""The records of MirrorMaker's own topics: offset syncs, checkpoints, heartbeats.

Integers are big-endian, texts have their length in two bytes before them. Values of checkpoints and heartbeats begin
with a version, which is 0.
"""

import struct
from typing import Final, NamedTuple, Self

from moldau.core.errors import MoldauError

VERSION: Final = 0
_VERSION: Final = struct.Struct(">h")
_TWO_OFFSETS: Final = struct.Struct(">qq")
_LENGTH: Final = struct.Struct(">h")
_PARTITION: Final = struct.Struct(">i")
_TIME: Final = struct.Struct(">q")


class Unreadable(MoldauError):
    """The bytes are no record of this kind."""


class OffsetSync(NamedTuple):
    """The record at `upstream` of a source's partition was written to `downstream`, or behind it."""

    topic: str
    partition: int
    upstream: int
    downstream: int

    def key(self) -> bytes:
        return _text(self.topic) + _PARTITION.pack(self.partition)

    def value(self) -> bytes:
        return _TWO_OFFSETS.pack(self.upstream, self.downstream)

    @classmethod
    def of(cls, key: bytes, value: bytes) -> Self:
        names, found = _Bytes(key), _Bytes(value)
        return cls(names.text(), names.one(_PARTITION), found.one(_TIME), found.one(_TIME))


class Checkpoint(NamedTuple):
    """A group that has committed `upstream` at the source continues at `downstream` of the target's topic."""

    group: str
    topic: str
    """Its name in the target."""
    partition: int
    upstream: int
    downstream: int
    metadata: str

    def key(self) -> bytes:
        return _text(self.group) + _text(self.topic) + _PARTITION.pack(self.partition)

    def value(self) -> bytes:
        return (
            _VERSION.pack(VERSION) + _TWO_OFFSETS.pack(self.upstream, self.downstream) + _text(self.metadata)
        )

    @classmethod
    def of(cls, key: bytes, value: bytes) -> Self:
        names, found = _Bytes(key), _Bytes(value)
        found.version()
        group, topic, partition = names.text(), names.text(), names.one(_PARTITION)
        return cls(group, topic, partition, found.one(_TIME), found.one(_TIME), found.text())


class Heartbeat(NamedTuple):
    source: str
    target: str
    timestamp_ms: int

    def key(self) -> bytes:
        return _text(self.source) + _text(self.target)

    def value(self) -> bytes:
        return _VERSION.pack(VERSION) + _TIME.pack(self.timestamp_ms)

    @classmethod
    def of(cls, key: bytes, value: bytes) -> Self:
        names, found = _Bytes(key), _Bytes(value)
        found.version()
        return cls(names.text(), names.text(), found.one(_TIME))


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _LENGTH.pack(len(encoded)) + encoded


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def one(self, form: struct.Struct) -> int:
        try:
            (found,) = form.unpack_from(self._content, self._place)
        except struct.error:
            raise Unreadable(f"a record of MirrorMaker ends after {len(self._content)} bytes") from None
        self._place += form.size
        return int(found)

    def text(self) -> str:
        length = self.one(_LENGTH)
        found = self._content[self._place : self._place + length]
        if length < 0 or len(found) < length:
            raise Unreadable(f"a record of MirrorMaker has a text of {length} bytes in {len(self._content)}")
        self._place += length
        try:
            return found.decode()
        except UnicodeDecodeError as wrong:
            raise Unreadable(f"a text in a record of MirrorMaker is not UTF-8: {wrong}") from None

    def version(self) -> None:
        found = self.one(_VERSION)
        if found != VERSION:
            raise Unreadable(f"a record of MirrorMaker has version {found}; known is {VERSION}")
