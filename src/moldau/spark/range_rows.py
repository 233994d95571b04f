"""Reads a range of one partition as Arrow batches of bounded size. Runs in the tasks.

The consumer stays with its process: the next task finds its connections open.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, TopicPartition
from pyspark.sql.datasource import InputPartition

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.spark.columns import RowBuilder, RowLayout
from moldau.spark.options import SourceOptions
from moldau.spark.topics import Place, made

BATCH_BYTES: Final = 4 << 20
BATCH_ROWS_MAX: Final = 10_000
QUEUED_KIB_MAX: Final = 32 << 10
"""Fetched ahead by the client."""
POLL_S: Final = 0.5
NOTHING_CAME_S_MAX: Final = 60.0
LOSS_IS_FINE_S_MAX: Final = 10.0
RESET: Final = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


class InputLost(MoldauError):
    """Records that must be read are not there."""


@dataclass(frozen=True)
class OffsetRange(InputPartition):
    """What one task reads; the end is exclusive."""

    place: Place
    start: int
    end: int


class _KeptConsumer:
    """The one of this process, for the settings it was last wanted with."""

    settings: dict[str, Any] | None = None
    consumer: Consumer | None = None

    def take(self, settings: dict[str, Any]) -> Consumer:
        if self.consumer is None or settings != self.settings:
            self.give_up()
            self.consumer, self.settings = made(Consumer, settings), settings
        return self.consumer

    def give_up(self) -> None:
        if self.consumer is not None:
            self.consumer.close()
        self.consumer = None


_kept = _KeptConsumer()


def read_range(source: SourceOptions, layout: RowLayout, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    consumer = _kept.take(_settings(source))
    builder = RowBuilder(layout, wanted.place)
    consumer.assign([TopicPartition(*wanted.place, wanted.start)])
    finished = False
    try:
        for messages in _messages(consumer, wanted, fail=source.fail_on_data_loss):
            yield builder.batch(messages)
        finished = True
    finally:
        if finished:
            consumer.unassign()
        else:
            _kept.give_up()


def _settings(source: SourceOptions) -> dict[str, Any]:
    ours = consumer_settings(source.bootstrap_servers, {}, "moldau-spark")
    wanted = {**ours, "queued.max.messages.kbytes": str(QUEUED_KIB_MAX), **source.kafka}
    return {
        **wanted,
        # Positions are in Spark's checkpoint, and where a range ends is told by the end of the partition.
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error" if source.fail_on_data_loss else "earliest",
    }


def _messages(consumer: Consumer, wanted: OffsetRange, *, fail: bool) -> Iterator[list[Any]]:
    """Portions that hold at most about `BATCH_BYTES`, judged by the size of the records before."""
    patience_s = NOTHING_CAME_S_MAX if fail else LOSS_IS_FINE_S_MAX
    portion, last_came = 100, time.monotonic()
    while True:
        first = consumer.poll(POLL_S)
        if first is None:
            if time.monotonic() - last_came < patience_s:
                continue
            if not fail:
                return
            raise InputLost(_nothing_came(wanted))
        last_came = time.monotonic()
        messages, at_end = _within([first, *consumer.consume(portion, 0)], wanted)
        if messages:
            portion = _next_portion(messages)
            yield messages
        if at_end:
            return


def _within(came: list[Any], wanted: OffsetRange) -> tuple[list[Any], bool]:
    """Those of the range, and whether its end is reached: the last offsets may be markers of transactions, which are
    never delivered."""
    if not any([message.error() for message in came]) and came[0].offset() >= wanted.start:
        if came[-1].offset() < wanted.end - 1:
            return came, False
        return [message for message in came if message.offset() < wanted.end], True
    taken = []
    for message in came:
        error = message.error()
        if error is None:
            if message.offset() >= wanted.end - 1:
                if message.offset() == wanted.end - 1:
                    taken.append(message)
                return taken, True
            if message.offset() >= wanted.start:
                taken.append(message)
        elif error.code() != KafkaError._PARTITION_EOF:
            _refuse(wanted, error)
        elif message.offset() >= wanted.end:
            return taken, True
    return taken, False


def _next_portion(messages: list[Any]) -> int:
    size = sum([len(message) for message in messages])
    return max(1, min(BATCH_ROWS_MAX, BATCH_BYTES * len(messages) // max(1, size)))


def _refuse(wanted: OffsetRange, error: KafkaError) -> None:
    topic, partition = wanted.place
    if error.code() in RESET:
        raise InputLost(
            f"{topic}-{partition} no longer holds offset {wanted.start} ({error.str()}): retention has removed it, or "
            "the topic was created again. .option('failOnDataLoss', 'false') goes on with what is left"
        )
    raise InputLost(f"{topic}-{partition} cannot be read: {error.str()}")


def _nothing_came(wanted: OffsetRange) -> str:
    topic, partition = wanted.place
    return (
        f"nothing came from {topic}-{partition} within {NOTHING_CAME_S_MAX:.0f} s, which is to be read up to offset "
        f"{wanted.end}: are its brokers there? .option('failOnDataLoss', 'false') goes on without the missing records"
    )
