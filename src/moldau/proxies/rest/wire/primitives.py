"""The primitives of Kafka's flexible message versions (KIP-482): bytes from values, and values from bytes. Pure."""

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from moldau.core.errors import PeerError

T = TypeVar("T")

NO_TAGS: Final = b"\x00"
VARINT_BITS_MAX: Final = 35


def int8(value: int) -> bytes:
    return struct.pack(">b", value)


def int32(value: int) -> bytes:
    return struct.pack(">i", value)


def compact_string(text: str | None) -> bytes:
    if text is None:
        return b"\x00"
    data = text.encode()
    return _varint(len(data) + 1) + data


def compact_array(items: Iterable[bytes] | None) -> bytes:
    """`items` are encoded already."""
    if items is None:
        return b"\x00"
    encoded = list(items)
    return _varint(len(encoded) + 1) + b"".join(encoded)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Reader:
    """Takes values off the front of an answer. Raises PeerError where the answer ends too early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def bytes(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise PeerError(f"an answer of {len(self._data)} bytes that claims to be longer")
        found = self._data[self._at : end]
        self._at = end
        return found

    def int8(self) -> int:
        return int.from_bytes(self.bytes(1), signed=True)

    def int16(self) -> int:
        return int.from_bytes(self.bytes(2), signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.bytes(4), signed=True)

    def flag(self) -> bool:
        return self.int8() != 0

    def string(self) -> str | None:
        size = self._varint()
        return None if size == 0 else self.bytes(size - 1).decode()

    def text(self) -> str:
        """A string that is not null."""
        return self.string() or ""

    def array(self, item: Callable[["Reader"], T]) -> Sequence[T]:
        """A null array is an empty one."""
        count = max(self._varint() - 1, 0)
        if count > len(self._data):
            raise PeerError(f"an array of {count} entries in an answer of {len(self._data)} bytes")
        return [item(self) for _ in range(count)]

    def skip_tags(self) -> None:
        for _ in range(self._varint()):
            self._varint()
            self.bytes(self._varint())

    def _varint(self) -> int:
        value = shift = 0
        while shift < VARINT_BITS_MAX:
            byte = self.bytes(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise PeerError("a number that is longer than five bytes")
