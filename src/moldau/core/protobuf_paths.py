"""Which message of a Protobuf schema a record is: the path that Confluent's serializers write after the schema's id.

A path is the index of a message in its file, then that of a message within it, and so on. Its count and its indexes are
zigzag varints; the most common path, the first message, is a single zero byte.
"""

from collections.abc import Sequence
from typing import Any, Final

FIRST: Final = (0,)
DEPTH_MAX: Final = 64
VARINT_BITS_MAX: Final = 35


def write_path(path: Sequence[int]) -> bytes:
    if tuple(path) == FIRST:
        return b"\x00"
    return b"".join(_zigzag(number) for number in (len(path), *path))


def read_path(data: bytes, at: int = 0) -> tuple[tuple[int, ...], int]:
    """The path, and where the message begins. Raises ValueError."""
    count, at = _unzigzag(data, at)
    if count == 0:
        return FIRST, at
    if not 0 < count <= DEPTH_MAX:
        raise ValueError(f"its frame names a message {count} levels deep")
    found = []
    for _ in range(count):
        number, at = _unzigzag(data, at)
        found.append(number)
    return tuple(found), at


def message_at(top: Sequence[Any], path: Sequence[int]) -> Any:
    """The descriptor; `top` are those of the file. Raises ValueError if there is none."""
    here, found = top, None
    for index in path:
        if not 0 <= index < len(here):
            raise ValueError(f"its frame names message {list(path)}, which the schema does not have")
        found = here[index]
        here = found.nested_types
    return found


def path_of(descriptor: Any, top: Sequence[Any]) -> list[int]:
    """The path of a message whose file has `top`."""
    found: list[int] = []
    while descriptor is not None:
        parent = descriptor.containing_type
        siblings = parent.nested_types if parent else top
        found.insert(0, [each.full_name for each in siblings].index(descriptor.full_name))
        descriptor = parent
    return found


def _zigzag(number: int) -> bytes:
    value, out = number << 1, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _unzigzag(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < VARINT_BITS_MAX:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("its frame ends before the message does")
