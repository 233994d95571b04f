"""`moldau zookeeper`: a ZooKeeper on this machine, and a shell for any ZooKeeper.

Only `main.py` imports it. Start with `serve.py`; the shell is in `shell.py`.
"""

from pathlib import Path

import click

from moldau.cli.commands.zookeeper.serve import serve
from moldau.cli.commands.zookeeper.shell import DEFAULT_PORT, shell


@click.group("zookeeper", invoke_without_command=True)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port of the first server. 0 picks a free port.",
)
@click.option(
    "--ensemble",
    "count",
    type=click.Choice(["1", "3", "5"]),
    default="1",
    show_default=True,
    help="Number of servers. The others use the following ports.",
)
@click.option(
    "--data",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/zookeeper"),
    show_default=True,
    help="The data directory.",
)
@click.pass_context
def command(ctx: click.Context, port: int, count: str, directory: Path) -> None:
    """Start ZooKeeper, which a cluster of brokers needs (`zookeeper.connect`). Requires Java.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM. `shell` connects to a running
    ZooKeeper.
    """
    if ctx.invoked_subcommand is None:
        serve(port, count, directory)


command.add_command(shell)
