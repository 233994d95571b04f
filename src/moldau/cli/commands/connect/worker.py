"""`moldau connect worker`: parses the command line and runs a worker of Connect."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from moldau.core.errors import ConfigError
from moldau.core.settings.text_form import format_value
from moldau.pipeline.connect.server.settings import WorkerSettings, read_configuration

EXIT_OK = 0
EXIT_USAGE = 2


def settings_template() -> str:
    """All settings, as a properties file with their defaults."""
    return "\n\n".join(
        f"# {key.doc}\n#{key.name}={format_value(key.default) or ''}" for key in WorkerSettings.KEYS.values()
    )


def print_settings(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(settings_template())
        ctx.exit()


def complete_setting(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [f"{name}=" for name in WorkerSettings.KEYS if name.startswith(incomplete)]


@click.command("worker")
@click.argument("files", metavar="[WORKER.PROPERTIES] [CONNECTOR.PROPERTIES]...", nargs=-1)
@click.option(
    "--bootstrap-server",
    "-b",
    metavar="HOST:PORT",
    help="The Kafka cluster to work on (bootstrap.servers). Default: localhost:9092.",
)
@click.option(
    "--listen",
    metavar="URL",
    help="The address to listen on (listeners). Default: port 8083 on all interfaces.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="Settings in the format of Kafka's connect-distributed.properties.",
)
@click.option(
    "--override",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=complete_setting,
    help="One setting, by Kafka Connect's name. Overrides the file. Repeatable.",
)
@click.option(
    "--standalone",
    is_flag=True,
    help="Run the connectors of the files given, in this worker alone. Changes over HTTP are lost when it stops.",
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
    files: Sequence[str],
    bootstrap_server: str | None,
    listen: str | None,
    config: str | None,
    overrides: Sequence[str],
    standalone: bool,
) -> int:
    """Start a worker of Connect on any Kafka cluster, with Kafka Connect's REST API.

    Workers with the same group.id share their connectors, and take over from each other. Tasks run on Spark, which
    starts with the first of them and needs Java. Prints a line that starts with `ready` when it serves. Stops on
    Ctrl-C or SIGTERM.

    \b
    moldau connect worker                                              a worker of a group
    moldau connect worker --config connect-distributed.properties
    moldau connect worker --standalone worker.properties orders.properties copies.json
    """
    if files and not standalone:
        raise click.UsageError(
            "Files of connectors are for --standalone; other workers get theirs over HTTP."
        )
    if standalone and config is None:
        if not files:
            raise click.UsageError("--standalone takes a file of the worker, and files of its connectors.")
        config, *files = files
    told = [
        f"{name}={value}"
        for name, value in (("bootstrap.servers", bootstrap_server), ("listeners", listen))
        if value is not None
    ]
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    try:
        configuration = read_configuration(_read(config), file=config or "", overrides=[*overrides, *told])
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.pipeline.connect.server.connector_files import read_connector
        from moldau.pipeline.connect.server.worker import ConnectWorker

        connectors = [read_connector(file, _read(file)) for file in files] if standalone else None
        worker = ConnectWorker(configuration, connectors)
        worker.load()
    except ConfigError as error:
        click.echo(f"moldau connect worker: {error}", err=True)
        return EXIT_USAGE

    def ready() -> None:
        click.echo(f"ready http://{configuration.settings.address[0]}:{worker.port}")
        sys.stdout.flush()

    worker.run(ready)
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
