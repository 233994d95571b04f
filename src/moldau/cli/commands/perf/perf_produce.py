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
        run = ProduceRun(producer, topic, payloads, bar.advance, progress_printer(bar, output))
        done = run.run(count, throughput if throughput > 0 else None)
    if print_metrics:
        metrics.finish(producer.poll)
    show_figures(done.as_json(), [done.line()], metrics if print_metrics else None, output)
    if run.first_error is not None:
        raise delivery_failure(cluster, topic, run.first_error, run.first_lost, None)
