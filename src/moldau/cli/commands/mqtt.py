"""`moldau mqtt`: parses the command line and runs the MQTT proxy."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.settings import PORT_DEFAULT, MqttSettings, read_configuration
from moldau.services.configuration import read_file
from moldau.services.start_command import (
    EXIT_OK,
    log_to_stderr,
    refuse_start,
    say_ready,
    start_options,
    told,
)

NAME = "moldau mqtt"


@click.command("mqtt")
@start_options(
    MqttSettings,
    cluster="The Kafka cluster behind the proxy (bootstrap.servers). Default: localhost:9092.",
    port=PORT_DEFAULT,
    config="Settings as a properties file.",
)
def command(
    bootstrap_server: str | None, listen: str | None, config: str | None, overrides: Sequence[str]
) -> int:
    """Start an MQTT proxy on any Kafka cluster: MQTT clients publish to its topics and subscribe to them.

    Prints a line that starts with `ready` when it serves. Stops on Ctrl-C or SIGTERM.
    """
    given = told(bootstrap_servers=bootstrap_server, listeners=listen)
    log_to_stderr()
    try:
        configuration = read_configuration(
            read_file(config), file=config or "", overrides=[*overrides, *given]
        )
        # Imported here because the help does not need Kafka's client.
        from moldau.proxies.mqtt.server.proxy import Proxy

        proxy = Proxy(configuration)
        proxy.load()
        proxy.run(lambda: say_ready(*proxy.addresses))
    except ConfigError as error:
        return refuse_start(NAME, error)
    return EXIT_OK
