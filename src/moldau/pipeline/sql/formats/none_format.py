"""NONE: there is nothing to read or write. The key format of streams without a key."""

from collections.abc import Sequence
from typing import Any

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import Column


class NoneRowSerde(Serde):
    """Keys are null. Bytes that are there are ignored."""

    def __init__(self, columns: Sequence[Column]) -> None:
        if columns:
            names = ", ".join(column.name for column in columns)
            raise SqlError(f"the format NONE holds no columns, not {names}", hint="Use KAFKA or JSON.")

    @property
    def name(self) -> str:
        return "none()"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        return _nothing

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return _nothing


def _nothing(_: Any) -> None:
    return None
