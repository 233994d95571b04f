"""Reads the records of one topic: fixed spans of its partitions, or as a member of a group."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from moldau.cli.client.connection import HOPELESS, POLL_S, Cluster
from moldau.cli.client.positions import Span
from moldau.cli.failures import Failure
from moldau.cli.render.output import NO_TIMESTAMP
from moldau.cli.render.record_output import Record

BATCH_MAX = 1000
# `--follow` waits for a lost broker to return, but ends on these errors.
_THE_END = HOPELESS | {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED}
_THE_END_OF_A_MEMBER = _THE_END | {KafkaError.GROUP_AUTHORIZATION_FAILED}


class Reader(Protocol):
    def batches(self) -> Iterator[Sequence[Record]]:
        """Yields batches until there is nothing more to read."""

    def finish(self, records: Sequence[Record]) -> None:
        """Marks the records as printed, so that they are not read again."""


class SpanReader:
    """Reads the given spans without a group. With `follow`, spans have no end."""

    def __init__(
        self, cluster: Cluster, consumer: Consumer, topic: str, spans: Mapping[int, Span], follow: bool
    ) -> None:
        self._cluster = cluster
        self._consumer = consumer
        self._topic = topic
        self._follow = follow
        self._unfinished = {part: span.end for part, span in spans.items() if follow or span.start < span.end}
        consumer.assign([TopicPartition(topic, part, spans[part].start) for part in self._unfinished])

    def batches(self) -> Iterator[Sequence[Record]]:
        doing = f"read topic '{self._topic}'"
        quiet_since = time.monotonic()
        while self._unfinished:
            batch = list(self._records(_poll(self._consumer)))
            if batch:
                yield batch
                quiet_since = time.monotonic()
                continue
            self._cluster.raise_complaint(_THE_END, doing)
            if not self._follow and time.monotonic() - quiet_since > self._cluster.timeout_s:
                partitions = ", ".join(map(str, sorted(self._unfinished)))
                raise self._cluster.no_answer(f"{doing}, partition {partitions}")

    def finish(self, records: Sequence[Record]) -> None:
        """Nothing is committed."""

    def _records(self, messages: Sequence[Message]) -> Iterator[Record]:
        for message in messages:
            error = message.error()
            partition = message.partition()
            if error is None:
                record = to_record(message)
                # Records written after the spans were determined are not read.
                if record.offset < self._unfinished.get(record.partition, -1) or self._follow:
                    yield record
                self._finish_at(record.partition, record.offset + 1)
            elif error.code() == KafkaError._PARTITION_EOF and partition is not None:
                # Transaction markers and compacted records leave offsets without a record.
                self._finish_at(partition, sys.maxsize)
            elif error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
                # The client library looks for the coordinator of its group, although it joins none.
                continue
            elif not (self._follow and error.retriable()):
                raise self._cluster.failure(error, f"read topic '{self._topic}'")

    def _finish_at(self, partition: int, offset: int) -> None:
        if not self._follow and offset >= self._unfinished.get(partition, sys.maxsize):
            self._unfinished.pop(partition, None)


class MemberReader:
    """Reads as a member of a group. Without `follow`, up to the end of each assigned partition."""

    def __init__(self, cluster: Cluster, consumer: Consumer, topic: str, group: str, follow: bool) -> None:
        self._cluster = cluster
        self._consumer = consumer
        self._topic = topic
        self._group = group
        self._follow = follow
        self._unfinished: set[int] | None = None
        """None until the first assignment."""
        consumer.subscribe([topic], on_assign=self._on_assign, on_revoke=self._on_revoke)

    def batches(self) -> Iterator[Sequence[Record]]:
        doing = f"read topic '{self._topic}' in group '{self._group}'"
        quiet_since = time.monotonic()
        while self._follow or self._unfinished is None or self._unfinished:
            batch = list(self._records(_poll(self._consumer), doing))
            if batch:
                yield batch
                quiet_since = time.monotonic()
                continue
            self._cluster.raise_complaint(_THE_END_OF_A_MEMBER, doing)
            if not self._follow and time.monotonic() - quiet_since > self._cluster.timeout_s:
                raise self._cluster.no_answer(doing)

    def finish(self, records: Sequence[Record]) -> None:
        """Stores the offsets. The client commits them periodically and when it leaves the group."""
        ends = {record.partition: record.offset + 1 for record in records}
        offsets = [TopicPartition(self._topic, partition, end) for partition, end in ends.items()]
        try:
            self._consumer.store_offsets(offsets=offsets)
        except KafkaException as error:
            # The partition was revoked meanwhile: its new owner reads the records again.
            if error.args[0].code() != KafkaError._STATE:
                raise

    def _on_assign(self, _consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        if not places and not self._unfinished and not self._follow:
            raise Failure(
                f"group '{self._group}' assigned no partition of topic '{self._topic}' to this command: its other "
                "members have all of them.",
                "Stop one of them, or omit --group. With --follow, this command waits for an assignment.",
            )
        self._unfinished = {*(self._unfinished or ()), *(place.partition for place in places)}

    def _on_revoke(self, _consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        self._unfinished = (self._unfinished or set()) - {place.partition for place in places} or None

    def _records(self, messages: Sequence[Message], doing: str) -> Iterator[Record]:
        for message in messages:
            error = message.error()
            if error is None:
                yield to_record(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                (self._unfinished or set()).discard(message.partition() or 0)
            elif not (self._follow and error.retriable()):
                raise self._cluster.failure(error, doing)


def _poll(consumer: Consumer) -> Sequence[Message]:
    """Waits for one record, and returns it with all others already fetched."""
    first = consumer.poll(POLL_S)
    return [] if first is None else [first, *consumer.consume(BATCH_MAX - 1, timeout=0)]


def to_record(message: Message) -> Record:
    kind, timestamp_ms = message.timestamp()
    known = kind != TIMESTAMP_NOT_AVAILABLE
    return Record(
        topic=message.topic() or "",
        partition=message.partition() or 0,
        offset=message.offset() or 0,
        timestamp_ms=timestamp_ms if known else NO_TIMESTAMP,
        timestamp_type="log_append_time" if kind == TIMESTAMP_LOG_APPEND_TIME else "create_time",
        key=message.key(),
        value=message.value(),
        headers=cast(list[tuple[str, bytes | None]], message.headers() or []),
    )
