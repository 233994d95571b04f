"""`moldau perf`: how fast a cluster takes and gives records, printed as Kafka's perf tools do."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.delivery_failures import delivery_failure
from moldau.cli.client.offset_queries import topic_offsets
from moldau.cli.commands.perf.client_metrics import ClientMetrics
from moldau.cli.commands.perf.measurements import ConsumeRun, ProduceRun, RoundTrips, Say
from moldau.cli.commands.perf.payloads import SchemaLoad, from_file, letters
from moldau.cli.commands.perf.perf_stats import CONSUMED_HEADING, latency_lines
from moldau.cli.commands.produce import producer_settings
from moldau.cli.formats.format_options import registry_option
from moldau.cli.options import complete_topic, on_cluster
from moldau.cli.render.output import CommandFunction, counted, output_option, print_data
from moldau.cli.render.progress import Bar, progress_bar

DEFAULT_SIZE = 100

topic_argument = click.argument("topic", shell_complete=complete_topic)
size_option = click.option(
    "--record-size",
    "size_bytes",
    type=click.IntRange(min=1),
    default=DEFAULT_SIZE,
    show_default=True,
    help="Bytes.",
)
metrics_option = click.option(
    "--print-metrics",
    is_flag=True,
    help="At the end what the client counted: requests, round trips, batches.",
)
acks_option = click.option(
    "--acks",
    type=click.Choice(["0", "1", "all"]),
    default="all",
    show_default=True,
    help="Who must have a record before it counts: nobody, the leader, all in-sync replicas.",
)


def count_option(default: int) -> Callable[[CommandFunction], CommandFunction]:
    return click.option(
        "--num-records", "-n", "count", type=click.IntRange(min=1), default=default, show_default=True
    )


@click.group("perf")
def command() -> None:
    """Measure how fast records are written and read.

    The client is librdkafka in Python, not Java: the figures are those of this pair, and the lines are
    Kafka's, so that scripts which read them go on working.
    """


def _sayer(bar: Bar, output: str) -> Say:
    """Lines on the way are for logs: a bar says the same better, and a program wants one answer."""
    return click.echo if output == "table" and not bar.is_shown else lambda line: None


@command.command("produce")
@topic_argument
@count_option(100_000)
@click.option(
    "--record-size", "size_bytes", type=click.IntRange(min=1), help="Bytes of each value; 100 when left out."
)
@click.option(
    "--payload-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Values to write, one after the other, and again from the first.",
)
@click.option("--payload-delimiter", default="\\n", show_default=True, help="What parts them in the file.")
@click.option(
    "--schema",
    metavar="SCHEMA",
    help="Records made up for this schema: @FILE, id:N, SUBJECT or SUBJECT:VERSION of a registry.",
)
@click.option(
    "--value-format",
    type=click.Choice(["avro", "json-schema"]),
    help="What the schema is; left out: by the file's ending (.avsc, .json), or Avro.",
)
@click.option("--as-json", is_flag=True, help="--schema: write JSON without a frame; needs no registry.")
@click.option("--key-field", metavar="NAME", help="--schema: the field whose value is the record's key.")
@registry_option
@metrics_option
@click.option(
    "--throughput", type=float, default=-1, show_default=True, help="Records a second at most; -1: no limit."
)
@click.option(
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
)
@acks_option
@output_option
@on_cluster
def produce(
    cluster: Cluster,
    topic: str,
    count: int,
    size_bytes: int | None,
    payload_file: Path | None,
    payload_delimiter: str,
    schema: str | None,
    print_metrics: bool,
    throughput: float,
    compression: str,
    acks: str,
    output: str,
    **schema_options: Any,
) -> None:
    """Write records to TOPIC as fast as it goes, and say how fast that was.

    A latency is the time from handing a record to the client until the broker's acknowledgement. -X sets
    batch.size, linger.ms and the like.
    """
    if (size_bytes is not None) + (payload_file is not None) + (schema is not None) > 1:
        raise click.UsageError(
            "--record-size, --payload-file and --schema each say what to write: pass one of them."
        )
    cluster.describe_topic(topic)
    if payload_file is not None:
        payloads = from_file(payload_file, payload_delimiter)
    elif schema is not None:
        payloads = SchemaLoad(topic, schema, timeout_s=cluster.timeout_s, **schema_options).payloads(count)
    else:
        payloads = letters(size_bytes or DEFAULT_SIZE)
    metrics = ClientMetrics()
    settings = {
        **producer_settings(cluster, compression, acks),
        **(metrics.settings if print_metrics else {}),
        "message.timeout.ms": 120_000,
    }
    producer = cluster.producer(settings)
    with progress_bar(count, "producing") as bar:
        run = ProduceRun(producer, topic, payloads, bar.advance, _sayer(bar, output))
        done = run.run(count, throughput if throughput > 0 else None)
    if print_metrics:
        metrics.finish(producer.poll)
    _show(done.as_json(), [done.line()], metrics if print_metrics else None, output)
    if run.first_error is not None:
        raise delivery_failure(cluster, topic, run.first_error, run.first_lost, None)


@command.command("consume")
@topic_argument
@count_option(100_000)
@click.option("--group", help="Left out: one made up for this run.")
@click.option("--from-latest", is_flag=True, help="Only what is written from now on.")
@click.option("--hide-header", is_flag=True, help="Only the line of figures.")
@metrics_option
@output_option
@on_cluster
def consume(
    cluster: Cluster,
    topic: str,
    count: int,
    group: str | None,
    from_latest: bool,
    hide_header: bool,
    print_metrics: bool,
    output: str,
) -> None:
    """Read records of TOPIC in a consumer group as fast as it goes, and say how fast that was."""
    cluster.describe_topic(topic)
    metrics = ClientMetrics()
    consumer = cluster.consumer(
        {
            "group.id": group or f"perf-consumer-{secrets.token_hex(4)}",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest" if from_latest else "earliest",
            "check.crcs": True,
            **(metrics.settings if print_metrics else {}),
        }
    )
    try:
        with progress_bar(count, "consuming") as bar:
            done = ConsumeRun(cluster, consumer, topic, bar.advance).run(count)
        if print_metrics:
            metrics.finish(consumer.poll)
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"read topic '{topic}'") from error
    finally:
        consumer.close()
    if done.count < count:
        click.echo(
            f"Only {counted(done.count, 'record')} of {count:,} came: nothing more within "
            f"{cluster.timeout_s:g} s. --timeout SECONDS waits longer.",
            err=True,
        )
    lines = [done.line()] if hide_header else [CONSUMED_HEADING, done.line()]
    _show(done.as_json(), lines, metrics if print_metrics else None, output)


def _show(
    figures: Mapping[str, float], lines: Sequence[str], metrics: ClientMetrics | None, output: str
) -> None:
    if output == "json" and metrics is not None:
        print_data(output, {**figures, "metrics": metrics.as_json()})
    elif output != "table":
        print_data(output, {**figures, **(metrics.as_json() if metrics else {})})
    else:
        click.echo("\n".join(lines))
        if metrics is not None:
            click.echo(f"\n{metrics.as_text()}")


@command.command("latency")
@topic_argument
@count_option(1_000)
@size_option
@acks_option
@output_option
@on_cluster
def latency(cluster: Cluster, topic: str, count: int, size_bytes: int, acks: str, output: str) -> None:
    """Write one record at a time to TOPIC, and say how long each took until it was read again."""
    partitions = [part.id for part in cluster.describe_topic(topic).partitions]
    ends = topic_offsets(cluster, topic, partitions, OffsetSpec.latest())
    producer = cluster.producer({**producer_settings(cluster, "none", acks), "linger.ms": 0})
    consumer = cluster.consumer(
        {
            "group.id": "moldau-latency",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 500,
            "fetch.min.bytes": 1,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, end) for partition, end in ends.items()])
        with progress_bar(count, "there and back") as bar:
            trips = RoundTrips(cluster, producer, consumer, topic)
            latencies = trips.run(count, letters(size_bytes)[0].value, _sayer(bar, output), bar.advance)
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"measure topic '{topic}'") from error
    finally:
        consumer.close()
    if output != "table":
        print_data(output, {"records": count, "record_bytes": size_bytes, **latencies.as_json()})
    else:
        click.echo(latency_lines(latencies))
