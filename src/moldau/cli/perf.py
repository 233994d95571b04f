"""`moldau perf`: how fast a cluster takes and gives records, printed as Kafka's perf tools do."""

import random
import secrets
from collections.abc import Callable

import click
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from moldau.cli.cluster import Cluster
from moldau.cli.measurements import ConsumeRun, ProduceRun, RoundTrips, Say
from moldau.cli.offset_queries import topic_offsets
from moldau.cli.options import complete_topic, on_cluster
from moldau.cli.output import CommandFunction, counted, output_option, print_data
from moldau.cli.perf_stats import CONSUMED_HEADING, latency_lines
from moldau.cli.produce import producer_settings
from moldau.cli.progress import Bar, progress_bar

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

topic_argument = click.argument("topic", shell_complete=complete_topic)
size_option = click.option(
    "--record-size", "size_bytes", type=click.IntRange(min=1), default=100, show_default=True, help="Bytes."
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


def _payload(size_bytes: int) -> bytes:
    """Capital letters at random, as Kafka's tool sends them: neither zeros nor noise."""
    return bytes(random.Random(size_bytes).choices(LETTERS, k=size_bytes))


def _sayer(bar: Bar, output: str) -> Say:
    """Lines on the way are for logs: a bar says the same better, and a program wants one answer."""
    return click.echo if output == "table" and not bar.is_shown else lambda line: None


@command.command("produce")
@topic_argument
@count_option(100_000)
@size_option
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
    size_bytes: int,
    throughput: float,
    compression: str,
    acks: str,
    output: str,
) -> None:
    """Write records to TOPIC as fast as it goes, and say how fast that was.

    A latency is the time from handing a record to the client until the broker's acknowledgement. -X sets
    batch.size, linger.ms and the like.
    """
    cluster.describe_topic(topic)
    settings = {**producer_settings(cluster, compression, acks), "message.timeout.ms": 120_000}
    with progress_bar(count, "producing") as bar:
        run = ProduceRun(
            cluster.producer(settings), topic, _payload(size_bytes), bar.advance, _sayer(bar, output)
        )
        done = run.run(count, throughput if throughput > 0 else None)
    if output != "table":
        print_data(output, done.as_json())
    else:
        click.echo(done.line())
    if run.first_error is not None:
        raise cluster.failure(run.first_error, f"write to topic '{topic}'")


@command.command("consume")
@topic_argument
@count_option(100_000)
@click.option("--group", help="Left out: one made up for this run.")
@click.option("--from-latest", is_flag=True, help="Only what is written from now on.")
@click.option("--hide-header", is_flag=True, help="Only the line of figures.")
@output_option
@on_cluster
def consume(
    cluster: Cluster,
    topic: str,
    count: int,
    group: str | None,
    from_latest: bool,
    hide_header: bool,
    output: str,
) -> None:
    """Read records of TOPIC in a consumer group as fast as it goes, and say how fast that was."""
    cluster.describe_topic(topic)
    consumer = cluster.consumer(
        {
            "group.id": group or f"perf-consumer-{secrets.token_hex(4)}",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest" if from_latest else "earliest",
            "check.crcs": True,
        }
    )
    try:
        with progress_bar(count, "consuming") as bar:
            done = ConsumeRun(cluster, consumer, topic, bar.advance).run(count)
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
    if output != "table":
        print_data(output, done.as_json())
        return
    if not hide_header:
        click.echo(CONSUMED_HEADING)
    click.echo(done.line())


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
            latencies = trips.run(count, _payload(size_bytes), _sayer(bar, output), bar.advance)
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"measure topic '{topic}'") from error
    finally:
        consumer.close()
    if output != "table":
        print_data(output, {"records": count, "record_bytes": size_bytes, **latencies.as_json()})
    else:
        click.echo(latency_lines(latencies))
