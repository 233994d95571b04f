"""Cuts a stream of bytes into packets. Keeps what is incomplete, up to a limit."""

from typing import Final

from moldau.proxies.mqtt.codec.primitives import MalformedPacket
from moldau.proxies.mqtt.codec.reason_codes import Reason

Frame = tuple[int, bytes]
"""The first byte of a packet, and its body."""
FIXED_HEADER_MAX: Final = 5


class FrameReader:
    """`feed` takes bytes as they arrive. A length above the limit is refused before the bytes arrive."""

    __slots__ = ("_bytes_max", "_needed", "_rest", "failure")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._rest: bytes | bytearray = b""
        self._needed = 2
        """So many bytes must be there before it is worth trying."""
        self.failure: MalformedPacket | None = None
        """What follows the packets returned last is none."""

    def feed(self, data: bytes) -> list[Frame]:
        """The packets that are complete now."""
        if self.failure is not None:
            return []
        if self._rest:
            data = self._join(data)
            if not data:
                return []
        frames: list[Frame] = []
        position, end = 0, len(data)
        self._needed = 2
        while end - position >= 2:
            length = data[position + 1]
            start = position + 2
            if length > 0x7F:
                try:
                    found = self._long_length(data, position, end)
                except MalformedPacket as failure:
                    self.failure = failure
                    return frames
                if found is None:
                    break
                length, start = found
            stop = start + length
            if stop > end:
                self._needed = stop - position
                if self._needed > self._bytes_max:
                    self.failure = self._too_large(self._needed)
                    return frames
                break
            frames.append((data[position], data[start:stop]))
            position = stop
        self._rest = data[position:]
        return frames

    def set_limit(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max

    def _join(self, data: bytes) -> bytes:
        """Of a large packet that arrives in small pieces each is copied once."""
        if isinstance(self._rest, bytes):
            self._rest = bytearray(self._rest)
        rest = self._rest
        rest += data
        if len(rest) < self._needed:
            return b""
        self._rest = b""
        return bytes(rest)

    def _long_length(self, data: bytes, position: int, end: int) -> tuple[int, int] | None:
        """A remaining length of two to four bytes, and where the body starts; None if it is incomplete."""
        length = shift = 0
        at = position + 1
        while at < end:
            byte = data[at]
            length |= (byte & 0x7F) << shift
            at += 1
            if byte < 0x80:
                if byte == 0 and shift:
                    raise MalformedPacket("the remaining length is longer than its value needs")
                if at - position + length > self._bytes_max:
                    raise self._too_large(at - position + length)
                return length, at
            shift += 7
            if shift > 21:
                raise MalformedPacket("the remaining length has more than four bytes")
        return None

    def _too_large(self, size: int) -> MalformedPacket:
        return MalformedPacket(
            f"a packet of {size} bytes is larger than the limit of {self._bytes_max}", Reason.PACKET_TOO_LARGE
        )
