"""KAFKA: one column, in the bytes of Kafka's own serializers."""

from collections.abc import Sequence
from typing import Any, Final

from moldau.pipeline.serdes.primitives import BYTES as BYTES_SERDE
from moldau.pipeline.serdes.primitives import DOUBLE as DOUBLE_SERDE
from moldau.pipeline.serdes.primitives import INT, LONG
from moldau.pipeline.serdes.primitives import STRING as STRING_SERDE
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, BYTES, DOUBLE, INTEGER, STRING, TIMESTAMP, Column, SqlType

SERDES: Final[dict[SqlType, Serde]] = {
    INTEGER: INT,
    BIGINT: LONG,
    DOUBLE: DOUBLE_SERDE,
    STRING: STRING_SERDE,
    BYTES: BYTES_SERDE,
    TIMESTAMP: LONG,
}


class KafkaRowSerde(Serde):
    def __init__(self, columns: Sequence[Column]) -> None:
        if len(columns) > 1:
            names = ", ".join(column.name for column in columns)
            raise SqlError(f"the format KAFKA holds one column, not {names}", hint="Use JSON or AVRO.")
        kind = columns[0].type if columns else None
        inner = None if kind is None else SERDES.get(kind)
        if kind is not None and inner is None:
            known = ", ".join(map(str, SERDES))
            raise SqlError(f"the format KAFKA does not hold a {kind}", hint=f"It holds {known}.")
        self._inner = inner

    @property
    def name(self) -> str:
        return "kafka()" if self._inner is None else f"kafka({self._inner.name})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        if self._inner is None:
            return lambda row: None
        encode = self._inner.encoder(topic, is_key=is_key)
        return lambda row: None if row is None else encode(row[0])

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        if self._inner is None:
            return lambda data: None
        decode = self._inner.decoder(topic, is_key=is_key)

        def decoded(data: bytes | None) -> Any:
            return None if data is None else (decode(data),)

        return decoded
