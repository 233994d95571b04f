"""Splits a TCP stream into messages (RFC 6587): counted octets, or lines. Each message may be sent either way. Pure."""

import re
from typing import Final

MESSAGE_BYTES_MAX: Final = 256 * 1024
COUNT_DIGITS_MAX: Final = 9
_COUNTED: Final = re.compile(rb"([1-9][0-9]{0,8}) <")
_MAY_BE_COUNTED: Final = re.compile(rb"[1-9][0-9]{0,8} ?")
_LINE_END: Final = re.compile(rb"[\n\0]")
_BETWEEN: Final = b"\r\n\0"


class TooLong(Exception):
    """A message announces a length that nobody would send: what follows cannot be told apart."""


class Frames:
    """Of one connection."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete now. Raises TooLong; then the connection is of no more use."""
        rest, place = self._rest + data, 0
        found: list[bytes] = []
        while place < len(rest):
            if rest[place] in _BETWEEN:
                place += 1
                continue
            end = self._end(rest, place, found)
            if end is None:
                break
            place = end
        self._rest = rest[place:]
        return found

    def end(self) -> list[bytes]:
        """What the connection ended in the middle of. A counted message keeps its count: it reads as malformed."""
        rest, self._rest = self._rest.strip(_BETWEEN), b""
        return [rest] if rest else []

    def _end(self, rest: bytes, place: int, found: list[bytes]) -> int | None:
        counted = _COUNTED.match(rest, place)
        if counted:
            start = counted.end() - 1
            length = int(counted[1])
            if length > MESSAGE_BYTES_MAX:
                raise TooLong(f"a message of {length} bytes; the largest has {MESSAGE_BYTES_MAX}")
            if len(rest) < start + length:
                return None
            found.append(rest[start : start + length].rstrip(_BETWEEN))
            return start + length
        if _MAY_BE_COUNTED.fullmatch(rest, place):
            return None
        line_end = _LINE_END.search(rest, place)
        if line_end:
            found.append(rest[place : line_end.start()].rstrip(b"\r"))
            return line_end.end()
        if len(rest) - place < MESSAGE_BYTES_MAX:
            return None
        found.append(rest[place : place + MESSAGE_BYTES_MAX])
        return place + MESSAGE_BYTES_MAX
