"""Starts a cluster on this machine: one ZooKeeper and several brokers, each a process of its own.

They end with this process: brokers first, one at a time, so that each can hand over its leaders.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.cli.local.broker_requests import RunningBroker
from moldau.cli.local.secure_folder import SecureFolder
from moldau.cli.local.services import Service, dialled, overrides

CONNECTED_S_MAX = 60.0
LOOK_AGAIN_S = 0.1
ANSWER_S = 10.0
SINGLE_BROKER_FILE = "meta.properties"
ZOOKEEPER = "zookeeper"
LOOPBACK = "127.0.0.1"
NO_PROPERTIES: Mapping[str, str] = {}

port_option = click.option(
    "--port",
    type=click.IntRange(0, 65_000),
    default=9092,
    show_default=True,
    help="Port of the first broker; the others use the following ports. 0 picks free ports.",
)
zookeeper_port_option = click.option(
    "--zookeeper-port",
    type=click.IntRange(0, 65_000),
    default=2181,
    show_default=True,
    help="Port of the ZooKeeper. 0 picks a free port.",
)


def internal_replicas(count: int) -> int:
    """Of internal topics on so many brokers."""
    return min(3, count)


def broker_settings(
    number: int,
    count: int,
    endpoint: str,
    directory: Path,
    zookeeper: str,
    others: Sequence[str],
    protocol: str = "PLAINTEXT",
) -> list[str]:
    """The settings of one broker."""
    factor = internal_replicas(count)
    return [
        f"broker.id={number}",
        f"node.id={number}",
        f"listeners={protocol}://{endpoint}",
        f"log.dirs={directory / f'broker-{number}'}",
        f"zookeeper.connect={zookeeper}",
        f"default.replication.factor={factor}",
        f"offsets.topic.replication.factor={factor}",
        f"transaction.state.log.replication.factor={factor}",
        f"transaction.state.log.min.isr={min(2, factor)}",
        *others,
    ]


def start_cluster(
    services: list[Service],
    count: int,
    port: int,
    zookeeper_port: int,
    directory: Path,
    settings: Sequence[str],
    host: str = LOOPBACK,
    secure: SecureFolder | None = None,
) -> dict[int, RunningBroker]:
    """Starts the processes, adds them to `services`, and returns the brokers once all serve and know each other.

    Each broker logs to a file beside its directory, not to the terminal.
    """
    protocol = "PLAINTEXT" if secure is None else secure.protocol
    config = [] if secure is None else ["--config", str(secure.broker_file)]
    if (directory / SINGLE_BROKER_FILE).exists():
        raise Failure(f"{directory} has the data of a single broker.", "Name another directory with --data.")
    arguments = ["--port", str(zookeeper_port), "--data", str(directory / ZOOKEEPER)]
    services.append(Service("ZooKeeper", ["zookeeper", *arguments]))
    zookeeper = services[-1].wait_until_ready()
    click.echo(f"zookeeper {zookeeper}")
    brokers: dict[int, RunningBroker] = {}
    starting = []
    for number in range(count):
        own_port = port + number if port else 0
        told = broker_settings(number, count, f"{host}:{own_port}", directory, zookeeper, settings, protocol)
        log = directory / f"broker-{number}.log"
        starting.append(Service(f"broker {number}", ["broker", *config, *overrides(told)], log))
        services.append(starting[-1])
    for number, broker in enumerate(starting):
        brokers[number] = RunningBroker(broker, broker.wait_until_ready())
        click.echo(f"broker {number}  {brokers[number].endpoint}")
    properties = {} if secure is None else secure.broker_client
    wait_until_connected([dialled(each.endpoint) for each in brokers.values()], properties)
    click.echo(f"logs      {directory / 'broker-*.log'}, {directory / ZOOKEEPER / 'zookeeper.log'}")
    return brokers


def refuse_cluster_data(directory: Path) -> None:
    """A single broker would read `broker-0` as partition 0 of a topic `broker`."""
    if (directory / ZOOKEEPER).exists():
        raise Failure(
            f"{directory} has the data of a cluster.",
            "Start it with the same number of --brokers as before, or name another directory with --data.",
        )


def wait_until_connected(addresses: Sequence[str], properties: Mapping[str, str] = NO_PROPERTIES) -> None:
    """Waits until each broker knows all others. Before that, creating a replicated topic fails."""
    deadline = time.monotonic() + CONNECTED_S_MAX
    for address in addresses:
        while (known := _known_to(address, properties)) < len(addresses):
            if time.monotonic() > deadline:
                raise Failure(
                    f"the broker at {address} knows {known} brokers, not {len(addresses)}.",
                    "The logs of the brokers may say why.",
                )
            time.sleep(LOOK_AGAIN_S)


def _known_to(address: str, properties: Mapping[str, str]) -> int:
    cluster = Cluster(address, properties, ANSWER_S)
    try:
        return len(cluster.wire.brokers)
    finally:
        cluster.close()
