"""Packs several byte strings, some of them None, into one."""

import struct
from collections.abc import Iterable

_LENGTH = struct.Struct(">i")


def pack_frames(parts: Iterable[bytes | None]) -> bytes:
    """Each part follows its length. Length -1 is None."""
    out = bytearray()
    for part in parts:
        if part is None:
            out += _LENGTH.pack(-1)
        else:
            out += _LENGTH.pack(len(part))
            out += part
    return bytes(out)


def unpack_frames(data: bytes) -> list[bytes | None]:
    parts: list[bytes | None] = []
    at = 0
    while at < len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        at += 4
        if length < 0:
            parts.append(None)
        else:
            parts.append(data[at : at + length])
            at += length
    return parts
