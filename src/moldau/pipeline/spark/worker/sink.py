"""The sink of exactly once: what a slot's tasks put out in a batch, their marker and their input offsets, in one
Kafka transaction.

The marker is the metadata of the committed offsets: the checkpoint's id and the batch id. Whoever runs the batch
again, in whatever process, first takes over the `transactional.id` (which ends what another left open and keeps it from
committing later), then reads the markers, and leaves out the tasks whose batch is committed.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX, TIMESTAMP_MS_MIN, ClientSettings
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.partitioners import PARTITIONERS
from moldau.pipeline.spark.positions import OffsetRange

OFFSETS_S_MAX: Final = 30.0
RECORDS_PER_CALL: Final = 10_000
UNSENT_RECORDS_MAX: Final = 1_000_000
UNSENT_BYTES_MAX: Final = 256 << 20
"""Half and a quarter of what `clients.producer` lets the client queue."""


class NotCommitted(MoldauError):
    """A batch could not be brought to its end; nobody has seen it."""


Refused = tuple[str, bytes | None, bytes | None, int]
"""Topic, key, value and timestamp of a record."""


class RecordsRefused(MoldauError):
    """The broker does not take some records, however often they are sent. The rest of the batch has not been seen
    either. Of records that were sent together a broker refuses all, so these are the topics, not yet the records."""

    def __init__(self, topics: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"topic {topic}: {reason}" for topic, reason in sorted(topics.items())))
        self.topics = topics


NEVER_TAKEN: Final = frozenset(
    {KafkaError.INVALID_TIMESTAMP, KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_RECORD}
)


_stuck_producers: list[Producer] = []
"""Those with a call that does not come back: to close one would wait for it, too."""


class Sink:
    """Made when a slot comes to a process; `transactional` False is at-least-once."""

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
        """Records keep their order."""
        for start in range(0, len(records), RECORDS_PER_CALL):
            self._write_some(records[start : start + RECORDS_PER_CALL])

    def commit(self, ranges: Iterable[OffsetRange], marker: Marker) -> None:
        """Returns when the batch is there for every reader."""
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
        """Which of the records the broker refuses: halves are tried until each stands alone. Nobody sees them."""
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
        """Why they are refused, None when they are not. By a client of its own: one that was refused a record does not
        say what becomes of the next."""
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
        """Made as this one was; with its own id it takes this one's place."""
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
        """After a failure: what was written must not be seen; a producer in this state is not used again."""
        if self._is_stuck:
            _stuck_producers.append(self._producer)
            return
        self._producer.purge()
        if self._transactional:
            try:
                self._producer.abort_transaction(5.0)
            except KafkaException:
                # Fenced, or the broker is away: whoever takes over the id ends the transaction.
                return

    def _flush(self) -> None:
        unsent = self._producer.flush(COORDINATOR_S_MAX)
        if not unsent and not self._undelivered:
            return
        refused = {topic: error.str() for error, topic in self._undelivered if error.code() in NEVER_TAKEN}
        if refused:
            raise RecordsRefused(refused)
        if not self._undelivered:
            raise NotCommitted("the broker did not take the output: it does not answer")
        error, topic = self._undelivered[0]
        raise NotCommitted(f"the broker did not take the output for topic {topic}: {error.str()}")

    def _note_undelivered(self, error: KafkaError, message: Message) -> None:
        self._undelivered.append((error, message.topic() or ""))

    def _answered(self, call: Callable[[], None], within_s: float) -> None:
        """librdkafka does not keep the timeout of send_offsets_to_transaction while it waits for the coordinator."""
        outcome: list[KafkaException | None] = []

        def run() -> None:
            try:
                call()
            except KafkaException as failure:
                outcome.append(failure)
            else:
                outcome.append(None)

        caller = threading.Thread(target=run, name="send-offsets", daemon=True)
        caller.start()
        caller.join(within_s)
        if not outcome:
            self._is_stuck = True
            raise NotCommitted(
                f"the broker did not take the offsets within {within_s:.0f} s: the batch is run again"
            )
        if outcome[0] is not None:
            raise outcome[0]

    def _write_some(self, records: Sequence[OutputRecord]) -> None:
        self._make_room(records)
        produce, partitioners = self._producer.produce, self._partitioners
        for topic, partition, timestamp_ms, key, value, headers, _ in records:
            place = -1 if partition is None else partition
            if partition is None and key is not None and topic in partitioners:
                spread, count = partitioners[topic]
                place = spread(key, count)
            timestamp_ms = max(timestamp_ms, TIMESTAMP_MS_MIN)
            # By position, with no callbacks: names take half as long again.
            try:
                if headers:
                    produce(topic, value, key, place, None, None, timestamp_ms, list(headers))
                else:
                    produce(topic, value, key, place, None, None, timestamp_ms)
            except KafkaException as failure:
                # The client itself refuses what is too large for it.
                self._undelivered.append((failure.args[0], topic))

    def _make_room(self, records: Sequence[OutputRecord]) -> None:
        """Waits until the client's queue takes all of them: one refused in the midst would lose its place."""
        self._unsent_bytes += sum(len(one.key or b"") + len(one.value or b"") for one in records)
        if self._unsent_bytes > UNSENT_BYTES_MAX or len(self._producer) > UNSENT_RECORDS_MAX:
            if self._producer.flush(COORDINATOR_S_MAX):
                raise KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT))
            self._unsent_bytes = 0
        self._producer.poll(0)
