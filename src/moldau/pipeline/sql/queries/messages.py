"""What a consumer returns, sorted: records by partition, ends of partitions, and errors of topics."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError

from moldau.pipeline.operators.records import NO_HEADERS, Columns

MESSAGES_PER_CALL: Final = 1_000
Place = tuple[str, int]
"""Topic and partition."""

TOPIC_ERRORS: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_EXCEPTION,
    }
)
"""These do not pass by themselves; all others do, as soon as the broker is back."""


@dataclass(slots=True)
class Received:
    batch: list[Columns] = field(default_factory=list)
    ends: dict[Place, int] = field(default_factory=dict)
    """Partitions that have been read to their end, with the end's offset."""
    failures: dict[str, KafkaError] = field(default_factory=dict)
    """By topic."""


def receive(consumer: Consumer, timeout_s: float) -> Received | None:
    """What there is, as soon as there is something; None after the timeout."""
    first = consumer.poll(timeout_s)
    if first is None:
        return None
    return sort_messages([first, *consumer.consume(MESSAGES_PER_CALL, 0)])


def sort_messages(messages: Iterable[Any]) -> Received:
    received = Received()
    by_place: dict[Place, Columns] = {}
    for message in messages:
        topic, error = message.topic(), message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                received.ends[topic, message.partition()] = message.offset()
            elif error.code() in TOPIC_ERRORS and topic:
                received.failures[topic] = error
            continue
        place = topic, message.partition()
        columns = by_place.get(place)
        if columns is None:
            columns = by_place[place] = Columns(topic, place[1], [], [], [], [])
            received.batch.append(columns)
        headers = message.headers()
        if headers and columns.headers is None:
            columns.headers = [NO_HEADERS] * len(columns)
        if columns.headers is not None:
            columns.headers.append(tuple(headers) if headers else NO_HEADERS)  # type: ignore[attr-defined]
        columns.offsets.append(message.offset())  # type: ignore[attr-defined]
        columns.timestamps_ms.append(message.timestamp()[1])  # type: ignore[attr-defined]
        columns.keys.append(message.key())  # type: ignore[attr-defined]
        columns.values.append(message.value())  # type: ignore[attr-defined]
    return received


def cut(columns: Columns, start: int, end: int) -> Columns:
    return Columns(
        columns.topic,
        columns.partition,
        columns.offsets[start:end],
        columns.timestamps_ms[start:end],
        columns.keys[start:end],
        columns.values[start:end],
        columns.headers[start:end] if columns.headers else None,
    )
