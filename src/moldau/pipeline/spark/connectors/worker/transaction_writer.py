"""Writes records in Kafka transactions, and finds the records that the broker does not accept.

The transactional id belongs to one task: a new writer with the same id fences the last one and aborts what it had
open.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.data.records import SourceBytes, SourceTexts
from moldau.pipeline.connect.runtime.source_chain import ProducerRecord, unchanged
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX, TIMESTAMP_MS_MIN
from moldau.pipeline.spark.worker.sink import NEVER_TAKEN

ABORT_S_MAX: Final = 5.0
TEXTS_PER_CALL: Final = 10_000

_REFUSED_AT_ONCE: Final = NEVER_TAKEN | {KafkaError._UNKNOWN_PARTITION, KafkaError._INVALID_ARG}


class RecordsRefused(MoldauError):
    """The broker, or the client, does not accept some records. Nothing of the transaction is visible."""


class NotWritten(MoldauError):
    """The transaction could not be committed. Nothing of it is visible."""


class TransactionWriter:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._undelivered: list[tuple[KafkaError, str]] = []
        """With the topic."""
        self._producer = Producer({**settings, "on_delivery": self._note_undelivered})
        self._producer.init_transactions(COORDINATOR_S_MAX)

    def begin(self) -> None:
        self._undelivered.clear()
        self._producer.begin_transaction()

    def write(self, records: Sequence[ProducerRecord]) -> None:
        """Keeps the order of the records."""
        produce = self._producer.produce
        for topic, value, key, partition, timestamp_ms, headers in records:
            # Positional arguments and no callbacks: keyword arguments take half as long again.
            timestamp_ms = timestamp_ms and max(timestamp_ms, TIMESTAMP_MS_MIN)
            try:
                if headers:
                    produce(topic, value, key, partition, None, None, timestamp_ms, headers)
                else:
                    produce(topic, value, key, partition, None, None, timestamp_ms)
            except KafkaException as failure:
                self._undelivered.append((failure.args[0], topic))
        self._producer.poll(0)

    def write_whole(self, records: SourceTexts | SourceBytes) -> None:
        """Keeps the order of the records."""
        if isinstance(records, SourceTexts):
            self._write_texts(records.topic, records.texts)
        elif records.headers is not None:
            self.write(unchanged(records))
        else:
            self._write_bytes(records)

    def _write_bytes(self, records: SourceBytes) -> None:
        produce, topic = self._producer.produce, records.topic
        partition = -1 if records.partition is None else records.partition
        times = records.timestamps_ms
        if min(times, default=0) < TIMESTAMP_MS_MIN:
            times = [one and max(one, TIMESTAMP_MS_MIN) for one in times]
        for value, key, timestamp_ms in zip(records.values, records.keys, times, strict=True):
            try:
                produce(topic, value, key, partition, None, None, timestamp_ms)
            except KafkaException as failure:
                self._undelivered.append((failure.args[0], topic))
        self._producer.poll(0)

    def _write_texts(self, topic: str, texts: Sequence[bytes]) -> None:
        for start in range(0, len(texts), TEXTS_PER_CALL):
            messages = [{"value": text} for text in texts[start : start + TEXTS_PER_CALL]]
            if self._producer.produce_batch(topic, messages) < len(messages):
                error = next(one["_error"] for one in messages if "_error" in one)
                self._undelivered.append((error, topic))  # type: ignore[arg-type]
        self._producer.poll(0)

    def commit(self) -> None:
        """Returns when every reader can see the records."""
        unsent = self._producer.flush(COORDINATOR_S_MAX)
        refused = [one for one in self._undelivered if one[0].code() in _REFUSED_AT_ONCE]
        if refused:
            error, topic = refused[0]
            raise RecordsRefused(f"topic {topic}: {error.str()}")
        if self._undelivered:
            error, topic = self._undelivered[0]
            raise NotWritten(f"the broker did not accept the records for topic {topic}: {error.str()}")
        if unsent:
            raise NotWritten("the broker did not accept the records: it does not answer")
        self._producer.commit_transaction(COORDINATOR_S_MAX)

    def abandon(self) -> None:
        """What was written must not become visible. The writer is not used again."""
        self._producer.purge()
        try:
            self._producer.abort_transaction(ABORT_S_MAX)
        except KafkaException:
            # Fenced, or the broker is unreachable: the next owner of the id aborts the transaction.
            return

    def again(self) -> "TransactionWriter":
        """Abandons this one. After a refused record, a client does not report the next ones reliably."""
        self.abandon()
        return TransactionWriter(self._settings)

    def refused(self, records: Sequence[ProducerRecord]) -> dict[int, str]:
        """Which of them the broker does not accept, by index, with the reason: sends halves until each is found. None
        of them become visible. Call it between two transactions."""
        found: dict[int, str] = {}
        todo = [(0, len(records))] if records else []
        while todo:
            start, end = todo.pop()
            reason = self._tried(records[start:end])
            if reason is not None and end - start > 1:
                middle = (start + end) // 2
                todo += [(start, middle), (middle, end)]
            elif reason is not None:
                found[start] = reason
        return found

    def _tried(self, records: Sequence[ProducerRecord]) -> str | None:
        probe = TransactionWriter(
            {**self._settings, "transactional.id": f"{self._settings['transactional.id']}-probe"}
        )
        try:
            probe.begin()
            probe.write(records)
            probe._producer.flush(COORDINATOR_S_MAX)
            return probe._undelivered[0][0].str() if probe._undelivered else None
        finally:
            probe.abandon()

    def _note_undelivered(self, error: KafkaError, message: Message) -> None:
        self._undelivered.append((error, message.topic() or ""))
