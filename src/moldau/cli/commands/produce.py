"""`moldau produce`: writes records and reports how many were acknowledged."""

import sys
from collections.abc import Iterable, Iterator, Sequence

import click
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from moldau.cli.client.connection import POLL_S, Cluster
from moldau.cli.client.delivery_failures import BrokerRefusals, delivery_failure
from moldau.cli.client.producer_settings import producer_settings
from moldau.cli.failures import similar_names
from moldau.cli.formats.format_options import Formats, format_options
from moldau.cli.formats.record_input import LineFormat, Outgoing
from moldau.cli.options import KeyValue, Timestamp, complete_topic, on_cluster
from moldau.cli.render.output import counted, output_option, print_data
from moldau.cli.topic_partitions import no_such_partition


class Delivery:
    """Sends records and counts the results."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self.delivered = 0
        self.failed = 0
        self.first_error: KafkaError | None = None
        self.first_lost: Message | None = None

    def send(self, records: Iterable[Outgoing]) -> None:
        """Stops at the first failure, because later records would most likely fail too."""
        for record in records:
            self._send_one(record)
            self._producer.poll(0)
            if self.first_error is not None:
                return

    def _send_one(self, record: Outgoing) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    record.value,
                    record.key,
                    partition=record.partition,
                    timestamp=record.timestamp_ms,
                    headers=record.headers,
                    on_delivery=self._report,
                )
                return
            except BufferError:
                self._producer.poll(POLL_S)
            except KafkaException as error:
                self._fail(error.args[0], None)
                return

    def finish(self) -> None:
        """Returns when every record is acknowledged or has failed."""
        try:
            while self._producer.flush(POLL_S):
                pass
        except KafkaException as error:  # The brokers refuse this producer, whatever it writes.
            self._fail(error.args[0], None)

    def _report(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.delivered += 1
        else:
            self._fail(error, message)

    def _fail(self, error: KafkaError, lost: Message | None) -> None:
        self.failed += 1
        if self.first_error is None:
            self.first_error, self.first_lost = error, lost


@click.command("produce")
@click.argument("topic", shell_complete=complete_topic)
@click.option(
    "--value", help="Write one record with this value. Default: one record per line of standard input."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["raw", "json", "hex"]),
    default="raw",
    show_default=True,
    help="raw: a line is a value. json: an object as printed by `consume --format json`. hex: hexadecimal digits.",
)
@click.option("--key", help="The key of records without a key of their own.")
@click.option(
    "--key-separator", metavar="TEXT", help="The separator between key and value in a line; \\t for a tab."
)
@click.option(
    "--null-marker", metavar="TEXT", help="Send a value that equals this text as null (a tombstone)."
)
@click.option("--header", "headers", type=KeyValue(), multiple=True, help="A header. Repeatable.")
@click.option(
    "--partition",
    type=click.IntRange(min=0),
    help="The partition to write to. Default: by hash of the key, like Java clients.",
)
@click.option("--keep-partitions", is_flag=True, help="json: write to the partition given in the object.")
@click.option(
    "--timestamp",
    type=Timestamp(),
    help="The timestamp: milliseconds since 1970, ISO 8601, or how long ago (15m). Default: now.",
)
@click.option(
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
    help="Compression of record batches.",
)
@click.option(
    "--acks",
    type=click.Choice(["0", "1", "all"]),
    default="all",
    show_default=True,
    help="Which replicas must acknowledge a record: none, the leader, or all in sync.",
)
@format_options
@output_option
@on_cluster
def command(
    cluster: Cluster,
    topic: str,
    value: str | None,
    form: str,
    key: str | None,
    key_separator: str | None,
    null_marker: str | None,
    headers: Sequence[tuple[str, str]],
    partition: int | None,
    keep_partitions: bool,
    timestamp: int | None,
    compression: str,
    acks: str,
    output: str,
    **told: str | None,
) -> None:
    """Write records to TOPIC: the lines of standard input, or one --value."""
    formats = Formats(topic, timeout_s=cluster.timeout_s, **told)
    if key is not None and key_separator is not None:
        raise click.UsageError("Pass only one of --key and --key-separator.")
    if form == "json" and (key_separator is not None or null_marker is not None):
        raise click.UsageError("JSON objects contain keys and nulls: omit --key-separator and --null-marker.")
    if keep_partitions and (form != "json" or partition is not None):
        raise click.UsageError("--keep-partitions requires --format json and excludes --partition.")
    _require_topic(cluster, topic, partition)
    line_format = LineFormat(
        form,
        key.encode() if key is not None else None,
        key_separator,
        null_marker,
        headers,
        -1 if partition is None else partition,
        timestamp or 0,
        keep_partitions,
    )
    refusals = BrokerRefusals()
    settings = {**producer_settings(cluster, compression, acks), **refusals.client_settings()}
    delivery = Delivery(cluster.producer(settings), topic)
    lines = _lines() if value is None else [value.encode()]
    try:
        delivery.send(formats.encoded(line_format.parse(lines)))
    finally:
        delivery.finish()
        _summarize(delivery, acks, output)
    if delivery.first_error is not None:
        raise delivery_failure(cluster, topic, delivery.first_error, delivery.first_lost, refusals.last)


def _lines() -> Iterator[bytes]:
    if sys.stdin.isatty():
        click.echo("One record per line; Ctrl-D ends the input.", err=True)
    for line in sys.stdin.buffer:
        yield line.rstrip(b"\n").removesuffix(b"\r")


def _require_topic(cluster: Cluster, topic: str, partition: int | None) -> None:
    """Lets the brokers create an unknown topic, if auto.create.topics.enable allows it."""
    found = cluster.find_topic(topic)
    if found is None:
        similar = similar_names(topic, cluster.topic_names())
        found = cluster.auto_create_topic(topic)
        if found is None:
            raise cluster.unknown_topic(topic)
        note = f" (A similar topic exists: '{similar[0]}'.)" if similar else ""
        click.echo(f"Topic '{topic}' did not exist; the broker created it.{note}", err=True)
    count = len(found.partitions)
    if partition is not None and partition >= count:
        hint = f"`moldau topics alter {topic} --partitions {partition + 1}` adds it."
        raise no_such_partition(topic, partition, count, hint)


def _summarize(delivery: Delivery, acks: str, output: str) -> None:
    if output != "table":
        acknowledged = 0 if acks == "0" else delivery.delivered
        print_data(
            output, {"sent": delivery.delivered, "acknowledged": acknowledged, "failed": delivery.failed}
        )
        return
    verb = "sent without acknowledgement" if acks == "0" else "acknowledged"
    failed = f", {delivery.failed:,} failed" if delivery.failed else ""
    click.echo(f"{counted(delivery.delivered, 'record')} {verb}{failed}.")
