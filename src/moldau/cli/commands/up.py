"""`moldau up`: broker, schema registry and an optional demo, each in a process of its own."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli.local.broker_requests import Requests
from moldau.cli.local.demo import Demo
from moldau.cli.local.local_cluster import (
    LOOPBACK,
    port_option,
    refuse_cluster_data,
    start_cluster,
    zookeeper_port_option,
)
from moldau.cli.local.services import Service, dialled, overrides, pasteable, stopped_in_order, watch

HINTS = """
Try it in a second terminal:
  {moldau} topics create orders{at}
  echo '2 apples' | {moldau} produce orders{at}
  {moldau} consume orders{at}"""
REGISTRY_HINT = "  {moldau} schemas list{registry}"
REGISTRY_PORT = 8081
STOP_HINT = "\nCtrl-C stops everything."
# The registry's group has a single member, so waiting for others is pointless.
BROKER_SETTINGS = ("group.initial.rebalance.delay.ms=0",)


@click.command("up")
@click.option(
    "--data", "directory", metavar="DIR", default="data", show_default=True, help="The data directory."
)
@click.option(
    "--brokers",
    "count",
    type=click.IntRange(1, 9),
    default=1,
    show_default=True,
    help="Number of brokers. More than one needs a ZooKeeper, which requires Java.",
)
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="The address to listen on. There is no access control: 0.0.0.0 admits everyone on the network.",
)
@port_option
@zookeeper_port_option
@click.option(
    "--broker-override",
    "broker",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for every broker. Repeatable.",
)
@click.option(
    "--registry-override",
    "registry",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for the registry. Repeatable.",
)
@click.option("--no-registry", is_flag=True, help="Do not start a schema registry.")
@click.option(
    "--demo", is_flag=True, help="Also run a demo pipeline on Spark, which joins and counts page views."
)
def command(
    directory: str,
    count: int,
    host: str,
    port: int,
    zookeeper_port: int,
    broker: Sequence[str],
    registry: Sequence[str],
    no_registry: bool,
    demo: bool,
) -> None:
    """Start the platform: a broker on port 9092 and a schema registry on port 8081. Ctrl-C stops it."""
    on_turn = None
    with stopped_in_order() as services:
        told = [*BROKER_SETTINGS, *broker]
        if count > 1:
            running = start_cluster(services, count, port, zookeeper_port, Path(directory), told, host)
            endpoints = [each.endpoint for each in running.values()]
            brokers = services[1:]
            on_turn = Requests(Path(directory), running).serve
        else:
            refuse_cluster_data(Path(directory))
            alone = [f"log.dirs={directory}", f"listeners=PLAINTEXT://{host}:{port}", *told]
            endpoints = [_start(services, Service("broker", ["broker", *overrides(alone)]))]
            brokers = []
            click.echo(f"broker    {endpoints[0]}")
        servers = ",".join(dialled(each) for each in endpoints)
        hints = [pasteable(HINTS, servers)]
        if not no_registry:
            listener = f"listeners=http://{host}:{REGISTRY_PORT}"
            settings = overrides([f"kafkastore.bootstrap.servers={servers}", listener, *registry])
            log = Path(directory) / "registry.log" if count > 1 else None
            listens = _start(services, Service("registry", ["registry", *settings], log))
            click.echo(f"registry  {listens}")
            url = f"http://{dialled(listens)}"
            is_default = url.endswith(f":{REGISTRY_PORT}")
            elsewhere = "" if is_default else f" --registry {url}"
            hints.append(pasteable(REGISTRY_HINT, servers, registry=elsewhere))
        click.echo("\n".join([*hints, STOP_HINT]))
        with contextlib.ExitStack() as stack:
            if demo:
                pipeline = Demo(servers, directory)
                stack.callback(pipeline.stop)
                pipeline.start()
            watch(services, brokers, on_turn)


def _start(services: list[Service], service: Service) -> str:
    services.append(service)
    return service.wait_until_ready()
