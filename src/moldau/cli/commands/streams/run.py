"""`moldau streams run`: its options, and the order it hands to the driver process."""

from collections.abc import Sequence

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.streams.application_status import checkpoint_option
from moldau.cli.commands.streams.plan import on_change_option
from moldau.cli.failures import Failure
from moldau.cli.local.streams_driver import run_applications
from moldau.cli.options import KeyValue, on_cluster
from moldau.core.errors import ConfigError


@click.command("run")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(exists=True))
@checkpoint_option
@click.option(
    "--instances",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Number of worker slots. 0 means one per core.",
)
@click.option(
    "--master",
    metavar="URL",
    default="local[*]",
    show_default=True,
    help="The Spark master: local, spark://..., or sc://... for Spark Connect.",
)
@click.option("--http", metavar="HOST:PORT", help="Serve status, control, metrics and views at this address.")
@click.option(
    "--trigger-ms",
    metavar="MS",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="The shortest time between the starts of two micro-batches.",
)
@click.option(
    "--records-per-batch",
    metavar="N",
    type=click.IntRange(min=1),
    default=400_000,
    show_default=True,
    help="Upper limit of records in a micro-batch.",
)
@click.option(
    "--bytes-per-batch",
    metavar="BYTES",
    type=click.IntRange(min=1),
    default=64 << 20,
    show_default=True,
    help="Upper limit of bytes in a micro-batch. Bounds the memory of the workers.",
)
@click.option(
    "--max-task-idle-ms",
    metavar="MS",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How long to wait for records of an empty partition while a partition joined with it has some.",
)
@click.option(
    "--close-idle-ms",
    metavar="MS",
    type=click.IntRange(min=1),
    help="After this time without input, stream time follows the clock, so that windows close. Default: never.",
)
@click.option(
    "--record-ms-max",
    metavar="MS",
    type=click.IntRange(min=1),
    default=300_000,
    show_default=True,
    help="Time limit of a function for one record, or of a transform() for a batch. Exceeding it counts as a failure.",
)
@click.option(
    "--partitioner",
    "partitioners",
    type=KeyValue(),
    metavar="TOPIC=NAME",
    multiple=True,
    help="How keys are assigned to partitions of TOPIC, if this cannot be detected: murmur2_random, consistent_random.",
)
@click.option(
    "--record-cache/--no-record-cache",
    default=True,
    show_default=True,
    help="Emit only the last change of an aggregate per key and batch, or every change.",
)
@click.option(
    "--dead-letters/--no-dead-letters",
    default=True,
    show_default=True,
    help="Send records that fail to APPLICATION-dlq, or let their batch fail until they can be processed.",
)
@click.option(
    "--latency",
    type=click.Choice(["micro_batch", "real_time"]),
    default="micro_batch",
    show_default=True,
    help="real_time: latency of milliseconds, for stateless column expressions with at-least-once delivery.",
)
@on_change_option
@click.option("--conf", "conf", type=KeyValue(), multiple=True, help="A Spark setting. Repeatable.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the status: text, or one JSON object per line.",
)
@on_cluster
def run(
    cluster: Cluster,
    files: Sequence[str],
    checkpoint_dir: str,
    instances: int,
    master: str,
    http: str | None,
    trigger_ms: int,
    records_per_batch: int,
    bytes_per_batch: int,
    max_task_idle_ms: int,
    close_idle_ms: int | None,
    record_ms_max: int,
    partitioners: Sequence[tuple[str, str]],
    record_cache: bool,
    dead_letters: bool,
    latency: str,
    on_change: str,
    conf: Sequence[tuple[str, str]],
    output: str,
) -> None:
    """Run applications in one process until Ctrl-C. They continue where they were stopped or killed.

    FILE is a Python file that defines an application, or a directory of such files. A failed application does not
    affect the others. The first Ctrl-C finishes the current batches and exits with 0; a second one aborts them.
    """
    from moldau.pipeline.spark.partitioners import require_known

    try:
        for topic, partitioner in partitioners:
            require_known(partitioner, f"--partitioner {topic}")
    except ConfigError as failure:
        raise Failure(str(failure)) from None
    # Fail before the slow start of Spark if no broker answers.
    cluster.topic_names()
    settings = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "checkpoint_dir": checkpoint_dir,
        "instances": instances,
        "trigger_ms": trigger_ms,
        "records_per_batch_max": records_per_batch,
        "bytes_per_batch_max": bytes_per_batch,
        "max_task_idle_ms": max_task_idle_ms,
        "close_idle_ms": close_idle_ms,
        "record_ms_max": record_ms_max,
        "partitioners": dict(partitioners),
        "record_cache": record_cache,
        "dead_letters": dead_letters,
        "latency": latency,
        "on_change": on_change,
        "client_settings": cluster.properties,
    }
    spark = {"master": master, "conf": dict(conf)}
    order = {"settings": settings, "spark": spark, "http": http}
    run_applications(files, order, as_json=output == "json")
