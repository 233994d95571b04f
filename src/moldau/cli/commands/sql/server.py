"""`moldau sql server`: parses the command line and runs the SQL server."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from moldau.core.errors import ConfigError
from moldau.core.settings.text_form import format_value
from moldau.pipeline.sql.server.settings import ServerSettings, read_configuration

EXIT_OK = 0
EXIT_USAGE = 2


def settings_template() -> str:
    """All settings, as a properties file with their defaults."""
    return "\n\n".join(
        f"# {key.doc}\n#{key.name}={format_value(key.default) or ''}" for key in ServerSettings.KEYS.values()
    )


def print_settings(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(settings_template())
        ctx.exit()


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [f"{name}=" for name in ServerSettings.KEYS if name.startswith(incomplete)]


@click.command("server")
@click.option(
    "--bootstrap-server",
    "-b",
    metavar="HOST:PORT",
    help="The Kafka cluster to work on (bootstrap.servers). Default: localhost:9092.",
)
@click.option(
    "--listen",
    metavar="URL",
    help="The address to listen on (listeners). Default: port 8088 on all interfaces.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="Settings in the format of ksqlDB's ksql-server.properties.",
)
@click.option(
    "--override",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_setting,
    help="One setting, by ksqlDB's name. Overrides the file. Repeatable.",
)
@click.option(
    "--list-settings",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_settings,
    help="Print all settings with their defaults as a configuration file, and exit.",
)
def command(
    bootstrap_server: str | None, listen: str | None, config: str | None, overrides: Sequence[str]
) -> int:
    """Start a SQL server on any Kafka cluster, with ksqlDB's REST API.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.
    """
    told = [
        f"{name}={value}"
        for name, value in (("bootstrap.servers", bootstrap_server), ("listeners", listen))
        if value is not None
    ]
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # It tells of every request to the schema registry.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    try:
        configuration = read_configuration(_read(config), file=config or "", overrides=[*overrides, *told])
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.pipeline.sql.server.server import SqlServer

        server = SqlServer(configuration)
        server.load()
    except ConfigError as error:
        click.echo(f"moldau sql server: {error}", err=True)
        return EXIT_USAGE

    def ready() -> None:
        click.echo(f"ready http://{configuration.settings.address[0]}:{server.port}")
        sys.stdout.flush()

    server.run(ready)
    return EXIT_OK


def _read(path: str | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the configuration file {path} is not UTF-8 text: {error.reason}") from None
