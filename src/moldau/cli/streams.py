"""`moldau streams`: run, describe, list, reset."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli.cluster import Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import KeyValue, on_cluster
from moldau.cli.output import columns, output_option, print_data
from moldau.cli.streams_run import run_application
from moldau.core.errors import ConfigError

file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False))
checkpoint_option = click.option(
    "--checkpoint-dir",
    "checkpoint_dir",
    metavar="DIR",
    default="checkpoints",
    show_default=True,
    help="Where state and positions are kept; for a Spark cluster an address all its machines reach.",
)


@click.group("streams")
def command() -> None:
    """Run Streams applications on Spark.

    An application is a Python file that defines a StreamsBuilder, or a function build() that returns one.
    """


@command.command("run")
@file_argument
@checkpoint_option
@click.option(
    "--instances", metavar="N", type=click.IntRange(min=0), default=0, help="Worker slots (0: one a core)."
)
@click.option(
    "--master",
    metavar="URL",
    default="local[*]",
    show_default=True,
    help="Spark: local, spark://..., or sc://... for Spark Connect.",
)
@click.option("--http", metavar="HOST:PORT", help="Serve status and views there.")
@click.option("--trigger-ms", metavar="MS", type=click.IntRange(min=0), default=100, show_default=True)
@click.option(
    "--records-per-batch", metavar="N", type=click.IntRange(min=1), default=400_000, show_default=True
)
@click.option(
    "--record-cache/--no-record-cache",
    default=True,
    show_default=True,
    help="Aggregates tell the last change of each key and batch, or every one.",
)
@click.option(
    "--latency",
    type=click.Choice(["micro_batch", "real_time"]),
    default="micro_batch",
    show_default=True,
    help="real_time: milliseconds, for a chain of column expressions built at least once.",
)
@click.option("--conf", "conf", type=KeyValue(), multiple=True, help="A setting of Spark.")
@on_cluster
def run(
    cluster: Cluster,
    file: str,
    checkpoint_dir: str,
    instances: int,
    master: str,
    http: str | None,
    trigger_ms: int,
    records_per_batch: int,
    record_cache: bool,
    latency: str,
    conf: Sequence[tuple[str, str]],
) -> None:
    """Run the application in FILE until Ctrl-C. It goes on where it was stopped or killed."""
    # Spark takes its time to start, and could only say later that nobody answers.
    cluster.topic_names()
    settings = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "checkpoint_dir": checkpoint_dir,
        "instances": instances,
        "trigger_ms": trigger_ms,
        "records_per_batch_max": records_per_batch,
        "record_cache": record_cache,
        "latency": latency,
        "client_settings": cluster._properties,
    }
    run_application(
        file, {"settings": settings, "spark": {"master": master, "conf": dict(conf)}, "http": http}
    )


@command.command("describe")
@file_argument
@click.option("--graph", type=click.Choice(["mermaid", "dot"]), help="As a graph, for a tool that draws it.")
def describe(file: str, graph: str | None) -> None:
    """Show the topology of the application in FILE."""
    from moldau.pipeline.spark.app_file import load_application

    try:
        topology = load_application(file, by_value=False)
    except ConfigError as failure:
        raise Failure(str(failure)) from None
    click.echo(topology.graph(graph) if graph else topology.describe())


@command.command("list")
@checkpoint_option
@output_option
def list_command(checkpoint_dir: str, output: str) -> None:
    """List the applications that have a checkpoint in a folder of this machine."""
    found = []
    for record in sorted(Path(checkpoint_dir).glob("*/application.json")):
        known = json.loads(record.read_bytes())
        found.append(
            {"application": record.parent.name, "topics": sorted(known["topic_ids"]), "slots": known["slots"]}
        )
    if output != "table":
        print_data(output, found)
    elif found:
        rows = [(one["application"], str(one["slots"]), ", ".join(one["topics"])) for one in found]
        click.echo(columns(("APPLICATION", "SLOTS", "READS"), rows))
    else:
        click.echo(f"No applications in {checkpoint_dir}.", err=True)


@command.command("reset")
@click.argument("application")
@checkpoint_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_cluster
def reset_command(cluster: Cluster, application: str, checkpoint_dir: str, yes: bool) -> None:
    """Forget all of APPLICATION: its checkpoint, its group's offsets, its own topics.

    It then begins anew with its inputs. Stop it first; what it has written stays.
    """
    from moldau.pipeline.spark.reset import reset

    if not yes:
        confirm(f"Forget the state and the position of {application}?", f"{application} was not reset.")
    for removed in reset(cluster.admin, application, f"{checkpoint_dir}/{application}"):
        click.echo(f"removed {removed}")
