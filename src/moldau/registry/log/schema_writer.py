"""Writes to the `_schemas` topic: a transactional producer, created by each new primary.

All instances of a group share one transactional id, so creating the producer fences the previous primary: what it has
not committed is never read. A writer that does not know how its last transaction ended must not be used again.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.core.errors import MoldauError
from moldau.registry.failures import schema_too_large, store_failed

FENCED_CODES: Final = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError._STATE,
        KafkaError._FATAL,
    }
)
RECORD_OVERHEAD_BYTES: Final = 256

log = logging.getLogger("moldau.registry")


class WriterLost(MoldauError):
    """Another primary has taken over, or it is unknown whether the last write was committed."""


class SchemaWriter:
    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        transactional_id: str,
        *,
        timeout_s: float,
        message_bytes_max: int,
    ) -> None:
        """Returns when every earlier writer is fenced and its transactions have ended."""
        self._topic = topic
        self._timeout_s = timeout_s
        self._message_bytes_max = message_bytes_max
        self._producer = Producer(
            {
                **client,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": int(max(timeout_s * 1000, 1000)),
                "delivery.timeout.ms": int(max(timeout_s * 1000, 1000)),
                "message.max.bytes": message_bytes_max + RECORD_OVERHEAD_BYTES,
                "linger.ms": 0,
                "logger": log,
            }
        )
        try:
            self._producer.init_transactions(timeout_s)
        except KafkaException as error:
            raise WriterLost(f"cannot start writing to {topic}: {error.args[0].str()}") from error

    def write(self, records: Sequence[tuple[bytes, bytes | None]]) -> int:
        """Writes all of them or none. Returns the offset of the last."""
        for key, value in records:
            size = len(key) + len(value or b"")
            if size > self._message_bytes_max:
                raise schema_too_large(size, self._message_bytes_max)
        offsets: list[int] = []
        refusals: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offsets.append(message.offset() or 0)
            else:
                refusals.append(error)

        deadline = time.monotonic() + self._timeout_s
        try:
            self._producer.begin_transaction()
            for key, value in records:
                self._producer.produce(self._topic, value, key, partition=0, on_delivery=delivered)
            self._producer.flush(self._timeout_s)
            if refusals or len(offsets) < len(records):
                self._abort(refusals, deadline)
            self._commit(deadline)
        except KafkaException as error:
            raise self._lost(error.args[0]) from error
        except SystemError as error:
            # A fatal error that comes together with reports of delivery: the client library raises it while it calls
            # `delivered`, which Python reports so.
            if isinstance(error.__cause__, KafkaException):
                raise self._lost(error.__cause__.args[0]) from error
            raise
        return max(offsets)

    def _commit(self, deadline: float) -> None:
        while True:
            try:
                self._producer.commit_transaction(max(deadline - time.monotonic(), 0.1))
                return
            except KafkaException as error:
                reason = error.args[0]
                if reason.txn_requires_abort():
                    self._abort([reason], deadline)
                if not reason.retriable() or time.monotonic() >= deadline:
                    raise

    def _abort(self, refusals: Sequence[KafkaError], deadline: float) -> None:
        """Raises the reason why nothing was written."""
        first = refusals[0] if refusals else None
        if first is not None and (first.fatal() or first.code() in FENCED_CODES):
            raise self._lost(first)
        self._producer.abort_transaction(max(deadline - time.monotonic(), 1.0))
        if first is not None and first.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            raise schema_too_large(self._message_bytes_max, self._message_bytes_max)
        reason = first.str() if first is not None else f"no answer after {self._timeout_s:g} s"
        raise store_failed(f"Nothing was written to the topic {self._topic}: {reason}.")

    def _lost(self, error: KafkaError) -> WriterLost:
        return WriterLost(f"the writer of topic {self._topic} has failed and is replaced: {error.str()}")
