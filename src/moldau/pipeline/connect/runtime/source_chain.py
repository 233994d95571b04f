"""From the records of a source to what the producer writes: transformations, then converters. Pure but for retries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple, TypeGuard

from moldau.pipeline.connect.data.records import SourceBytes, SourceRecord, SourceTexts
from moldau.pipeline.connect.runtime.record_chain import Failed, RecordChain
from moldau.pipeline.connect.runtime.record_failures import Failure, Stage

Headers = list[tuple[str, str | bytes | None]]


class ProducerRecord(NamedTuple):
    topic: str
    value: bytes | None
    key: bytes | None = None
    partition: int = -1
    timestamp_ms: int = 0
    """0: now."""
    headers: Headers | None = None


@dataclass(slots=True)
class SourceOutput:
    records: list[ProducerRecord] = field(default_factory=list)
    sources: Sequence[SourceRecord] = field(default_factory=list)
    """What each of them was made of."""
    failed: list[tuple[SourceRecord, Failure]] = field(default_factory=list)


class SourceChain:
    def __init__(self, chain: RecordChain) -> None:
        self._chain = chain
        self._passes_bytes = chain.passes_bytes

    def takes_whole(self, records: Sequence[SourceRecord]) -> TypeGuard[SourceTexts | SourceBytes]:
        """They may be written as they are."""
        if isinstance(records, SourceTexts):
            return self._chain.passes_texts and _is_utf8(records.texts)
        return isinstance(records, SourceBytes) and self._passes_bytes

    def output(self, records: Sequence[SourceRecord]) -> SourceOutput:
        found, sources = SourceOutput(), []
        for record, outcome in self._chain.transformed(records):
            if isinstance(outcome, Failure):
                found.failed.append((record, outcome))
                continue
            try:
                found.records.append(self._converted(outcome))
            except Failed as failed:
                found.failed.append((record, failed.failure))
            else:
                sources.append(record)
        found.sources = sources
        return found

    def _converted(self, record: SourceRecord) -> ProducerRecord:
        chain, topic = self._chain, record.topic
        headers: Headers | None = None
        if record.headers:
            convert = chain.header.header_from_connect
            headers = [
                (
                    one.key,
                    chain.attempt(
                        Stage.HEADER_CONVERTER, chain.header, convert, topic, one.key, one.schema, one.value
                    ),
                )
                for one in record.headers
            ]
        # Without `attempt`, which would take as long as the conversion. Only a failure is looked at closely.
        try:
            key = chain.key.from_connect(topic, record.key_schema, record.key)
            value = chain.value.from_connect(topic, record.value_schema, record.value)
        except Exception:  # noqa: BLE001 again, and then with its stage
            given = topic, record.key_schema, record.key
            key = chain.attempt(Stage.KEY_CONVERTER, chain.key, chain.key.from_connect, *given)
            given = topic, record.value_schema, record.value
            value = chain.attempt(Stage.VALUE_CONVERTER, chain.value, chain.value.from_connect, *given)
        partition = -1 if record.partition is None else record.partition
        return ProducerRecord(topic, value, key, partition, record.timestamp_ms or 0, headers)


def unchanged(records: SourceTexts | SourceBytes) -> list[ProducerRecord]:
    if isinstance(records, SourceTexts):
        return [ProducerRecord(records.topic, text) for text in records.texts]
    partition = -1 if records.partition is None else records.partition
    headers = repeat(None) if records.headers is None else map(_written, records.headers)
    columns = (
        repeat(records.topic),
        records.values,
        records.keys,
        repeat(partition),
        records.timestamps_ms,
        headers,
    )
    return list(map(ProducerRecord, *columns))


def _written(headers: Sequence[tuple[str, bytes | None]] | None) -> Headers | None:
    return list(headers) if headers else None


def _is_utf8(texts: Sequence[bytes]) -> bool:
    """Otherwise the converter would write other bytes."""
    try:
        b"\n".join(texts).decode()
    except UnicodeDecodeError:
        return False
    return True
