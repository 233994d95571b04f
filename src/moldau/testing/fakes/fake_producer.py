"""confluent_kafka.Producer without a broker. Records are in the log at once; poll() serves their delivery reports."""

import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import (
    OFFSET_INVALID,
    TIMESTAMP_CREATE_TIME,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import ClusterMetadata

from moldau.testing.fakes.fake_group import FakeGroupMetadata
from moldau.testing.fakes.fake_log import FakeLog, FakeTransaction
from moldau.testing.fakes.murmur2 import murmur2_partition

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_kafka import FakeKafka

OnDelivery = Callable[[KafkaError | None, Message], object]
UNASSIGNED = -1
QUEUE_MAX = 100_000
LATENCY_S = 0.001

# The states of librdkafka's transactional producer, under its names.
INIT, READY, IN_TRANSACTION = "Init", "Ready", "InTransaction"
ABORTABLE, FATAL = "AbortableError", "FatalError"


class FakeProducer:
    """Mirrors confluent_kafka.Producer, method by method."""

    def __init__(self, kafka: "FakeKafka", config: Mapping[str, Any]) -> None:
        self._kafka = kafka
        self._on_delivery: OnDelivery | None = config.get("on_delivery") or config.get("dr_cb")
        self._queue_max = int(config.get("queue.buffering.max.messages", QUEUE_MAX))
        self._partitioner = str(config.get("partitioner", "consistent_random"))
        self._transactional_id: str | None = config.get("transactional.id")
        self._reports: deque[tuple[OnDelivery, KafkaError | None, Message]] = deque()
        self._turns: dict[str, int] = {}
        self._epoch = -1
        self._state = INIT
        self._error: KafkaError | None = None
        self._transaction: FakeTransaction | None = None

    def __len__(self) -> int:
        """Records whose delivery report was not served yet."""
        return len(self._reports)

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def produce(
        self,
        topic: str,
        value: str | bytes | None = None,
        key: str | bytes | None = None,
        partition: int = UNASSIGNED,
        on_delivery: OnDelivery | None = None,
        timestamp: int = 0,
        headers: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None,
        *,
        callback: OnDelivery | None = None,
    ) -> None:
        content = (_bytes(key), _bytes(value))
        pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
        sent = [(name, _bytes(each)) for name, each in pairs]
        report = on_delivery or callback or self._on_delivery
        with self._kafka.changed:
            self._check_may_produce()
            if len(self._reports) >= self._queue_max:
                raise BufferError("Local: Queue full")
            failure = self._kafka.failure("produce")
            if failure is not None:
                if failure.code() == KafkaError._QUEUE_FULL:
                    raise BufferError("Local: Queue full")
                raise KafkaException(failure)
            written_ms = timestamp or self._kafka.now_ms()
            error = self._kafka.failure("delivery")
            log = None
            if error is None:
                log, error = self._log_for(topic, content[0], partition)
            offset = OFFSET_INVALID
            if log is not None:
                offset = log.append(*content, sent or None, written_ms, self._transaction).offset
                self._kafka.changed.notify_all()
            elif self._transactional_id is not None:
                # The transaction is no longer complete.
                self._state, self._error = ABORTABLE, error
            if report is not None:
                written_to = log.partition if log is not None else partition
                message = self._report(topic, written_to, offset, content, error, written_ms)
                self._reports.append((report, error, message))

    def produce_batch(
        self,
        topic: str,
        messages: Sequence[dict[str, Any]],
        partition: int = UNASSIGNED,
        on_delivery: OnDelivery | None = None,
    ) -> int:
        for message in messages:
            self.produce(topic, **{"partition": partition, "on_delivery": on_delivery, **message})
        return len(messages)

    def poll(self, timeout: float = -1) -> int:
        """Serves delivery reports. Returns how many."""
        served = 0
        while self._reports:
            report, error, message = self._reports.popleft()
            served += 1
            report(error, message)
        return served

    def flush(self, timeout: float = -1) -> int:
        self._kafka.raise_failure("flush")
        self.poll(timeout)
        return len(self)

    def purge(self, in_queue: bool = True, in_flight: bool = True, blocking: bool = True) -> None:
        """Nothing is ever queued or in flight."""

    def close(self) -> bool:
        self.flush()
        return True

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> ClusterMetadata:
        with self._kafka.changed:
            self._kafka.raise_failure("list_topics")
            return self._kafka.cluster_metadata(topic)

    def cluster_id(self, timeout: float = -1) -> str:
        return "fake"

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """There is no broker to log in to."""

    # Transactions.

    def init_transactions(self, timeout: float = -1) -> None:
        with self._kafka.changed:
            transactional_id = self._begin_call("init_transactions", {INIT})
            self._epoch = self._kafka.transactional_ids.take(transactional_id)
            self._state = READY

    def begin_transaction(self) -> None:
        with self._kafka.changed:
            transactional_id = self._begin_call("begin_transaction", {READY})
            self._transaction = self._kafka.transactional_ids.begin(transactional_id)
            self._state = IN_TRANSACTION

    def send_offsets_to_transaction(
        self, positions: Sequence[TopicPartition], group_metadata: FakeGroupMetadata, timeout: float = -1
    ) -> None:
        if not isinstance(group_metadata, FakeGroupMetadata):
            raise TypeError("group_metadata must come from consumer_group_metadata() of a fake consumer")
        with self._kafka.changed:
            self._begin_call("send_offsets_to_transaction", {IN_TRANSACTION})
            group = self._kafka.group(group_metadata.group)
            if not group.has(group_metadata):
                self._fail(KafkaError(KafkaError.UNKNOWN_MEMBER_ID, txn_requires_abort=True))
            assert self._transaction is not None
            offsets = self._transaction.offsets.setdefault(group_metadata.group, {})
            offsets.update(
                {(each.topic, each.partition): each.offset for each in positions if each.offset >= 0}
            )

    def commit_transaction(self, timeout: float = -1) -> None:
        with self._kafka.changed:
            if self._state == ABORTABLE and self._error is not None:
                raise KafkaException(_requiring_abort(self._error))
            self._begin_call("commit_transaction", {IN_TRANSACTION})
            self._end(is_committed=True)
        self.poll(0)

    def abort_transaction(self, timeout: float = -1) -> None:
        with self._kafka.changed:
            self._begin_call("abort_transaction", {IN_TRANSACTION, ABORTABLE})
            self._end(is_committed=False)
        self.poll(0)

    def _end(self, *, is_committed: bool) -> None:
        assert self._transaction is not None and self._transactional_id is not None
        self._kafka.transactional_ids.end(
            self._transactional_id, self._transaction, is_committed=is_committed
        )
        self._transaction, self._state, self._error = None, READY, None

    def _begin_call(self, call: str, states: set[str]) -> str:
        """Returns the transactional id, if the call is allowed and not set to fail."""
        if self._transactional_id is None:
            words = "The Transactional API requires transactional.id to be configured"
            raise KafkaException(KafkaError(KafkaError._NOT_CONFIGURED, words))
        if self._state == FATAL:
            raise KafkaException(self._error)
        if self._state not in states:
            raise KafkaException(KafkaError(KafkaError._STATE, f"Operation not valid in state {self._state}"))
        if self._state != INIT:
            self._check_not_fenced()
        failure = self._kafka.failure(call)
        if failure is not None:
            self._fail(failure)
        return self._transactional_id

    def _fail(self, error: KafkaError) -> None:
        if error.fatal():
            self._state, self._error = FATAL, error
        elif error.txn_requires_abort():
            self._state, self._error = ABORTABLE, error
        raise KafkaException(error)

    def _check_may_produce(self) -> None:
        if self._transactional_id is None:
            return
        if self._state == FATAL:
            raise KafkaException(self._error)
        if self._state != IN_TRANSACTION:
            words = "Unable to produce message: Local: Erroneous state"
            raise KafkaException(KafkaError(KafkaError._STATE, words))
        self._check_not_fenced()

    def _check_not_fenced(self) -> None:
        assert self._transactional_id is not None
        if self._kafka.transactional_ids.is_fenced(self._transactional_id, self._epoch):
            words = "transactional producer fenced by newer producer instance"
            self._fail(KafkaError(KafkaError._FENCED, words, fatal=True))

    def _log_for(
        self, topic: str, key: bytes | None, partition: int
    ) -> tuple[FakeLog | None, KafkaError | None]:
        if not isinstance(topic, str):
            raise TypeError(f"argument 1 must be str, not {type(topic).__name__}")
        logs = self._kafka.logs_to_write(topic)
        if logs is None:
            return None, KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
        if partition == UNASSIGNED:
            partition = self._choose(topic, key, len(logs))
        if not 0 <= partition < len(logs):
            return None, KafkaError(KafkaError._UNKNOWN_PARTITION)
        return logs[partition], None

    def _choose(self, topic: str, key: bytes | None, count: int) -> int:
        """A record without a key goes to the next partition, where a real client picks any."""
        if key is None or (not key and self._partitioner == "consistent_random"):
            self._turns[topic] = self._turns.get(topic, -1) + 1
            return self._turns[topic] % count
        return murmur2_partition(key, count) if "murmur2" in self._partitioner else zlib.crc32(key) % count

    @staticmethod
    def _report(
        topic: str,
        partition: int,
        offset: int,
        content: tuple[bytes | None, bytes | None],
        error: KafkaError | None,
        written_ms: int,
    ) -> Message:
        return Message(
            topic=topic,
            partition=partition,
            offset=offset,
            key=content[0],
            value=content[1],
            error=error,
            timestamp=(TIMESTAMP_CREATE_TIME, written_ms),
            latency=LATENCY_S,
        )


def _bytes(content: Any) -> bytes | None:
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise TypeError(f"a bytes-like object is required, not '{type(content).__name__}'")


def _requiring_abort(error: KafkaError) -> KafkaError:
    return KafkaError(error.code(), error.str(), txn_requires_abort=True)
