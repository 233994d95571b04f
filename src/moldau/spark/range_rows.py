"""Reads a range of one partition as Arrow batches of bounded size. Runs in the tasks.

Each process keeps its consumer, so that the next task finds open connections.
"""

import contextlib
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from pyspark.sql.datasource import InputPartition

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.spark.columns import RowBuilder, RowLayout, offset_of
from moldau.spark.options import SourceOptions
from moldau.spark.topics import Place, made

BATCH_BYTES: Final = 4 << 20
BATCH_ROWS_MAX: Final = 20_000
FIRST_PORTION: Final = 200
QUEUED_KIB_MAX: Final = 8 << 10
FETCH_BYTES: Final = 2 << 20
"""The client prefetches, also beyond the end of the range. That data is discarded, so both are small."""
POLL_S: Final = 0.5
NOTHING_CAME_S_MAX: Final = 60.0
LOSS_IS_FINE_S_MAX: Final = 10.0
RESET: Final = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


class InputLost(MoldauError):
    """Records that must be read do not exist any more."""


@dataclass(frozen=True)
class OffsetRange(InputPartition):
    """What one task reads. The end is exclusive."""

    place: Place
    start: int
    end: int


class _KeptConsumer:
    """The consumer of this process, for the settings of the last call."""

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
    finished, portion = False, FIRST_PORTION
    patience = _Patience(wanted, fail=source.fail_on_data_loss)
    try:
        while not finished:
            first = consumer.poll(POLL_S)
            if first is None:
                finished = patience.is_over()
                continue
            patience.renew()
            batch: pa.RecordBatch | None = None
            with _without_garbage_collector():
                messages, finished = _within([first, *consumer.consume(portion, 0)], wanted)
                if messages:
                    batch = builder.batch(messages)
                    # Estimated from the size of the previous records.
                    portion = max(1, min(BATCH_ROWS_MAX, BATCH_BYTES * len(messages) // batch.nbytes))
                messages.clear()
            if batch is not None:
                yield batch
    finally:
        if finished:
            consumer.unassign()
        else:
            _kept.give_up()


def _settings(source: SourceOptions) -> dict[str, Any]:
    ours = consumer_settings(source.bootstrap_servers, {}, "moldau-spark")
    bounds = {
        "queued.max.messages.kbytes": str(QUEUED_KIB_MAX),
        "fetch.message.max.bytes": str(FETCH_BYTES),
        # How long a full queue waits before the next fetch. The default is a second.
        "fetch.queue.backoff.ms": "10",
    }
    return {
        **ours,
        **bounds,
        **source.kafka,
        # Positions are in Spark's checkpoint. The end of partition tells when a range is finished.
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error" if source.fail_on_data_loss else "earliest",
    }


@contextlib.contextmanager
def _without_garbage_collector() -> Iterator[None]:
    """Garbage collection would scan the messages repeatedly while they arrive and take more than half of the time. They
    are freed without it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Patience:
    """How long to wait without any message before the range is lost, or finished if the user accepts data loss."""

    def __init__(self, wanted: OffsetRange, *, fail: bool) -> None:
        self._wanted, self._fail = wanted, fail
        self._limit_s = NOTHING_CAME_S_MAX if fail else LOSS_IS_FINE_S_MAX
        self.renew()

    def renew(self) -> None:
        self._last_came = time.monotonic()

    def is_over(self) -> bool:
        if time.monotonic() - self._last_came < self._limit_s:
            return False
        if self._fail:
            raise InputLost(_nothing_came(self._wanted))
        return True


def _within(came: list[Message], wanted: OffsetRange) -> tuple[list[Message], bool]:
    """The messages of the range, and whether its end is reached. The last offsets may be transaction markers, which are
    never delivered."""
    first, last = offset_of(came[0]), offset_of(came[-1])
    if first >= wanted.start and last < wanted.end - 1 and not any(map(Message.error, came)):
        return came, False
    taken: list[Message] = []
    for message in came:
        offset = offset_of(message)
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            _refuse(wanted, error)
        if offset >= wanted.end:
            return taken, True
        if error is None and offset >= wanted.start:
            taken.append(message)
            if offset == wanted.end - 1:
                return taken, True
    return taken, False


def _refuse(wanted: OffsetRange, error: KafkaError) -> None:
    topic, partition = wanted.place
    if error.code() in RESET:
        raise InputLost(
            f"{topic}-{partition} no longer has offset {wanted.start} ({error.str()}): retention has deleted it, or "
            "the topic was created again. .option('failOnDataLoss', 'false') continues with the remaining records"
        )
    raise InputLost(f"{topic}-{partition} cannot be read: {error.str()}")


def _nothing_came(wanted: OffsetRange) -> str:
    topic, partition = wanted.place
    return (
        f"received nothing from {topic}-{partition} within {NOTHING_CAME_S_MAX:.0f} s, but must read up to offset "
        f"{wanted.end}: are its brokers running? .option('failOnDataLoss', 'false') continues without them"
    )
