"""Composite keys of window and session stores, byte for byte as in Kafka's changelog topics; values with their time."""

import struct

_WINDOW = struct.Struct(">qi")
_SESSION = struct.Struct(">qq")
_TIME = struct.Struct(">q")


def window_key(key: bytes, start_ms: int, sequence: int = 0) -> bytes:
    return key + _WINDOW.pack(start_ms, sequence)


def split_window_key(data: bytes) -> tuple[bytes, int, int]:
    """Key, start and sequence number."""
    start_ms, sequence = _WINDOW.unpack(data[-12:])
    return data[:-12], start_ms, sequence


def session_key(key: bytes, start_ms: int, end_ms: int) -> bytes:
    return key + _SESSION.pack(end_ms, start_ms)


def split_session_key(data: bytes) -> tuple[bytes, int, int]:
    """Key, start and end."""
    end_ms, start_ms = _SESSION.unpack(data[-16:])
    return data[:-16], start_ms, end_ms


def timed(value: bytes, timestamp_ms: int) -> bytes:
    """A value after its timestamp, as in Kafka's timestamped stores."""
    return _TIME.pack(timestamp_ms) + value


def split_timed(data: bytes) -> tuple[bytes, int]:
    return data[8:], _TIME.unpack_from(data)[0]
