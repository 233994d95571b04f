"""Writes records of QoS 0 and 1 with an idempotent producer, and reports when Kafka has them.

The producer's reports are fetched on the event loop, about once a millisecond while records are on their way: a thread
for them would contend with the loop for each of them.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, Producer

from moldau.proxies.mqtt.kafka.backlog import Backlog
from moldau.proxies.mqtt.mapping.records import Headers

TURN_S: Final = 0.001
IDLE_TURN_S: Final = 0.02
"""Between looks when nothing has come for a while, as when no broker answers."""
TURNS_UNTIL_IDLE: Final = 100
RECORD_OVERHEAD_BYTES: Final = 200
QUEUE_MAX: Final = 10_000_000
QUEUE_KB_MAX: Final = 2_000_000

log = logging.getLogger("moldau.mqtt")

Report = Callable[[KafkaError | None, Any], None]


class Publisher:
    """`publish` never blocks: the backlog stops the clients before the producer's queue is full."""

    def __init__(
        self,
        client: Mapping[str, str],
        backlog: Backlog,
        message_bytes_max: int,
        on_failure: Callable[[KafkaError], None],
        after_reports: Callable[[], None],
    ) -> None:
        self._producer = Producer(
            {
                **client,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 1,
                # It tries until it succeeds; the clients wait.
                "message.timeout.ms": 0,
                "message.max.bytes": message_bytes_max,
                "queue.buffering.max.messages": QUEUE_MAX,
                "queue.buffering.max.kbytes": QUEUE_KB_MAX,
                "partitioner": "murmur2_random",
                "logger": log,
                "error_cb": self._note_error,
            }
        )
        self._loop = asyncio.get_running_loop()
        self._backlog = backlog
        self._on_failure = on_failure
        self._after_reports = after_reports
        self._timer: asyncio.TimerHandle | None = None
        self._quiet_turns = 0
        self.outstanding = 0
        self.reported = 0
        """Reports of this turn; each adds one, and its size to `reported_bytes`."""
        self.reported_bytes = 0
        self._report = asyncio.Event()

    def publish(
        self,
        topic: str,
        key: bytes,
        value: bytes,
        headers: Headers,
        report: Report,
    ) -> None:
        """`report` gets the error, if there is one, and must add itself to `reported`."""
        self._producer.produce(topic, value, key, headers=list(headers) or None, on_delivery=report)
        self.outstanding += 1
        self._backlog.add(len(value) + RECORD_OVERHEAD_BYTES)
        if self._timer is None:
            self._quiet_turns = 0
            self._timer = self._loop.call_later(TURN_S, self._turn)

    async def some_reported(self) -> None:
        """Returns when something has been reported."""
        self._report.clear()
        await self._report.wait()

    def close(self) -> None:
        """What is on its way may arrive or not; nobody is told."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._producer.purge(in_flight=False)

    def _turn(self) -> None:
        self._timer = None
        self._producer.poll(0)
        if self.reported:
            self._quiet_turns = 0
            self.outstanding -= self.reported
            self._backlog.remove(self.reported_bytes + self.reported * RECORD_OVERHEAD_BYTES)
            self.reported = self.reported_bytes = 0
            self._report.set()
            self._after_reports()
        else:
            self._quiet_turns += 1
        if self.outstanding:
            wait_s = TURN_S if self._quiet_turns < TURNS_UNTIL_IDLE else IDLE_TURN_S
            self._timer = self._loop.call_later(wait_s, self._turn)

    def _note_error(self, error: KafkaError) -> None:
        if error.fatal():
            self._on_failure(error)
        else:
            log.warning("writing records: %s", error.str())
