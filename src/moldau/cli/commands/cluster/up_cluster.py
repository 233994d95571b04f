"""`moldau cluster up`: a ZooKeeper and several brokers on this machine."""

from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli.local.broker_requests import Requests
from moldau.cli.local.local_cluster import port_option, start_cluster, zookeeper_port_option
from moldau.cli.local.services import READY, stopped_in_order, watch


@click.command("up")
@click.option(
    "--brokers", "count", type=click.IntRange(1, 9), default=3, show_default=True, help="Number of brokers."
)
@port_option
@zookeeper_port_option
@click.option(
    "--data", "directory", metavar="DIR", type=click.Path(path_type=Path), default=Path("data"), show_default=True,
    help="The data directory, with a subdirectory for each process.",
)  # fmt: skip
@click.option(
    "--override",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for every broker. Repeatable.",
)
def up(count: int, port: int, zookeeper_port: int, directory: Path, settings: Sequence[str]) -> None:
    """Start a cluster on this machine. It has one ZooKeeper and several brokers. Ctrl-C stops it. Requires Java.

    Prints a line that starts with `ready` when all brokers serve and know each other. From another terminal,
    `stop-broker` and `start-broker` stop and restart one of them.
    """
    with stopped_in_order() as services:
        brokers = start_cluster(services, count, port, zookeeper_port, directory, settings)
        click.echo(READY + " ".join(each.endpoint for each in brokers.values()))
        watch(services, services[1:], Requests(directory, brokers).serve)
