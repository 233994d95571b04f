"""Appends to the config topic: a transactional producer that fences all earlier ones.

All workers of a group share one transactional id, so only the last that took it can commit. A worker that has taken it,
and has then read the topic to its end, knows everything there is until another one takes it. The id is that of Kafka
Connect's leader with exactly-once sources, so that such a worker is fenced too.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.server.state.config_records import Record

FENCED_CODES: Final = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.INVALID_PRODUCER_ID_MAPPING,
        KafkaError._STATE,
        KafkaError._FATAL,
    }
)
MESSAGE_BYTES_MAX: Final = 8 << 20


class WriterFenced(MoldauError):
    """Another worker has taken over, and nothing was written: decide again with a new writer."""


class NotWritten(MoldauError):
    """Nothing was written, for a reason that is not another worker."""


class OutcomeUnknown(MoldauError):
    """The write may have been committed or not. A new writer settles it; reading shows the result."""


class ConfigWriter:
    def __init__(self, client: Mapping[str, str], topic: str, group: str, *, timeout_s: float) -> None:
        """Returns when every earlier writer is fenced and its transactions have ended. Raises NotWritten."""
        self._topic = topic
        self._timeout_s = timeout_s
        timeout_ms = int(max(timeout_s * 1000, 1000))
        try:
            self._producer = Producer(
                {
                    **client,
                    "transactional.id": f"connect-cluster-{group}",
                    "transaction.timeout.ms": timeout_ms,
                    "delivery.timeout.ms": timeout_ms,
                    "message.max.bytes": MESSAGE_BYTES_MAX,
                    "linger.ms": 0,
                    # That another worker has taken over is no failure, and everything else is raised.
                    "log_level": 0,
                }
            )
            self._producer.init_transactions(timeout_s)
        except KafkaException as error:
            raise NotWritten(f"cannot start writing to {topic}: {error.args[0].str()}") from error

    def write(self, records: Sequence[Record]) -> int:
        """All of them or none. Returns the offset of the last. After any exception but NotWritten the writer must not
        be used again."""
        outcomes: list[tuple[KafkaError | None, int]] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            outcomes.append((error, message.offset() or 0))

        deadline = time.monotonic() + self._timeout_s
        try:
            self._producer.begin_transaction()
            try:
                for key, value in records:
                    self._producer.produce(self._topic, value, key, partition=0, on_delivery=delivered)
            except KafkaException as error:
                # Too large for the client.
                self._abort(error.args[0], deadline)
            self._producer.flush(self._timeout_s)
            refusal = next((error for error, _ in outcomes if error is not None), None)
            if refusal is not None or len(outcomes) < len(records):
                self._abort(refusal, deadline)
            self._commit(deadline)
        except KafkaException as error:
            raise self._failed(error.args[0]) from error
        except SystemError as error:
            # A fatal error that comes together with reports of delivery: the client library raises it while it calls
            # `delivered`, which Python reports so.
            if isinstance(error.__cause__, KafkaException):
                raise self._failed(error.__cause__.args[0]) from error
            raise
        return max(offset for _, offset in outcomes)

    def _commit(self, deadline: float) -> None:
        while True:
            try:
                self._producer.commit_transaction(max(deadline - time.monotonic(), 0.1))
                return
            except KafkaException as error:
                reason = error.args[0]
                if reason.txn_requires_abort():
                    self._abort(reason, deadline)
                if not reason.retriable() or time.monotonic() >= deadline:
                    raise

    def _abort(self, refusal: KafkaError | None, deadline: float) -> None:
        """Raises the reason why nothing was written."""
        if refusal is not None and (refusal.fatal() or refusal.code() in FENCED_CODES):
            raise self._failed(refusal)
        self._producer.abort_transaction(max(deadline - time.monotonic(), 1.0))
        if refusal is None:
            raise NotWritten(
                f"the brokers did not take the records within {self._timeout_s:g} s (worker.write.timeout.ms)"
            )
        raise NotWritten(f"the topic {self._topic} rejects the configuration: {refusal.str()}")

    def _failed(self, error: KafkaError) -> MoldauError:
        if error.code() in FENCED_CODES:
            return WriterFenced(f"another worker writes to {self._topic}: {error.str()}")
        return OutcomeUnknown(
            f"the write to {self._topic} was interrupted and may have been done or not: {error.str()}"
        )
