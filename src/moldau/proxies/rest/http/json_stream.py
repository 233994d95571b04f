"""Takes a stream of JSON objects apart, one after the other, with or without line breaks between them. Pure."""

import re
from typing import Final

import orjson

TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]"]', re.DOTALL)
BLANK: Final = b" \t\r\n,\x1e"
"""What may stand between objects: also commas, and the record separator of RFC 7464."""
OPENING: Final = b"{["


class BrokenStream(ValueError):
    """What comes is no object. Nothing after it can be understood. `complete` are the objects before it."""

    def __init__(self, words: str, complete: list[bytes]) -> None:
        super().__init__(words)
        self.complete = complete


class JsonSplitter:
    """`feed` returns the objects that are complete. Raises BrokenStream, after which it is not used any more."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._buffer = b""
        self._scanned = 0
        self._depth = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Objects, as bytes. They are balanced, and not necessarily JSON."""
        buffer = self._buffer + data if self._buffer else data
        found: list[bytes] = []
        start, at, depth = 0, self._scanned, self._depth
        tried = 0
        while True:
            if depth == 0:
                while at < len(buffer) and buffer[at] in BLANK:
                    at += 1
                start = at
                if at < len(buffer) and buffer[at : at + 1] != b"{":
                    raise BrokenStream(f"a record begins with {{, not with {buffer[at : at + 10]!r}", found)
                if at >= tried:
                    # Most clients send an object on each line. The rest of a line that is none is scanned.
                    tried = buffer.find(b"\n", at) + 1 or len(buffer)
                    line = buffer[at:tried].rstrip(BLANK)
                    if _is_object(line):
                        found.append(line)
                        at = start = tried
                        continue
            token = TOKEN.search(buffer, at)
            if token is None:
                at = len(buffer)
                break
            text = token[0]
            if text == b'"':
                # A string that is not complete yet, or the backslash of an escape is its last byte.
                at = token.start()
                break
            at = token.end()
            if len(text) == 1:
                depth += 1 if text in OPENING else -1
                if depth == 0:
                    found.append(buffer[start:at])
        if len(buffer) - start > self._bytes_max:
            raise BrokenStream(
                f"a record is larger than {self._bytes_max:,} bytes (stream.record.max.bytes)", found
            )
        self._buffer, self._scanned, self._depth = buffer[start:], at - start, depth
        return found

    def end(self) -> None:
        """Raises BrokenStream if the last object is not complete."""
        if self._depth or self._buffer.strip(BLANK):
            raise BrokenStream("the stream ends within a record", [])


def _is_object(data: bytes) -> bool:
    """Of something that begins with a brace."""
    if not data.endswith(b"}"):
        return False
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True
