"""`moldau cluster start-broker` and `stop-broker`: control one broker of a running `moldau cluster up`."""

from pathlib import Path

import click

from moldau.cli.local.broker_requests import KILL, START, STOP, ask

_number_argument = click.argument("number", metavar="BROKER", type=click.IntRange(min=0))


_data_option = click.option(
    "--data",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help="The --data directory of the cluster.",
)


@click.command("start-broker")
@_number_argument
@_data_option
def start_broker(number: int, directory: Path) -> None:
    """Restart BROKER of a running `moldau cluster up`."""
    click.echo(ask(directory, number, START))


@click.command("stop-broker")
@_number_argument
@_data_option
@click.option("--kill", is_flag=True, help="Kill it like a crash, without handing over its leaders.")
def stop_broker(number: int, directory: Path, kill: bool) -> None:
    """Stop BROKER of a running `moldau cluster up`. The other brokers keep running."""
    click.echo(ask(directory, number, KILL if kill else STOP))
