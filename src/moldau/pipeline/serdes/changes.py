"""The change of a regrouped table, (new value, old value), as the value of one record (KIP-904)."""

from typing import Any

from moldau.pipeline.serdes.framing import pack_frames, unpack_frames
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde


class ChangeSerde(Serde):
    def __init__(self, inner: Serde) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return f"change({self.inner.name})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        encode = self.inner.encoder(topic, is_key=is_key)
        return lambda change: pack_frames([encode(change[0]), encode(change[1])])

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        decode = self.inner.decoder(topic, is_key=is_key)

        def decode_change(data: bytes | None) -> Any:
            new, old = unpack_frames(data or b"")
            return decode(new), decode(old)

        return decode_change
