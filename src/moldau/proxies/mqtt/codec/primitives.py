"""The types of MQTT's wire (1.5): integers, variable byte integers, strings and binary data."""

from typing import Final

from moldau.core.errors import PeerError
from moldau.proxies.mqtt.codec.reason_codes import Reason

VARINT_MAX: Final = 268_435_455
"""Four bytes with seven bits each."""
TEXT_BYTES_MAX: Final = 65_535


class MalformedPacket(PeerError):
    """The peer sent what is no packet. Its connection is closed, with the reason where the version has one."""

    def __init__(
        self, text: str, reason: Reason = Reason.MALFORMED_PACKET, version: int | None = None
    ) -> None:
        super().__init__(text)
        self.reason = reason
        self.version = version
        """Of the CONNECT that could not be read; None if it is not known."""


class Cursor:
    """Reads the body of a packet from the front."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int = 0, end: int | None = None) -> None:
        self.data = data
        self.position = position
        self.end = len(data) if end is None else end

    def has_more(self) -> bool:
        return self.position < self.end

    def u8(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def varint(self) -> int:
        """Raises MalformedPacket for more than four bytes, and for more bytes than the value needs [MQTT-1.5.5-1]."""
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    raise MalformedPacket("a variable byte integer is longer than its value needs")
                return value
            shift += 7
            if shift > 21:
                raise MalformedPacket("a variable byte integer has more than four bytes")

    def binary(self) -> bytes:
        return self.take(self.u16())

    def text(self) -> str:
        return text_of(self.take(self.u16()))

    def take(self, size: int) -> bytes:
        start = self.position
        stop = start + size
        if stop > self.end:
            raise MalformedPacket(f"the packet ends {stop - self.end} bytes too early")
        self.position = stop
        return self.data[start:stop]

    def rest(self) -> bytes:
        start, self.position = self.position, self.end
        return self.data[start : self.end]

    def expect_end(self) -> None:
        if self.position != self.end:
            raise MalformedPacket(f"the packet has {self.end - self.position} bytes too many")


def text_of(data: bytes) -> str:
    """Raises MalformedPacket for what is not UTF-8, surrogates, and U+0000 [MQTT-1.5.3-1, MQTT-1.5.3-2]."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise MalformedPacket(f"a string is not UTF-8: {error.reason} at byte {error.start}") from None
    if "\0" in text:
        raise MalformedPacket("a string contains U+0000")
    return text


def varint_bytes(value: int) -> bytes:
    if not 0 <= value <= VARINT_MAX:
        raise ValueError(f"{value} is no variable byte integer: 0 to {VARINT_MAX}")
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def binary_bytes(data: bytes) -> bytes:
    if len(data) > TEXT_BYTES_MAX:
        raise ValueError(f"{len(data)} bytes do not fit into a field of {TEXT_BYTES_MAX}")
    return len(data).to_bytes(2, "big") + data


def text_bytes(text: str) -> bytes:
    return binary_bytes(text.encode())
