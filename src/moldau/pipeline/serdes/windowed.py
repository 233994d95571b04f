"""Keys of windowed tables, byte for byte as Kafka's windowed serializers write them."""

import struct
from typing import Any

from moldau.pipeline.plan.windows import Windowed
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde

_START = struct.Struct(">q")
_SESSION = struct.Struct(">qq")


class TimeWindowedSerde(Serde):
    """The inner key, then the window's start (8 bytes). Both sides know the size."""

    def __init__(self, inner: Serde, size_ms: int) -> None:
        self.inner = inner
        self.size_ms = size_ms

    @property
    def name(self) -> str:
        return f"time-windowed({self.inner.name}, {self.size_ms} ms)"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        inner, start = self.inner.encoder(topic, is_key=is_key), _START.pack

        def encode(windowed: Any) -> bytes | None:
            return None if windowed is None else (inner(windowed[0]) or b"") + start(windowed[1])

        return encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        inner, size_ms = self.inner.decoder(topic, is_key=is_key), self.size_ms

        def decode(data: bytes | None) -> Any:
            if data is None:
                return None
            (start_ms,) = _START.unpack(data[-8:])
            return Windowed(inner(data[:-8]), start_ms, start_ms + size_ms)

        return decode


class SessionWindowedSerde(Serde):
    """The inner key, then the session's end and start (8 bytes each)."""

    def __init__(self, inner: Serde) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return f"session-windowed({self.inner.name})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        inner, pack = self.inner.encoder(topic, is_key=is_key), _SESSION.pack

        def encode(windowed: Any) -> bytes | None:
            if windowed is None:
                return None
            return (inner(windowed[0]) or b"") + pack(windowed[2], windowed[1])

        return encode

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        inner = self.inner.decoder(topic, is_key=is_key)

        def decode(data: bytes | None) -> Any:
            if data is None:
                return None
            end_ms, start_ms = _SESSION.unpack(data[-16:])
            return Windowed(inner(data[:-16]), start_ms, end_ms)

        return decode
