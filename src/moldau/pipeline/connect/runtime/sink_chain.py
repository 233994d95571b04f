"""From what a consumer read to the records of a sink: converters, then transformations. Pure but for retries."""

import itertools
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

    def output(self, parts: Sequence[Sequence[Message]]) -> SinkOutput:
        """Each part is not empty and has messages of one partition, in their order."""
        if self._passes_texts and all(map(_is_run_of_texts, parts)):
            return SinkOutput([self._texts(part) for part in parts])
        found = SinkOutput()
        converted: list[SinkRecord] = []
        read: dict[int, Message] = {}
        for message in itertools.chain.from_iterable(parts):
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

    def _texts(self, messages: Sequence[Message]) -> SinkTexts:
        return SinkTexts(
            cast(str, messages[0].topic()),
            cast(int, messages[0].partition()),
            [message.value() for message in messages],
            lambda index: self._converted(messages[index]),
        )

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


def _is_run_of_texts(messages: Sequence[Message]) -> bool:
    return len(messages) >= RUN_MIN and not any([message.headers() for message in messages])
