"""Consume, transform, produce, exactly once, with confluent-kafka: what `Copier.java` does with the Java client.

Now and then it aborts what it wrote. An error that a new producer alone can mend ends the process.
"""

import contextlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

BATCH_RECORDS = 10
POLL_S = 0.05
SEND_OFFSETS_TIMEOUT_S = 5
"""librdkafka 2.16 may wait for ever, whatever timeout it is given, when the connection breaks just then."""
COMMITTED_TIMEOUT_S = 60

Result = TypeVar("Result")


class Copier:
    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._dice = random.Random(job["seed"])
        self._consumer = Consumer(job["consumer"])
        self._producer = Producer(job["producer"])
        self._membership: object = None

    def run(self) -> None:
        retried(self._producer.init_transactions)
        # With a callback, partitions come and go only inside `consume`.
        self._consumer.subscribe([self._job["source"]], on_assign=self._on_assign)
        with self._leaving():
            while True:
                messages = self._consumer.consume(BATCH_RECORDS, POLL_S)
                read = [message for message in messages if message.error() is None]
                if read:
                    self._copy_or_abort(read)

    def _on_assign(self, _: object, places: list[TopicPartition]) -> None:
        """Starts from offsets it has asked for itself. librdkafka 2.16 goes back to the beginning of a partition half a
        second after a `seek`, or a new assignment, has overtaken its own look-up of where that is."""
        # The generation these partitions belong to; asked for later, it might be a younger one.
        self._membership = self._consumer.consumer_group_metadata()
        starts = retried(lambda: self._starts(places))
        self._consumer.assign(starts)
        tell("starts from", {place.partition: place.offset for place in starts}, self._membership)

    def _starts(self, places: list[TopicPartition]) -> list[TopicPartition]:
        starts = self._consumer.committed(places, timeout=COMMITTED_TIMEOUT_S)
        for place in starts:
            if place.error is not None:
                raise KafkaException(place.error)
            if place.offset == OFFSET_INVALID:
                place.offset = 0
        return starts

    @contextlib.contextmanager
    def _leaving(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._consumer.close()

    def _copy_or_abort(self, messages: list[Message]) -> None:
        try:
            self._copy(messages)
        except KafkaException as failure:
            error = failure.args[0]
            tell("failed:", error)
            if not error.txn_requires_abort():
                raise
            self._abort(messages)

    def _copy(self, messages: list[Message]) -> None:
        aborts = self._dice.random() < self._job["abort_share"]
        self._producer.begin_transaction()
        offsets: dict[int, int] = {}
        for message in messages:
            value = b"aborted" if aborts else message.value()
            self._producer.produce(
                self._job["target"], value=value, key=message.key(), partition=message.partition()
            )
            offsets[message.partition()] = message.offset() + 1
        if aborts:
            self._producer.flush()
            self._abort(messages)
            return
        places = [
            TopicPartition(self._job["source"], partition, offset) for partition, offset in offsets.items()
        ]
        with ending_if_stuck():
            retried(lambda: self._producer.send_offsets_to_transaction(places, self._membership))
        retried(self._producer.commit_transaction)
        tell("copied", {place.partition: place.offset for place in places}, self._membership)

    def _abort(self, messages: list[Message]) -> None:
        retried(self._producer.abort_transaction)
        firsts: dict[int, int] = {}
        for message in messages:
            firsts.setdefault(message.partition(), message.offset())
        for partition, offset in firsts.items():
            self._consumer.seek(TopicPartition(self._job["source"], partition, offset))
        tell("aborted, goes on from", firsts)


@contextlib.contextmanager
def ending_if_stuck() -> Iterator[None]:
    def end() -> None:
        tell("stuck")
        os._exit(1)

    watchdog = threading.Timer(SEND_OFFSETS_TIMEOUT_S, end)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def tell(*words: object) -> None:
    print(f"{time.time():.3f}", *words, flush=True)


def retried(action: Callable[[], Result]) -> Result:
    while True:
        try:
            return action()
        except KafkaException as failure:
            if not failure.args[0].retriable():
                raise
            tell("again:", failure.args[0])


def main() -> None:
    job = json.loads(sys.argv[1])
    sys.stdin.readline()
    Copier(job).run()


if __name__ == "__main__":
    main()
