"""`moldau broker`: reads the command line and hands over to the node. The only command that starts one."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError


@click.command("broker")
@click.option("--config", metavar="FILE", help="Settings in Kafka's server.properties format.")
@click.option(
    "--override",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="One setting, under Kafka's name; may be repeated, and wins over the file.",
)
def command(config: str | None, overrides: Sequence[str]) -> int:
    """Start a broker. Without settings it listens on port 9092, as Kafka does.

    It prints one line that starts with `ready` when it serves, and stops on SIGTERM or Ctrl-C.
    """
    from moldau.node.main import run_broker

    try:
        return run_broker(config, overrides)
    except ConfigError as error:
        click.echo(f"Error: {error}", err=True)
        return 2
