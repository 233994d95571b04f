"""Records of the processing log, in ksqlDB's JSON, and the statement for the stream over them. Pure."""

import base64
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

import orjson

from moldau.pipeline.sql.types import quoted

HEADER: Final = "__streams.errors."
"""Of the headers that say why a record is among the failed ones."""
CAUSE_MAX: Final = 2_000


class Kind(IntEnum):
    DESERIALIZATION = 0
    RECORD_PROCESSING = 1
    PRODUCTION = 2
    SERIALIZATION = 3
    THREAD = 4


FIELDS: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.DESERIALIZATION: (
        "deserializationError",
        "target VARCHAR, errorMessage VARCHAR, recordB64 VARCHAR, cause ARRAY<VARCHAR>, `topic` VARCHAR",
    ),
    Kind.RECORD_PROCESSING: (
        "recordProcessingError",
        "errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>",
    ),
    Kind.PRODUCTION: ("productionError", "errorMessage VARCHAR"),
    Kind.SERIALIZATION: (
        "serializationError",
        "target VARCHAR, errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>, `topic` VARCHAR",
    ),
    Kind.THREAD: (
        "kafkaStreamsThreadError",
        "errorMessage VARCHAR, threadName VARCHAR, cause ARRAY<VARCHAR>",
    ),
}


def stream_statement(name: str, topic: str) -> str:
    """CREATE STREAM over the log's topic."""
    parts = ", ".join(f"{part} STRUCT<{columns}>" for part, columns in FIELDS.values())
    return (
        f"CREATE STREAM IF NOT EXISTS {quoted(name)} "
        f"(logger VARCHAR, level VARCHAR, time BIGINT, message STRUCT<type INT, {parts}>) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
    )


def entry(logger: str, kind: Kind, now_ms: int, **said: Any) -> bytes:
    message: dict[str, Any] = {"type": int(kind)} | {part: None for part, _ in FIELDS.values()}
    message[FIELDS[kind][0]] = said
    return orjson.dumps({"level": "ERROR", "logger": logger, "time": now_ms, "message": message}, default=str)


def failed_expression(
    query_id: str, text: str, failure: Exception, row: Any, now_ms: int, *, with_row: bool
) -> bytes:
    return entry(
        f"processing.{query_id}",
        Kind.RECORD_PROCESSING,
        now_ms,
        errorMessage=f"{text} failed: {failure}",
        record=orjson.dumps(row, default=str).decode() if with_row and row is not None else None,
        cause=[f"{type(failure).__name__}: {failure}"[:CAUSE_MAX]],
    )


def failed_record(
    query_id: str, headers: Mapping[str, str], value: bytes | None, now_ms: int, *, with_row: bool
) -> bytes:
    """Of a record that the driver could not read or process, by the headers it was given."""
    reason = headers.get(f"{HEADER}message", "")
    topic = headers.get(f"{HEADER}topic", "")
    place = f"{topic}-{headers.get(f'{HEADER}partition')} at offset {headers.get(f'{HEADER}offset')}"
    return entry(
        f"processing.{query_id}.{topic}.source.deserializer",
        Kind.DESERIALIZATION,
        now_ms,
        target="value",
        errorMessage=f"The record {place} cannot be processed: {reason}",
        recordB64=base64.b64encode(value).decode() if with_row and value is not None else None,
        cause=[f"{headers.get(f'{HEADER}exception', '')}: {reason}"[:CAUSE_MAX]],
        topic=topic,
    )
