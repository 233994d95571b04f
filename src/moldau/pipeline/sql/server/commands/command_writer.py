"""Appends to the command topic: a transactional producer that fences all earlier ones.

All servers of a service id share one transactional id, so only the last that took it can commit. A server that has
taken it, and has then read the topic to its end, knows every command there is until another server takes it.
"""

import logging
import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.core.errors import MoldauError

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

log = logging.getLogger("moldau.sql")


class WriterFenced(MoldauError):
    """Another server has taken over, and nothing was written: decide again with a new writer."""


class NotWritten(MoldauError):
    """Nothing was written, for a reason that is not another server."""


class OutcomeUnknown(MoldauError):
    """The write may have been committed or not. A new writer settles it; reading shows the result."""


class CommandWriter:
    def __init__(self, client: Mapping[str, str], topic: str, *, timeout_s: float) -> None:
        """Returns when every earlier writer is fenced and its transactions have ended. Raises NotWritten."""
        self._topic = topic
        self._timeout_s = timeout_s
        timeout_ms = int(max(timeout_s * 1000, 1000))
        try:
            self._producer = Producer(
                {
                    **client,
                    "transactional.id": topic,
                    "transaction.timeout.ms": timeout_ms,
                    "delivery.timeout.ms": timeout_ms,
                    "linger.ms": 0,
                    "logger": log,
                }
            )
            self._producer.init_transactions(timeout_s)
        except KafkaException as error:
            raise NotWritten(f"cannot start writing to {topic}: {error.args[0].str()}") from error

    def write(self, key: bytes, value: bytes) -> int:
        """Returns the offset. After any exception but NotWritten the writer must not be used again."""
        outcome: list[tuple[KafkaError | None, int]] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            outcome.append((error, message.offset() or 0))

        deadline = time.monotonic() + self._timeout_s
        try:
            self._producer.begin_transaction()
            self._producer.produce(self._topic, value, key, partition=0, on_delivery=delivered)
            self._producer.flush(self._timeout_s)
            refusal = outcome[0][0] if outcome else None
            if refusal is not None or not outcome:
                self._abort(refusal, deadline)
            self._commit(deadline)
        except KafkaException as error:
            raise self._failed(error.args[0]) from error
        except SystemError as error:
            # A fatal error that comes together with the report of delivery: the client library raises it while it calls
            # `delivered`, which Python reports so.
            if isinstance(error.__cause__, KafkaException):
                raise self._failed(error.__cause__.args[0]) from error
            raise
        return outcome[0][1]

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
                f"the brokers did not take the command within {self._timeout_s:g} s "
                "(ksql.server.command.timeout.ms)"
            )
        raise NotWritten(f"the topic {self._topic} rejects the command: {refusal.str()}")

    def _failed(self, error: KafkaError) -> MoldauError:
        if error.code() in FENCED_CODES:
            return WriterFenced(f"another server writes to {self._topic}: {error.str()}")
        return OutcomeUnknown(
            f"the write to {self._topic} was interrupted and may have been done or not: {error.str()}"
        )
