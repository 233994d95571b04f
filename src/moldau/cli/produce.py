"""`moldau produce`: writes records to a topic and says how many the brokers acknowledged."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import click
from confluent_kafka import KafkaError, KafkaException, Producer

from moldau.cli.cluster import POLL_S, Cluster
from moldau.cli.failures import Failure, similar_names
from moldau.cli.options import KeyValue, Timestamp, complete_topic, on_cluster
from moldau.cli.output import counted, output_option, print_json

# What waits in the client is bounded, so that a slow broker slows the reading of the input down and a record
# does not outlive its timeout in the queue.
QUEUE_KIB_MAX = 32 * 1024

KeyAndValue = tuple[bytes | None, bytes | None]


class Envelope(NamedTuple):
    """What every record of one run has in common. Partition -1: by the key; timestamp 0: now."""

    headers: list[tuple[str, str | bytes | None]]
    partition: int = -1
    timestamp_ms: int = 0


class Delivery:
    """Sends records and keeps the account of them."""

    def __init__(self, producer: Producer, topic: str, envelope: Envelope) -> None:
        self._producer = producer
        self._topic = topic
        self._envelope = envelope
        self.delivered = 0
        self.failed = 0
        self.first_error: KafkaError | None = None

    def send(self, records: Iterable[KeyAndValue]) -> None:
        """Stops reading at the first failure: what follows would most likely fail as well."""
        for key, value in records:
            self._send_one(key, value)
            self._producer.poll(0)
            if self.first_error is not None:
                return

    def _send_one(self, key: bytes | None, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    partition=self._envelope.partition,
                    timestamp=self._envelope.timestamp_ms,
                    headers=self._envelope.headers,
                    on_delivery=self._report,
                )
                return
            except BufferError:
                self._producer.poll(POLL_S)
            except KafkaException as error:
                self._fail(error.args[0])
                return

    def finish(self) -> None:
        """Returns when every record is acknowledged or given up."""
        while self._producer.flush(POLL_S):
            pass

    def _report(self, error: KafkaError | None, _message: object) -> None:
        if error is None:
            self.delivered += 1
        else:
            self._fail(error)

    def _fail(self, error: KafkaError) -> None:
        self.failed += 1
        self.first_error = self.first_error or error


@click.command("produce")
@click.argument("topic", shell_complete=complete_topic)
@click.option("--value", help="Write this one record. Left out: each line of the standard input is a record.")
@click.option("--key", help="The key of every record.")
@click.option("--key-separator", metavar="TEXT", help="What parts key and value in a line; \\t for a tab.")
@click.option("--null-marker", metavar="TEXT", help="A value of exactly this is sent as null (a tombstone).")
@click.option("--header", "headers", type=KeyValue(), multiple=True, help="A header; may be repeated.")
@click.option(
    "--partition", type=click.IntRange(min=0), help="Left out: by the key's hash, as Java clients do."
)
@click.option(
    "--timestamp", type=Timestamp(), help="Milliseconds since 1970, ISO 8601, or how long ago (15m)."
)
@click.option(
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
)
@click.option(
    "--acks",
    type=click.Choice(["0", "1", "all"]),
    default="all",
    show_default=True,
    help="Who must have a record before it counts: nobody, the leader, all in-sync replicas.",
)
@output_option
@on_cluster
def command(
    cluster: Cluster,
    topic: str,
    value: str | None,
    key: str | None,
    key_separator: str | None,
    null_marker: str | None,
    headers: Sequence[tuple[str, str]],
    partition: int | None,
    timestamp: int | None,
    compression: str,
    acks: str,
    output: str,
) -> None:
    """Write records to TOPIC: the lines of the standard input, or one --value."""
    if key is not None and key_separator is not None:
        raise click.UsageError("--key and --key-separator both name the key: pass one of them.")
    _require_topic(cluster, topic, partition)
    envelope = Envelope(list(headers), -1 if partition is None else partition, timestamp or 0)
    producer = cluster.producer(producer_settings(cluster, compression, acks))
    delivery = Delivery(producer, topic, envelope)
    lines = _lines() if value is None else [value.encode()]
    try:
        delivery.send(split_lines(lines, key, key_separator, null_marker))
    finally:
        delivery.finish()
        _summarize(delivery, acks, output)
    if delivery.first_error is not None:
        raise cluster.failure(delivery.first_error, f"write to topic '{topic}'")


def producer_settings(cluster: Cluster, compression: str, acks: str) -> Mapping[str, object]:
    return {
        "acks": acks,
        "compression.type": compression,
        # Java's producer has it on by default since KIP-679; it is only possible with all replicas asked.
        "enable.idempotence": acks == "all",
        # Where Java's producer would put the key, or joins and compaction would see it in two partitions.
        "partitioner": "murmur2_random",
        "message.timeout.ms": int(cluster.timeout_s * 1000),
        "queue.buffering.max.kbytes": QUEUE_KIB_MAX,
    }


def split_lines(
    lines: Iterable[bytes], key: str | None, key_separator: str | None, null_marker: str | None
) -> Iterator[KeyAndValue]:
    separator = key_separator.replace("\\t", "\t").encode() if key_separator else None
    null = null_marker.encode() if null_marker is not None else None
    fixed_key = key.encode() if key is not None else None
    for number, line in enumerate(lines, start=1):
        if separator is None:
            record_key, value = fixed_key, line
        else:
            record_key, found, value = line.partition(separator)
            if not found:
                raise Failure(
                    f"line {number} has no key: '{key_separator}' does not occur in it.",
                    "The lines before it were sent, the rest was not.",
                )
        yield record_key, None if value == null else value


def _lines() -> Iterator[bytes]:
    if sys.stdin.isatty():
        click.echo("One record a line; Ctrl-D ends.", err=True)
    for line in sys.stdin.buffer:
        yield line.rstrip(b"\n").removesuffix(b"\r")


def _require_topic(cluster: Cluster, topic: str, partition: int | None) -> None:
    """An unknown topic is for the brokers to create, when they do so (`auto.create.topics.enable`)."""
    found = cluster.find_topic(topic)
    if found is None:
        similar = similar_names(topic, cluster.topic_names())
        found = cluster.auto_create_topic(topic)
        if found is None:
            raise cluster.unknown_topic(topic)
        note = f" (There is '{similar[0]}', too.)" if similar else ""
        click.echo(f"There was no topic '{topic}'; the broker created it.{note}", err=True)
    count = len(found.partitions)
    if partition is not None and partition >= count:
        raise Failure(
            f"topic '{topic}' has no partition {partition}: it has {counted(count, 'partition')}, from 0.",
            f"`moldau topics alter {topic} --partitions {partition + 1}` would add it.",
        )


def _summarize(delivery: Delivery, acks: str, output: str) -> None:
    if output == "json":
        acknowledged = 0 if acks == "0" else delivery.delivered
        print_json({"sent": delivery.delivered, "acknowledged": acknowledged, "failed": delivery.failed})
        return
    verb = "sent, no acknowledgement asked for" if acks == "0" else "acknowledged"
    failed = f", {delivery.failed:,} failed" if delivery.failed else ""
    click.echo(f"{counted(delivery.delivered, 'record')} {verb}{failed}.")
