"""The exactly-once sink: commits the output of a slot's tasks in a batch, their marker and their input offsets in one
Kafka transaction.

The marker is the metadata of the committed offsets: checkpoint id and batch id. A process that runs the batch again
first takes over the `transactional.id`, which aborts an open transaction and fences its producer. Then it reads the
markers and skips the tasks that have committed the batch.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.spark.background import in_background
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX, OFFSETS_S_MAX, TIMESTAMP_MS_MIN, ClientSettings
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.partitioners import PARTITIONERS
from moldau.pipeline.spark.positions import OffsetRange

RECORDS_PER_CALL: Final = 10_000
UNSENT_RECORDS_MAX: Final = 1_000_000
UNSENT_BYTES_MAX: Final = 256 << 20
"""Half and a quarter of the queue limits in `clients.producer`."""

_PAYLOADS: Final = (attrgetter("key"), attrgetter("value"))


class NotCommitted(MoldauError):
    """A batch could not be committed. Nothing of it is visible."""


Refused = tuple[str, bytes | None, bytes | None, int]
"""Topic, key, value and timestamp of a record."""


class RecordsRefused(MoldauError):
    """The broker rejects some records for good. Nothing of the batch is visible. A broker rejects all records of one
    request, so only the topics are known here, not yet the records."""

    def __init__(self, topics: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"topic {topic}: {reason}" for topic, reason in sorted(topics.items())))
        self.topics = topics


NEVER_TAKEN: Final = frozenset(
    {KafkaError.INVALID_TIMESTAMP, KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD}
)


_stuck_producers: list[Producer] = []
"""Producers with a call that does not return. They are kept, because closing one would wait for the call."""


class Sink:
    """Created with a slot. `transactional` False is at-least-once."""

    def __init__(
        self,
        bootstrap_servers: str,
        settings: ClientSettings,
        consumer: Consumer,
        transactional_id: str,
        *,
        transactional: bool,
        partitioners: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        self._made_of = bootstrap_servers, settings, consumer, transactional_id, partitioners
        self._consumer = consumer
        self._transactional = transactional
        self._unsent_bytes = 0
        self._is_stuck = False
        self._partitioners = {
            topic: (PARTITIONERS[name], count) for topic, (name, count) in (partitioners or {}).items()
        }
        self._undelivered: list[tuple[KafkaError, str]] = []
        """With the topic."""
        wanted = producer_settings(bootstrap_servers, settings, transactional_id if transactional else None)
        self._producer = Producer({**wanted, "on_delivery": self._note_undelivered})
        if transactional:
            self._producer.init_transactions(COORDINATOR_S_MAX)

    def markers(self, ranges: Iterable[OffsetRange]) -> dict[tuple[str, int], Marker | None]:
        places = [TopicPartition(one.topic, one.partition) for one in ranges]
        committed = self._consumer.committed(places, timeout=COORDINATOR_S_MAX) if places else []
        return {(one.topic, one.partition): Marker.parse(one.metadata) for one in committed}

    def begin(self) -> None:
        if self._transactional:
            self._producer.begin_transaction()

    def write(self, records: Sequence[OutputRecord]) -> None:
        """Keeps the order of the records."""
        for start in range(0, len(records), RECORDS_PER_CALL):
            self._write_some(records[start : start + RECORDS_PER_CALL])

    def commit(self, ranges: Iterable[OffsetRange], marker: Marker) -> None:
        """Returns when every reader can see the batch."""
        offsets = [
            TopicPartition(one.topic, one.partition, one.end_offset, metadata=str(marker)) for one in ranges
        ]
        if not self._transactional:
            self._flush()
            self._consumer.commit(offsets=offsets, asynchronous=False)
            return
        self._flush()
        if offsets:
            group = self._consumer.consumer_group_metadata()
            self._answered(
                lambda: self._producer.send_offsets_to_transaction(offsets, group, OFFSETS_S_MAX),
                OFFSETS_S_MAX,
            )
        self._producer.commit_transaction(COORDINATOR_S_MAX)

    def find_refused(self, records: Sequence[OutputRecord]) -> dict[Refused, str]:
        """Finds the records that the broker rejects: sends halves until each is found. None of them become visible."""
        found: dict[Refused, str] = {}
        todo = [records] if records else []
        while todo:
            some = todo.pop()
            reason = self._tried(some)
            if reason is not None and len(some) > 1:
                todo += [some[: len(some) // 2], some[len(some) // 2 :]]
            elif reason is not None:
                one = some[0]
                found[one.topic, one.key, one.value, one.timestamp_ms] = reason
        return found

    def _tried(self, records: Sequence[OutputRecord]) -> str | None:
        """The reason if the broker rejects them, else None. Uses a new client: after a rejected record, a client does
        not report the next ones reliably."""
        probe = self.another("-probe")
        try:
            probe.begin()
            probe.write(records)
            probe._flush()
        except RecordsRefused as refused:
            return next(iter(refused.topics.values()))
        finally:
            probe.abandon()
        return None

    def another(self, suffix: str = "") -> "Sink":
        """A sink with the same settings. With the same id it replaces this one."""
        servers, settings, consumer, transactional_id, partitioners = self._made_of
        return Sink(
            servers,
            settings,
            consumer,
            transactional_id + suffix,
            transactional=self._transactional,
            partitioners=partitioners,
        )

    def abandon(self) -> None:
        """After a failure: what was written must not become visible. The producer is not used again."""
        if self._is_stuck:
            _stuck_producers.append(self._producer)
            return
        self._producer.purge()
        if self._transactional:
            try:
                self._producer.abort_transaction(5.0)
            except KafkaException:
                # Fenced, or the broker is unreachable: the next owner of the id aborts the transaction.
                return

    def _flush(self) -> None:
        unsent = self._producer.flush(COORDINATOR_S_MAX)
        if not unsent and not self._undelivered:
            return
        refused = {topic: error.str() for error, topic in self._undelivered if error.code() in NEVER_TAKEN}
        if refused:
            raise RecordsRefused(refused)
        if not self._undelivered:
            raise NotCommitted("the broker did not accept the output: it does not answer")
        error, topic = self._undelivered[0]
        raise NotCommitted(f"the broker did not accept the output for topic {topic}: {error.str()}")

    def _note_undelivered(self, error: KafkaError, message: Message) -> None:
        self._undelivered.append((error, message.topic() or ""))

    def _answered(self, call: Callable[[], None], within_s: float) -> None:
        try:
            in_background(call, "send-offsets").result(within_s)
        except TimeoutError:
            self._is_stuck = True
            raise NotCommitted(
                f"the broker did not accept the offsets within {within_s:.0f} s: the batch is run again"
            ) from None

    def _write_some(self, records: Sequence[OutputRecord]) -> None:
        self._make_room(records)
        produce, partitioners = self._producer.produce, self._partitioners
        for topic, partition, timestamp_ms, key, value, headers, _ in records:
            place = -1 if partition is None else partition
            if partition is None and key is not None and topic in partitioners:
                spread, count = partitioners[topic]
                place = spread(key, count)
            timestamp_ms = max(timestamp_ms, TIMESTAMP_MS_MIN)
            # Positional arguments and no callbacks: keyword arguments take half as long again.
            try:
                if headers:
                    produce(topic, value, key, place, None, None, timestamp_ms, list(headers))
                else:
                    produce(topic, value, key, place, None, None, timestamp_ms)
            except KafkaException as failure:
                # The client itself rejects a record that is too large for it.
                self._undelivered.append((failure.args[0], topic))

    def _make_room(self, records: Sequence[OutputRecord]) -> None:
        """Waits until the client's queue has room for all of them: one rejected in between would lose its order."""
        for part in _PAYLOADS:
            self._unsent_bytes += sum(map(len, filter(None, map(part, records))))
        if self._unsent_bytes > UNSENT_BYTES_MAX or len(self._producer) > UNSENT_RECORDS_MAX:
            if self._producer.flush(COORDINATOR_S_MAX):
                raise KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT))
            self._unsent_bytes = 0
        self._producer.poll(0)
