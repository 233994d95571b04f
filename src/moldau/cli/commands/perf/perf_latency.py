"""`moldau perf latency`: the round trip of single records."""

import click
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.offset_queries import topic_offsets
from moldau.cli.client.producer_settings import producer_settings
from moldau.cli.commands.perf.measurements import RoundTrips
from moldau.cli.commands.perf.payloads import letters
from moldau.cli.commands.perf.perf_options import (
    DEFAULT_SIZE,
    acks_option,
    count_option,
    progress_printer,
    topic_argument,
)
from moldau.cli.commands.perf.perf_stats import latency_lines
from moldau.cli.options import on_cluster
from moldau.cli.render.output import output_option, print_data
from moldau.cli.render.progress import progress_bar

size_option = click.option(
    "--record-size",
    "size_bytes",
    type=click.IntRange(min=1),
    default=DEFAULT_SIZE,
    show_default=True,
    help="Bytes per record.",
)


@click.command("latency")
@topic_argument
@count_option(1_000)
@size_option
@acks_option
@output_option
@on_cluster
def latency(cluster: Cluster, topic: str, count: int, size_bytes: int, acks: str, output: str) -> None:
    """Measure the latency of TOPIC. Writes one record at a time and waits until it is read back."""
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
        with progress_bar(count, "round trips") as bar:
            trips = RoundTrips(cluster, producer, consumer, topic)
            latencies = trips.run(
                count, letters(size_bytes)[0].value, progress_printer(bar, output), bar.advance
            )
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"measure topic '{topic}'") from error
    finally:
        consumer.close()
    if output != "table":
        print_data(output, {"records": count, "record_bytes": size_bytes, **latencies.as_json()})
    else:
        click.echo(latency_lines(latencies))
