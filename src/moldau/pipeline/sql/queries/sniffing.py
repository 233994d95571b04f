"""What format the bytes of a topic are in, as far as records show it, and how they read. Pure."""

import struct
from collections.abc import Callable
from typing import Final

import orjson

WINDOW_BYTES: Final = 8
TIME_MS_MAX: Final = 32_503_680_000_000
"""The year 3000: eight bytes that say more are no time of a window."""
FRAME_BYTES: Final = 5
NULL_TEXT: Final = "<null>"
_SHOWN: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

Read = Callable[[bytes], str | None]
"""The text of the bytes; None: they are in another format."""
Framed = Callable[[bytes], tuple[str, str] | None]
"""Format and text of bytes that begin with the id of a schema in the registry; None: there is no such schema."""


class Sniffer:
    """Of the keys or of the values of a topic. Formats that a record contradicts are no longer possible."""

    def __init__(self, framed: Framed | None, *, is_key: bool) -> None:
        self._framed = framed
        self._possible = list(_KEY_FORMATS if is_key else _FORMATS)
        self._registered: list[str] = []
        self._has_seen = False
        self._is_plain = True

    def text(self, data: bytes | None) -> str:
        """The record's own text, in the first format that is possible."""
        if data is None:
            return NULL_TEXT
        framed = self._framed(data) if self._framed and _is_framed(data) else None
        if framed is not None:
            if framed[0] not in self._registered:
                self._registered.append(framed[0])
            return framed[1]
        texts = {name: text for name in self._possible if (text := _READERS[name](data)) is not None}
        self._has_seen = True
        if not texts:
            self._possible, self._is_plain = [], False
            return data.hex(" ")
        self._possible = [name for name in self._possible if name in texts]
        return texts[self._possible[0]]

    @property
    def formats(self) -> str:
        """Such as `JSON or KAFKA_STRING`."""
        plain = self._possible if self._has_seen else []
        names = [*self._registered, *plain, *([] if self._is_plain else ["UNRECOGNIZED_BYTES"])]
        return " or ".join(names) if names else "¯\\_(ツ)_/¯ - no data processed"


def _is_framed(data: bytes) -> bool:
    return len(data) > FRAME_BYTES and data[0] == 0


def _json(data: bytes) -> str | None:
    if data[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.dumps(orjson.loads(data)).decode()
    except orjson.JSONDecodeError:
        return None


def _string(data: bytes) -> str | None:
    """A text that can be shown, on one line."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    for character, escaped in _SHOWN.items():
        text = text.replace(character, escaped)
    return text if text.isprintable() else None


def _number(layout: str) -> Read:
    pattern = struct.Struct(layout)

    def read(data: bytes) -> str | None:
        """Bytes that are a text as well are rather a text."""
        return str(pattern.unpack(data)[0]) if len(data) == pattern.size and _string(data) is None else None

    return read


def _windowed(inner: Read) -> Read:
    """A tumbling or hopping window: its start follows the key; how long it is, the bytes do not say."""

    def read(data: bytes) -> str | None:
        start_ms = _time(data[-WINDOW_BYTES:]) if len(data) > WINDOW_BYTES else None
        text = None if start_ms is None else inner(data[:-WINDOW_BYTES])
        return None if text is None else f"[{text}@{start_ms}/-]"

    return read


def _session(inner: Read) -> Read:
    def read(data: bytes) -> str | None:
        if len(data) <= 2 * WINDOW_BYTES:
            return None
        end_ms, start_ms = _time(data[-16:-8]), _time(data[-8:])
        if start_ms is None or end_ms is None or start_ms > end_ms:
            return None
        text = inner(data[:-16])
        return None if text is None else f"[{text}@{start_ms}/{end_ms}]"

    return read


def _time(data: bytes) -> int | None:
    (time_ms,) = struct.unpack(">q", data)
    return time_ms if 0 <= time_ms < TIME_MS_MAX else None


_PLAIN: Final[dict[str, Read]] = {
    "JSON": _json,
    "KAFKA_INT": _number(">i"),
    "KAFKA_BIGINT": _number(">q"),
    "KAFKA_DOUBLE": _number(">d"),
    "KAFKA_STRING": _string,
}
_FORMATS: Final = tuple(_PLAIN)
_WINDOWED: Final[dict[str, Read]] = {
    **{f"SESSION({name})": _session(read) for name, read in _PLAIN.items()},
    **{f"HOPPING({name})": _windowed(read) for name, read in _PLAIN.items()},
    **{f"TUMBLING({name})": _windowed(read) for name, read in _PLAIN.items()},
}
_KEY_FORMATS: Final = (*_WINDOWED, *_FORMATS)
_READERS: Final[dict[str, Read]] = {**_PLAIN, **_WINDOWED}
