"""Starts a cluster on this machine: one ZooKeeper and several brokers, each a process of its own.

They end with this process: brokers first, one at a time, so that each can hand over its leaders.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.cli.local.broker_requests import RunningBroker
from moldau.cli.local.services import Service, dialled, overrides

ACQUAINTED_S_MAX = 60.0
LOOK_AGAIN_S = 0.1
ANSWER_S = 10.0
ALONE = "meta.properties"
ZOOKEEPER = "zookeeper"
LOOPBACK = "127.0.0.1"

port_option = click.option(
    "--port",
    type=click.IntRange(0, 65_000),
    default=9092,
    show_default=True,
    help="Of the first broker, the others take those that follow; 0 takes free ones.",
)
zookeeper_port_option = click.option(
    "--zookeeper-port",
    type=click.IntRange(0, 65_000),
    default=2181,
    show_default=True,
    help="0 takes a free one.",
)


def broker_settings(
    number: int, count: int, endpoint: str, directory: Path, zookeeper: str, others: Sequence[str]
) -> list[str]:
    """What makes a broker one of this cluster. Internal topics have a replica on each of up to three brokers."""
    factor = min(3, count)
    return [
        f"broker.id={number}",
        f"node.id={number}",
        f"listeners=PLAINTEXT://{endpoint}",
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
) -> dict[int, RunningBroker]:
    """The brokers, when all of them serve and know each other. What is started is added to the services.

    What several brokers have to say would bury everything else: it goes to a file for each, beside its directory.
    """
    if (directory / ALONE).exists():
        raise Failure(
            f"{directory} has the data of a broker that stood alone.", "Name another directory with --data."
        )
    arguments = ["--port", str(zookeeper_port), "--data", str(directory / ZOOKEEPER)]
    services.append(Service("ZooKeeper", ["zookeeper", *arguments]))
    zookeeper = services[-1].wait_until_ready()
    click.echo(f"zookeeper {zookeeper}")
    brokers: dict[int, RunningBroker] = {}
    starting = []
    for number in range(count):
        its_port = port + number if port else 0
        told = broker_settings(number, count, f"{host}:{its_port}", directory, zookeeper, settings)
        log = directory / f"broker-{number}.log"
        starting.append(Service(f"broker {number}", ["broker", *overrides(told)], log))
        services.append(starting[-1])
    for number, broker in enumerate(starting):
        brokers[number] = RunningBroker(broker, broker.wait_until_ready())
        click.echo(f"broker {number}  {brokers[number].endpoint}")
    wait_until_acquainted([dialled(each.endpoint) for each in brokers.values()])
    click.echo(f"logs      {directory / 'broker-*.log'}, {directory / ZOOKEEPER / 'zookeeper.log'}")
    return brokers


def refuse_cluster_data(directory: Path) -> None:
    """A broker alone would take `broker-0` for partition 0 of a topic."""
    if (directory / ZOOKEEPER).exists():
        raise Failure(
            f"{directory} has the data of a cluster.",
            "Start it with as many --brokers as it had, or name another directory with --data.",
        )


def wait_until_acquainted(addresses: Sequence[str]) -> None:
    """Brokers hear of each other a moment after they serve; until then one would find too few for a topic."""
    deadline = time.monotonic() + ACQUAINTED_S_MAX
    for address in addresses:
        while (known := _known_to(address)) < len(addresses):
            if time.monotonic() > deadline:
                raise Failure(
                    f"the broker at {address} knows of {known} brokers, not of {len(addresses)}.",
                    "What the brokers say in their logs may tell why.",
                )
            time.sleep(LOOK_AGAIN_S)


def _known_to(address: str) -> int:
    cluster = Cluster(address, {}, ANSWER_S)
    try:
        return len(cluster.wire.brokers)
    finally:
        cluster.close()
