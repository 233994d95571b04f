"""`moldau rest`: parses the command line and runs the REST proxy."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError
from moldau.proxies.rest.settings import PORT_DEFAULT, RestSettings, read_configuration
from moldau.services.configuration import read_file
from moldau.services.start_command import (
    EXIT_OK,
    log_to_stderr,
    refuse_start,
    say_ready,
    start_options,
    told,
)


@click.command("rest")
@start_options(
    RestSettings,
    cluster="The Kafka cluster to write to and to read from (bootstrap.servers). Default: localhost:9092.",
    port=PORT_DEFAULT,
    config="Settings in the format of Confluent's kafka-rest.properties.",
)
def command(
    bootstrap_server: str | None, listen: str | None, config: str | None, overrides: Sequence[str]
) -> int:
    """Start a REST proxy in front of any Kafka cluster, with the API of Confluent's, v2 and v3.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.

    \b
    moldau rest -b kafka:9092 --listen http://0.0.0.0:8082
    curl -H 'Content-Type: application/vnd.kafka.json.v2+json' \\
         -d '{"records": [{"value": {"apples": 2}}]}' localhost:8082/topics/orders
    """
    own = told(bootstrap_servers=bootstrap_server, listeners=listen)
    log_to_stderr()
    try:
        configuration = read_configuration(read_file(config), file=config or "", overrides=[*overrides, *own])
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.proxies.rest.server import RestServer

        server = RestServer(configuration)
    except ConfigError as error:
        return refuse_start("moldau rest", error)
    server.run(lambda: say_ready(server.address))
    return EXIT_OK
