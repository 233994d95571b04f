"""The options with which every service starts: `-b`, `--listen`, `--config`, `--override` and `--list-settings`."""

import logging
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from moldau.core.settings.view import SettingsView
from moldau.services.configuration import settings_template

EXIT_OK = 0
EXIT_USAGE = 2

Function = TypeVar("Function", bound=Callable[..., Any])


def start_options(
    view: type[SettingsView], *, cluster: str, port: int, config: str
) -> Callable[[Function], Function]:
    """Decorates a command with `bootstrap_server`, `listen`, `config` and `overrides`.

    `cluster` says what the Kafka cluster is for, `config` whose file format `--config` reads.
    """

    def print_settings(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            click.echo(settings_template(view))
            ctx.exit()

    def complete_setting(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        return [f"{name}=" for name in view.KEYS if name.startswith(incomplete)]

    options = [
        click.option("--bootstrap-server", "-b", metavar="HOST:PORT", help=cluster),
        click.option(
            "--listen",
            metavar="URL",
            help=f"The address to listen on (listeners). Default: port {port} on all interfaces.",
        ),
        click.option("--config", metavar="FILE", type=click.Path(), help=config),
        click.option(
            "--override",
            "overrides",
            metavar="KEY=VALUE",
            multiple=True,
            shell_complete=complete_setting,
            help="One setting by name. Overrides the file. Repeatable.",
        ),
        click.option(
            "--list-settings",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=print_settings,
            help="Print all settings with their defaults as a configuration file, and exit.",
        ),
    ]

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def told(**options: str | None) -> list[str]:
    """Overrides for the options that were given; a name has underscores for dots."""
    return [f"{name.replace('_', '.')}={value}" for name, value in options.items() if value is not None]


def log_to_stderr() -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for chatty in ("httpx", "httpx2"):
        # The registry's client: a line for every request.
        logging.getLogger(chatty).setLevel(logging.WARNING)


def say_ready(*addresses: object) -> None:
    """The line that says where a service listens, once it serves."""
    click.echo(" ".join(["ready", *map(str, addresses)]))
    sys.stdout.flush()


def refuse_start(command: str, reason: Exception) -> int:
    """Says why it did not start; the exit code."""
    click.echo(f"{command}: {reason}", err=True)
    return EXIT_USAGE
