"""`moldau zookeeper`: a real ZooKeeper on this machine, from the jars that pyspark brings along.

With `shell` after it, a client of any ZooKeeper.
"""

import signal
import threading
from pathlib import Path

import click

from moldau.cli.commands.zookeeper.shell import shell
from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError

LOOK_S = 0.5
DEFAULT_PORT = 2181


@click.group("zookeeper", invoke_without_command=True)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Of the first server; 0 takes a free one.",
)
@click.option(
    "--ensemble",
    "count",
    type=click.Choice(["1", "3", "5"]),
    default="1",
    show_default=True,
    help="How many servers; the others take the ports that follow.",
)
@click.option(
    "--data",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/zookeeper"),
    show_default=True,
    help="Where they keep the tree.",
)
@click.pass_context
def command(ctx: click.Context, port: int, count: str, directory: Path) -> None:
    """Start ZooKeeper: what the brokers of a cluster find each other by (`zookeeper.connect`).

    It prints one line that starts with `ready` when it serves, and stops on SIGTERM or Ctrl-C. Needs Java.
    `shell` looks into one that runs.
    """
    if ctx.invoked_subcommand is None:
        _serve(port, count, directory)


command.add_command(shell)


def _serve(port: int, count: str, directory: Path) -> None:
    # Not above: the help needs no server.
    from moldau.coordination.zookeeper_server import ZooKeeperServer, free_ports, local_ensemble, start_all

    ports = free_ports(int(count)) if port == 0 else [port + step for step in range(int(count))]
    if len(ports) == 1:
        servers = [ZooKeeperServer(directory.absolute(), ports[0])]
    else:
        servers = local_ensemble(directory.absolute(), ports)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        start_all(servers)
        click.echo("ready " + ",".join(server.address for server in servers))
        while not stopping.wait(LOOK_S):
            ended = next((server for server in servers if server.exit_code() is not None), None)
            if ended is not None:
                raise Failure(f"the ZooKeeper at {ended.address} has ended.", f"Its log is in {directory}.")
    except ConfigError as error:
        raise Failure(f"cannot start ZooKeeper: {error}") from error
    finally:
        for server in servers:
            server.stop()
