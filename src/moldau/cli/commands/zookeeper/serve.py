"""Runs ZooKeeper servers as child processes until a signal or the end of one of them.

The jars come from pyspark.
"""

import signal
import threading
from pathlib import Path

import click

from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError

LOOK_S = 0.5


def serve(port: int, count: str, directory: Path) -> None:
    # Imported here because the help needs no server.
    from moldau.coordination.zookeeper_server import ZooKeeperServer, free_ports, local_ensemble, start_all

    ports = free_ports(int(count)) if port == 0 else [port + step for step in range(int(count))]
    if len(ports) == 1:
        servers = [ZooKeeperServer(directory.absolute(), ports[0])]
    else:
        servers = local_ensemble(directory.absolute(), ports)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        start_all(servers)
        click.echo("ready " + ",".join(server.address for server in servers))
        while not stopping.wait(LOOK_S):
            ended = next((server for server in servers if server.exit_code() is not None), None)
            if ended is not None:
                raise Failure(
                    f"the ZooKeeper at {ended.address} has ended unexpectedly.", f"Its log is in {directory}."
                )
    except ConfigError as error:
        raise Failure(f"cannot start ZooKeeper: {error}") from error
    finally:
        for server in servers:
            server.stop()
