"""`moldau registry`: parses the command line and runs the registry server."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError
from moldau.registry.settings import RegistrySettings, read_configuration
from moldau.services.configuration import read_file
from moldau.services.start_command import EXIT_OK, log_to_stderr, refuse_start, say_ready, start_options, told


@click.command("registry")
@start_options(
    RegistrySettings,
    cluster="The Kafka cluster that stores the schemas (kafkastore.bootstrap.servers). Default: localhost:9092.",
    port=8081,
    config="Settings in the format of Confluent's schema-registry.properties.",
)
def command(
    bootstrap_server: str | None, listen: str | None, config: str | None, overrides: Sequence[str]
) -> int:
    """Start a schema registry on any Kafka cluster, with the REST API of Confluent's.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.
    """
    log_to_stderr()
    given = told(kafkastore_bootstrap_servers=bootstrap_server, listeners=listen)
    try:
        configuration = read_configuration(
            read_file(config), file=config or "", overrides=[*overrides, *given]
        )
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.registry.server import RegistryServer

        server = RegistryServer(configuration)
        server.load()
    except ConfigError as error:
        return refuse_start("moldau registry", error)
    server.run(lambda: say_ready(server.address))
    return EXIT_OK
