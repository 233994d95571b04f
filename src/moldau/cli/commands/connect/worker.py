"""`moldau connect worker`: parses the command line and runs a worker of Connect."""

from collections.abc import Sequence

import click

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.settings import WorkerSettings, read_configuration
from moldau.services.configuration import read_file
from moldau.services.start_command import EXIT_OK, log_to_stderr, refuse_start, say_ready, start_options, told


@click.command("worker")
@click.argument("files", metavar="[WORKER.PROPERTIES] [CONNECTOR.PROPERTIES]...", nargs=-1)
@start_options(
    WorkerSettings,
    cluster="The Kafka cluster to work on (bootstrap.servers). Default: localhost:9092.",
    port=8083,
    config="Settings in the format of Kafka's connect-distributed.properties.",
)
@click.option(
    "--standalone",
    is_flag=True,
    help="Run the connectors of the files given, in this worker alone. Changes over HTTP are lost when it stops.",
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
    log_to_stderr()
    given = told(bootstrap_servers=bootstrap_server, listeners=listen)
    try:
        configuration = read_configuration(
            read_file(config), file=config or "", overrides=[*overrides, *given]
        )
        # Imported here because the help needs neither Kafka's client nor an HTTP server.
        from moldau.pipeline.connect.server.connector_files import read_connector
        from moldau.pipeline.connect.server.worker import ConnectWorker

        connectors = [read_connector(file, read_file(file)) for file in files] if standalone else None
        worker = ConnectWorker(configuration, connectors)
        worker.load()
    except ConfigError as error:
        return refuse_start("moldau connect worker", error)
    worker.run(lambda: say_ready(worker.address))
    return EXIT_OK
