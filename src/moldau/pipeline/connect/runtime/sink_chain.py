"""From what a consumer read to the records of a sink: converters, then transformations. Pure but for retries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from moldau.pipeline.connect.data.records import Header, SinkRecord, SinkTexts
from moldau.pipeline.connect.runtime.record_chain import Failed, RecordChain, is_utf8
from moldau.pipeline.connect.runtime.record_failures import Failure, Stage

RawHeaders = list[tuple[str, bytes | None]]

RUN_MIN: Final = 8
"""Shorter runs of one partition are not worth columns."""


@dataclass(slots=True)
class SinkOutput:
    batches: list[Sequence[SinkRecord]] = field(default_factory=list)
    """To be put one after the other."""
    failed: list[tuple[Message, Failure]] = field(default_factory=list)


class SinkChain:
    def __init__(self, chain: RecordChain) -> None:
        self._chain = chain
        self._passes_texts = chain.passes_texts and is_utf8(chain.key)

    def output(self, messages: Sequence[Message]) -> SinkOutput:
        """The messages are in the order of each partition."""
        if self._passes_texts and len(messages) >= RUN_MIN and not any(one.headers() for one in messages):
            return SinkOutput(_columns(messages))
        found = SinkOutput()
        converted: list[SinkRecord] = []
        read: dict[int, Message] = {}
        for message in messages:
            try:
                record = self._converted(message)
            except Failed as failed:
                found.failed.append((message, failed.failure))
            else:
                converted.append(record)
                read[id(record)] = message
        whole: list[SinkRecord] = []
        for record, outcome in self._chain.transformed(converted):
            if isinstance(outcome, Failure):
                found.failed.append((read[id(record)], outcome))
            else:
                whole.append(outcome)
        if whole:
            found.batches.append(whole)
        return found

    def _converted(self, message: Message) -> SinkRecord:
        chain, topic = self._chain, message.topic() or ""
        key_bytes, value_bytes = message.key(), message.value()
        # Without `attempt`, which would take as long as the conversion. Only a failure is looked at closely.
        try:
            key_schema, key = chain.key.to_connect(topic, key_bytes)
            value_schema, value = chain.value.to_connect(topic, value_bytes)
        except Exception:  # noqa: BLE001 again, and then with its stage
            key_schema, key = chain.attempt(
                Stage.KEY_CONVERTER, chain.key, chain.key.to_connect, topic, key_bytes
            )
            value_schema, value = chain.attempt(
                Stage.VALUE_CONVERTER, chain.value, chain.value.to_connect, topic, value_bytes
            )
        kind, timestamp_ms = message.timestamp()
        partition, offset = cast(int, message.partition()), cast(int, message.offset())
        return SinkRecord(
            topic,
            key,
            value,
            key_schema,
            value_schema,
            partition,
            None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp_ms,
            self._headers(topic, message),
            offset,
            topic,
            partition,
            kind == TIMESTAMP_LOG_APPEND_TIME,
        )

    def _headers(self, topic: str, message: Message) -> tuple[Header, ...]:
        raw = cast(RawHeaders | None, message.headers())
        if not raw:
            return ()
        chain = self._chain
        found = []
        for name, data in raw:
            convert = chain.header.header_to_connect
            schema, value = chain.attempt(Stage.HEADER_CONVERTER, chain.header, convert, topic, name, data)
            found.append(Header(name, value, schema))
        return tuple(found)


def _columns(messages: Sequence[Message]) -> list[Sequence[SinkRecord]]:
    by_partition: dict[tuple[str, int], list[Message]] = {}
    for message in messages:
        place = cast(str, message.topic()), cast(int, message.partition())
        by_partition.setdefault(place, []).append(message)
    return [
        SinkTexts(
            topic,
            partition,
            [cast(int, one.offset()) for one in some],
            [one.timestamp()[1] for one in some],
            [one.key() for one in some],
            [one.value() for one in some],
        )
        for (topic, partition), some in by_partition.items()
    ]
