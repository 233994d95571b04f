"""`moldau consume`: reads records of a topic without a consumer group, to the end of the log or on and on."""

import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import click
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from moldau.cli import record_format
from moldau.cli.cluster import HOPELESS, POLL_S, Cluster
from moldau.cli.failures import Failure
from moldau.cli.options import Timestamp, complete_topic, on_cluster
from moldau.cli.output import counted
from moldau.cli.positions import Span, Start, StartOffset, resolve
from moldau.cli.record_format import Record

BATCH_MAX = 1000
# Whoever follows a log waits for a lost broker to return, but not for a deleted topic.
_THE_END = HOPELESS | {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED}
RAW_FIELDS = ("timestamp", "partition", "offset", "headers", "key")


class Reader:
    """Reads the given spans; `follow` means there is no end to them."""

    def __init__(
        self, cluster: Cluster, consumer: Consumer, topic: str, spans: Mapping[int, Span], follow: bool
    ):
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
            batch = list(self._records(self._poll()))
            if batch:
                yield batch
                quiet_since = time.monotonic()
                continue
            self._cluster.raise_complaint(_THE_END, doing)
            if not self._follow and time.monotonic() - quiet_since > self._cluster.timeout_s:
                partitions = ", ".join(map(str, sorted(self._unfinished)))
                raise self._cluster.no_answer(f"{doing}, partition {partitions}")

    def _poll(self) -> Sequence[Message]:
        """The first record as soon as it comes, and with it what else is there already."""
        first = self._consumer.poll(POLL_S)
        return [] if first is None else [first, *self._consumer.consume(BATCH_MAX - 1, timeout=0)]

    def _records(self, messages: Sequence[Message]) -> Iterator[Record]:
        for message in messages:
            error = message.error()
            partition = message.partition()
            if error is None:
                record = to_record(message)
                # What was written after we looked is for the next run.
                if record.offset < self._unfinished.get(record.partition, -1) or self._follow:
                    yield record
                self._finish_at(record.partition, record.offset + 1)
            elif error.code() == KafkaError._PARTITION_EOF and partition is not None:
                # Transaction markers and compacted records take up offsets that no record will come for.
                self._finish_at(partition, sys.maxsize)
            elif not (self._follow and error.retriable()):
                raise self._cluster.failure(error, f"read topic '{self._topic}'")

    def _finish_at(self, partition: int, offset: int) -> None:
        if not self._follow and offset >= self._unfinished.get(partition, sys.maxsize):
            self._unfinished.pop(partition, None)


def to_record(message: Message) -> Record:
    kind, timestamp_ms = message.timestamp()
    known = kind != TIMESTAMP_NOT_AVAILABLE
    return Record(
        topic=message.topic() or "",
        partition=message.partition() or 0,
        offset=message.offset() or 0,
        timestamp_ms=timestamp_ms if known else record_format.NO_TIMESTAMP,
        timestamp_type="log_append_time" if kind == TIMESTAMP_LOG_APPEND_TIME else "create_time",
        key=message.key(),
        value=message.value(),
        headers=cast(list[tuple[str, bytes | None]], message.headers() or []),
    )


@click.command("consume")
@click.argument("topic", shell_complete=complete_topic)
@click.option(
    "--partition", "-p", "partitions", type=click.IntRange(min=0), multiple=True, help="Left out: all."
)
@click.option(
    "--from-beginning", is_flag=True, help="Start at the oldest record; the default without --follow."
)
@click.option(
    "--offset", type=StartOffset(), help="Start there: a number, -N for the last N, beginning, end."
)
@click.option("--from-time", type=Timestamp(), help="Start at milliseconds since 1970, ISO 8601, or 15m ago.")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("--follow", "-f", is_flag=True, help="At the end of the log wait for more, until Ctrl-C.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["raw", "json", "hex", "table"]),
    default="raw",
    show_default=True,
    help="raw: the value and a line feed. json: one object a line.",
)
@click.option("--print-timestamp", is_flag=True, help="raw: the timestamp before the value.")
@click.option("--print-partition", is_flag=True, help="raw: the partition before the value.")
@click.option("--print-offset", is_flag=True, help="raw: the offset before the value.")
@click.option("--print-headers", is_flag=True, help="raw: the headers before the value.")
@click.option("--print-key", is_flag=True, help="raw: the key before the value.")
@click.option(
    "--key-separator", default="\\t", show_default=True, help="raw: what parts key, value and the rest."
)
@click.option(
    "--isolation-level",
    type=click.Choice(["read_committed", "read_uncommitted"]),
    default="read_committed",
    show_default=True,
    help="Whether to skip records of transactions that did not commit.",
)
@click.option("--quiet", "-q", is_flag=True, help="Do not say at the end how many records there were.")
@on_cluster
def command(
    cluster: Cluster,
    topic: str,
    partitions: Sequence[int],
    from_beginning: bool,
    offset: Start | None,
    from_time: int | None,
    limit: int | None,
    follow: bool,
    form: str,
    key_separator: str,
    isolation_level: str,
    quiet: bool,
    **print_flags: bool,
) -> None:
    """Read records of TOPIC. Stops at the end of the log, unless told to --follow.

    No consumer group takes part, so nothing is committed and nobody else is disturbed.
    """
    start = _choose_start(from_beginning, offset, from_time, follow)
    chosen = _choose_partitions(cluster, topic, partitions, start)
    isolation = IsolationLevel[isolation_level.upper()]
    spans = resolve(cluster, topic, chosen, start, isolation)
    write = _formatter(form, [name for name in RAW_FIELDS if print_flags[f"print_{name}"]], key_separator)
    consumer = cluster.consumer(
        {
            # The client library wants a name for a group; with assigned partitions none is joined.
            "group.id": "moldau-consume",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": isolation_level,
            # The topic was there a moment ago: when it is not, it was deleted, and need not be waited for long.
            "topic.metadata.propagation.max.ms": 5000,
        }
    )
    count = 0
    try:
        for batch in Reader(cluster, consumer, topic, spans, follow).batches():
            wanted = batch if limit is None else batch[: limit - count]
            sys.stdout.buffer.write(b"".join(map(write, wanted)))
            sys.stdout.buffer.flush()
            count += len(wanted)
            if count == limit:
                break
    except BrokenPipeError:
        quiet = True
        raise
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"read topic '{topic}'") from error
    finally:
        consumer.close()
        if not quiet:
            click.echo(f"{counted(count, 'record')} read from topic '{topic}'.", err=True)


def _choose_start(from_beginning: bool, offset: Start | None, from_time: int | None, follow: bool) -> Start:
    if from_beginning + (offset is not None) + (from_time is not None) > 1:
        raise click.UsageError(
            "--from-beginning, --offset and --from-time each name the start: pass one of them."
        )
    if offset is not None:
        return offset
    if from_time is not None:
        return Start(timestamp_ms=from_time)
    return Start(offset=OFFSET_END if follow and not from_beginning else OFFSET_BEGINNING)


def _choose_partitions(cluster: Cluster, topic: str, wanted: Sequence[int], start: Start) -> Sequence[int]:
    existing = {part.id for part in cluster.describe_topic(topic).partitions}
    for partition in wanted:
        if partition not in existing:
            raise Failure(
                f"topic '{topic}' has no partition {partition}: "
                f"it has {counted(len(existing), 'partition')}, from 0."
            )
    chosen = sorted(set(wanted) or existing)
    if start.offset is not None and start.offset >= 0 and len(chosen) > 1:
        raise click.UsageError(
            f"Topic '{topic}' has {counted(len(existing), 'partition')}, and offset {start.offset} is a "
            "different place in each: pass --partition as well."
        )
    return chosen


def _formatter(form: str, fields: Sequence[str], key_separator: str) -> record_format.Formatter:
    if form == "json":
        return record_format.as_json
    if form == "hex":
        return record_format.as_hex
    if form == "table":
        click.echo(record_format.TABLE_HEADING)
        width_max = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        return record_format.table_row(width_max)
    return record_format.raw(fields, key_separator.replace("\\t", "\t").encode())
