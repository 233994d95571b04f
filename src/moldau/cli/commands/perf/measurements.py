"""The timed loops of `moldau perf`: produce, consume, and the round trip."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from moldau.cli.client.connection import POLL_S, Cluster
from moldau.cli.commands.perf.payloads import Payload
from moldau.cli.commands.perf.perf_stats import Consumed, Latencies, Produced, Window
from moldau.cli.failures import Failure
from moldau.cli.render.progress import Advance

WINDOW_S = 5.0
STEP_S = 0.1
FETCH_MAX = 10_000

Say = Callable[[str], None]
"""Prints a line about the last few seconds."""


class ProduceRun:
    """Sends records and counts what the brokers acknowledge."""

    def __init__(
        self, producer: Producer, topic: str, payloads: Sequence[Payload], advance: Advance, say: Say
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._payloads = payloads
        self._size_bytes = 0
        self._advance = advance
        self._say = say
        self._latencies = Latencies()
        self._started_s = time.monotonic()
        self._window = Window(self._started_s)
        self._told = 0
        self._told_s = self._started_s
        self.first_error: KafkaError | None = None
        self.first_lost: Message | None = None

    def run(self, count: int, records_per_s: float | None) -> Produced:
        for sent, payload in zip(range(count), cycle(self._payloads), strict=False):
            self._send(payload)
            if records_per_s is not None:
                self._wait_for_turn(sent + 1, records_per_s)
            self._tell_progress()
            if self.first_error is not None:
                break
        while self._producer.flush(POLL_S) and self.first_error is None:
            self._tell_progress()
        span_s = max(time.monotonic() - self._started_s, 1e-9)
        done = self._latencies.count
        self._advance(done - self._told)
        return Produced(done, self._size_bytes, span_s, self._latencies)

    def _send(self, payload: Payload) -> None:
        while True:
            try:
                self._producer.produce(self._topic, payload.value, payload.key, on_delivery=self._report)
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(POLL_S)
                self._tell_progress()
            except KafkaException as error:
                self.first_error = error.args[0]
                return

    def _wait_for_turn(self, sent: int, records_per_s: float) -> None:
        while (ahead_s := sent / records_per_s - (time.monotonic() - self._started_s)) > 0:
            self._producer.poll(min(ahead_s, POLL_S))
            self._tell_progress()

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            if self.first_error is None:
                self.first_error, self.first_lost = error, message
            return
        latency_ms = (message.latency() or 0.0) * 1000
        self._latencies.add(latency_ms)
        self._size_bytes += len(message)
        self._window.add(len(message), latency_ms)

    def _tell_progress(self) -> None:
        now_s = time.monotonic()
        if now_s - self._told_s < STEP_S:
            return
        self._told_s = now_s
        self._advance(self._latencies.count - self._told)
        self._told = self._latencies.count
        if now_s - self._window.started_s >= WINDOW_S:
            self._say(self._window.line(now_s))
            self._window = Window(now_s)


class ConsumeRun:
    """Reads `count` records in a group like Kafka's tool, or fewer if no more arrive in time."""

    def __init__(self, cluster: Cluster, consumer: Consumer, topic: str, advance: Advance) -> None:
        self._cluster = cluster
        self._consumer = consumer
        self._topic = topic
        self._advance = advance
        self._assigned_s: float | None = None

    def run(self, count: int) -> Consumed:
        started_s = time.time()
        self._consumer.subscribe([self._topic], on_assign=self._on_assign)
        read = size_bytes = 0
        ended_s = started_s
        for batch in self._batches(count):
            read += len(batch)
            size_bytes += sum(len(message) + len(message.key() or b"") for message in batch)
            ended_s = time.time()
            self._advance(len(batch))
        joining_s = (self._assigned_s or ended_s) - started_s
        return Consumed(started_s, ended_s, max(joining_s, 0.0), read, size_bytes)

    def _on_assign(self, _consumer: Consumer, _places: Sequence[confluent_kafka.TopicPartition]) -> None:
        self._assigned_s = self._assigned_s or time.time()

    def _batches(self, count: int) -> Iterator[Sequence[Message]]:
        read = 0
        quiet_since = time.monotonic()
        while read < count and time.monotonic() - quiet_since < self._cluster.timeout_s:
            batch = self._consumer.consume(min(FETCH_MAX, count - read), POLL_S)
            for message in batch:
                error = message.error()
                if error is not None and not error.retriable():
                    raise self._cluster.failure(error, f"read topic '{self._topic}'")
            good = [message for message in batch if message.error() is None]
            if good:
                quiet_since = time.monotonic()
                read += len(good)
                yield good


class RoundTrips:
    """Sends one record at a time and waits until it is read back."""

    def __init__(self, cluster: Cluster, producer: Producer, consumer: Consumer, topic: str) -> None:
        self._cluster = cluster
        self._producer = producer
        self._consumer = consumer
        self._topic = topic
        self._error: KafkaError | None = None

    def run(self, count: int, payload: bytes, say: Say, advance: Advance) -> Latencies:
        latencies = Latencies()
        self._once(payload)  # Opens the connections; not counted.
        for number in range(count):
            latency_ms = self._once(payload)
            latencies.add(latency_ms)
            advance(1)
            if number % 1000 == 0:
                say(f"{number}\t{latency_ms}")
        return latencies

    def _once(self, payload: bytes) -> float:
        began_s = time.perf_counter()
        self._producer.produce(self._topic, payload, on_delivery=self._report)
        deadline_s = began_s + self._cluster.timeout_s
        while time.perf_counter() < deadline_s:
            self._producer.poll(0)
            message = self._consumer.poll(POLL_S)
            if self._error is not None:
                raise self._cluster.failure(self._error, f"write to topic '{self._topic}'")
            if message is None:
                continue
            error = message.error()
            if error is not None:
                raise self._cluster.failure(error, f"read topic '{self._topic}'")
            if message.value() != payload:
                raise Failure(
                    f"another producer writes to topic '{self._topic}': read a record that this command did not write.",
                    "Use a separate topic for this measurement.",
                )
            latency_ms = (time.perf_counter() - began_s) * 1000
            self._producer.flush(self._cluster.timeout_s)
            return latency_ms
        raise Failure(
            f"a record written to topic '{self._topic}' did not come back within {self._cluster.timeout_s:g} s.",
            "Check the cluster with `moldau cluster status`. --timeout SECONDS waits longer.",
        )

    def _report(self, error: KafkaError | None, _message: Message) -> None:
        self._error = self._error or error
