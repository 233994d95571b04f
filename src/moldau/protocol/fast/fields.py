"""Reads and writes the fields that Produce and Fetch share: strings, topic keys and tagged fields.

Readers take the length as an argument: callers read it together with the fields before it.
"""

import struct
from typing import Final

from moldau.core.errors import PeerError
from moldau.protocol.varints import continue_unsigned_varint, read_unsigned_varint, write_unsigned_varint

TopicKey = str | bytes
"""A name, or a 16-byte id in versions that use ids (KIP-516)."""

_STRING_BYTES_MAX: Final = 0x7FFF
_int16: Final = struct.Struct(">h")


def read_string(frame: memoryview, position: int, size: int, end: int) -> tuple[str, int]:
    stop = position + size
    if size < 0 or stop > end:
        raise bad_size("a string", size, end - position)
    return str(frame[position:stop], "utf-8"), stop


def read_compact_string(frame: memoryview, position: int, end: int) -> tuple[str, int]:
    text, position = read_compact_nullable_string(frame, position, end)
    if text is None:
        raise PeerError("a string is null where that is not allowed")
    return text, position


def read_compact_nullable_string(frame: memoryview, position: int, end: int) -> tuple[str | None, int]:
    n = frame[position]
    position += 1
    if not n:
        return None, position
    if n > 0x7F:
        n, position = continue_unsigned_varint(frame, position, n)
    stop = position + n - 1
    if stop > end or n > _STRING_BYTES_MAX + 1:
        raise bad_size("a string", n - 1, end - position)
    return str(frame[position:stop], "utf-8"), stop


def skip_tags(frame: memoryview, position: int, count: int, end: int) -> int:
    """The position after tagged fields that are not used here; `count` is the byte before `position`."""
    if count > 0x7F:
        count, position = continue_unsigned_varint(frame, position, count)
    if count * 2 > end - position:
        raise bad_count("tagged fields", count, end - position)
    for _ in range(count):
        _, position = read_unsigned_varint(frame, position)
        size, position = read_unsigned_varint(frame, position)
        if size > end - position:
            raise bad_size("a tagged field", size, end - position)
        position += size
    return position


def write_string(out: bytearray, text: str | None) -> None:
    if text is None:
        out += b"\xff\xff"
    else:
        data = text.encode()
        out += _int16.pack(len(data))
        out += data


def write_compact_string(out: bytearray, text: str | None) -> None:
    if text is None:
        out.append(0)
    else:
        data = text.encode()
        write_unsigned_varint(out, len(data) + 1)
        out += data


def write_topic_key(out: bytearray, key: TopicKey) -> None:
    """For flexible versions."""
    if isinstance(key, str):
        write_compact_string(out, key)
    else:
        out += key


def bad_count(what: str, count: int, left: int) -> PeerError:
    return PeerError(f"{count} {what} are claimed, which cannot fit in the {left} bytes left")


def bad_size(what: str, size: int, left: int) -> PeerError:
    return PeerError(f"{what} claims {size} bytes where {left} are left")
