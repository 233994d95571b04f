"""`moldau perf produce`."""

from pathlib import Path
from typing import Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.delivery_failures import delivery_failure
from moldau.cli.client.producer_settings import producer_settings
from moldau.cli.commands.perf.client_metrics import ClientMetrics
from moldau.cli.commands.perf.measurements import ProduceRun
from moldau.cli.commands.perf.payloads import SchemaLoad, from_file, letters
from moldau.cli.commands.perf.perf_options import (
    DEFAULT_SIZE,
    acks_option,
    count_option,
    metrics_option,
    progress_printer,
    show_figures,
    topic_argument,
)
from moldau.cli.options import on_cluster
from moldau.cli.registry_options import registry_option
from moldau.cli.render.output import output_option
from moldau.cli.render.progress import progress_bar


@click.command("produce")
@topic_argument
@count_option(100_000)
@click.option(
    "--record-size", "size_bytes", type=click.IntRange(min=1), help="Bytes per value. Default: 100."
)
@click.option(
    "--payload-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of values to write, repeated as often as needed.",
)
@click.option(
    "--payload-delimiter", default="\\n", show_default=True, help="The separator of values in the file."
)
@click.option(
    "--schema",
    metavar="SCHEMA",
    help="Generate records for this schema: @FILE, id:N, SUBJECT or SUBJECT:VERSION of a registry.",
)
@click.option(
    "--value-format",
    type=click.Choice(["avro", "json-schema"]),
    help="The kind of schema. Default: by file name (.avsc, .json), else Avro.",
)
@click.option("--as-json", is_flag=True, help="With --schema: write plain JSON, without a registry.")
@click.option("--key-field", metavar="NAME", help="With --schema: the field to use as record key.")
@registry_option
@metrics_option
@click.option(
    "--throughput",
    type=float,
    default=-1,
    show_default=True,
    help="Limit in records per second. -1: no limit.",
)
@click.option(
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
    help="Compression of record batches.",
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
    """Measure writing to TOPIC. Writes as fast as possible and reports throughput and latency.

    Latency is the time from passing a record to the client until the broker acknowledges it. Use -X for client
    settings such as batch.size and linger.ms.
    """
    if (size_bytes is not None) + (payload_file is not None) + (schema is not None) > 1:
        raise click.UsageError("Pass only one of --record-size, --payload-file and --schema.")
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
        run = ProduceRun(producer, topic, payloads, bar.advance, progress_printer(bar, output))
        done = run.run(count, throughput if throughput > 0 else None)
    if print_metrics:
        metrics.finish(producer.poll)
    show_figures(done.as_json(), [done.line()], metrics if print_metrics else None, output)
    if run.first_error is not None:
        raise delivery_failure(cluster, topic, run.first_error, run.first_lost, None)
