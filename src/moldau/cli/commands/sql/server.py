"""`moldau sql server`: parses the command line and runs the SQL server."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.server.settings import ServerSettings, read_configuration
from moldau.services.configuration import read_file
from moldau.services.start_command import EXIT_OK, log_to_stderr, refuse_start, say_ready, start_options, told


@click.command("server")
@start_options(
    ServerSettings,
    cluster="The Kafka cluster to work on (bootstrap.servers). Default: localhost:9092.",
    port=8088,
    config="Settings in the format of ksqlDB's ksql-server.properties.",
)
def command(
    bootstrap_server: str | None, listen: str | None, config: str | None, overrides: Sequence[str]
) -> int:
    """Start a SQL server on any Kafka cluster, with ksqlDB's REST API.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.
    """
    log_to_stderr()
    given = told(bootstrap_servers=bootstrap_server, listeners=listen)
    try:
        configuration = read_configuration(
            read_file(config), file=config or "", overrides=[*overrides, *given]
        )
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.pipeline.sql.server.server import SqlServer

        server = SqlServer(configuration)
        server.load()
    except ConfigError as error:
        return refuse_start("moldau sql server", error)
    server.run(lambda: say_ready(server.address))
    return EXIT_OK
