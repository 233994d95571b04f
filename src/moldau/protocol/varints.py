"""Unsigned variable-length integers (KIP-482): seven bits a byte, lowest first, five bytes at most."""

from typing import Final

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer

BYTES_MAX: Final = 5


def read_unsigned_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """The value and the position after it. IndexError at the end of the buffer."""
    first = buffer[position]
    if first < 0x80:
        return first, position + 1
    return continue_unsigned_varint(buffer, position + 1, first)


def continue_unsigned_varint(buffer: Buffer, position: int, first: int) -> tuple[int, int]:
    """For callers that have already read the first byte and found its top bit set."""
    value = first & 0x7F
    for shift in range(7, 7 * BYTES_MAX, 7):
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise PeerError(f"a variable-length integer before byte {position} is longer than {BYTES_MAX} bytes")


def write_unsigned_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
