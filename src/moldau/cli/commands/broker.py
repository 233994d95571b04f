"""`moldau broker`: parses the command line and runs the node. The only command that starts a broker in this process."""

import gc
from collections.abc import Sequence

import click

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.text_form import format_value


def settings_template() -> str:
    """All settings that have an effect, as a properties file with their defaults."""
    return "\n\n".join(
        f"# {key.doc}\n#{key.name}={format_value(key.default) or ''}"
        for key in BrokerSettings.KEYS.values()
        if not key.internal and not key.inert
    )


def print_settings(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(settings_template())
        ctx.exit()


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [f"{name}=" for name in BrokerSettings.KEYS if name.startswith(incomplete)]


@click.command("broker")
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="Settings in the format of Kafka's server.properties.",
)
@click.option(
    "--override",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_setting,
    help="One setting, by Kafka's name. Overrides the file. Repeatable.",
)
@click.option(
    "--list-settings",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_settings,
    help="Print all settings with their defaults as a configuration file, and exit.",
)
def command(config: str | None, overrides: Sequence[str]) -> int:
    """Start a broker. By default it listens on port 9092.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.
    """
    # Start-up creates no garbage. The node enables collection once it serves.
    gc.disable()
    # Imported here because the help and the list of settings need no node.
    from moldau.node.main import run_broker

    return run_broker(config, overrides)
