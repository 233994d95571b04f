"""`moldau up`: the broker and what runs beside it, each in a process of its own: registry, proxies, Connect, SQL."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.roles.role_changes import add as grant
from moldau.cli.local.broker_requests import Requests
from moldau.cli.local.client_files import write_kafka_files
from moldau.cli.local.local_cluster import (
    LOOPBACK,
    port_option,
    refuse_cluster_data,
    start_cluster,
    zookeeper_port_option,
)
from moldau.cli.local.platform import (
    CONNECT_PORT,
    MQTT_PORT,
    MQTT_TLS_PORT,
    REGISTRY_PORT,
    REST_PORT,
    SQL_PORT,
    Platform,
    Wanted,
)
from moldau.cli.local.secure_set_up import ANSWER_S, add_users, demo_role, prepare
from moldau.cli.local.services import Service, dialled, overrides, stopped_in_order, watch

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
    help="The address to listen on. Without --secure there is no access control: 0.0.0.0 admits everyone on the "
    "network.",
)
@port_option
@zookeeper_port_option
@click.option(
    "--registry-port",
    type=click.IntRange(0, 65_535),
    default=REGISTRY_PORT,
    show_default=True,
    help="Port of the schema registry. 0 picks a free port.",
)
@click.option(
    "--sql-port",
    type=click.IntRange(0, 65_535),
    default=SQL_PORT,
    show_default=True,
    help="Port of the SQL server. 0 picks a free port.",
)
@click.option(
    "--connect-port",
    type=click.IntRange(0, 65_535),
    default=CONNECT_PORT,
    show_default=True,
    help="Port of the Connect worker. 0 picks a free port.",
)
@click.option(
    "--rest-port",
    type=click.IntRange(0, 65_535),
    default=REST_PORT,
    show_default=True,
    help="Port of the REST proxy. 0 picks a free port.",
)
@click.option(
    "--mqtt-port",
    type=click.IntRange(0, 65_535),
    default=None,
    help=f"Port of the MQTT proxy. Default: {MQTT_PORT}, with --secure {MQTT_TLS_PORT}. 0 picks a free port.",
)
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
@click.option(
    "--sql-override",
    "sql",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for the SQL server. Repeatable.",
)
@click.option(
    "--connect-override",
    "connect",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for the Connect worker. Repeatable.",
)
@click.option(
    "--rest-override",
    "rest",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for the REST proxy. Repeatable.",
)
@click.option(
    "--mqtt-override",
    "mqtt",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting for the MQTT proxy. Repeatable.",
)
@click.option("--no-registry", is_flag=True, help="Do not start a schema registry.")
@click.option("--no-sql", is_flag=True, help="Do not start a SQL server.")
@click.option("--no-connect", is_flag=True, help="Do not start a Connect worker.")
@click.option("--no-rest", is_flag=True, help="Do not start a REST proxy.")
@click.option("--no-mqtt", is_flag=True, help="Do not start an MQTT proxy.")
@click.option(
    "--secure",
    is_flag=True,
    help="TLS, logins and access rules: makes certificates and users first, and files with which clients connect.",
)
@click.option("--demo", is_flag=True, help="Also run a demo in SQL, which joins and counts page views.")
def command(
    directory: str,
    count: int,
    host: str,
    port: int,
    zookeeper_port: int,
    broker: Sequence[str],
    secure: bool,
    demo: bool,
    **beside: Any,
) -> None:
    """Start the platform: a broker on port 9092, a schema registry on 8081, a REST proxy on 8082, a Connect worker on
    8083, a SQL server on 8088 and an MQTT proxy on 1883. With --secure all of them have TLS and logins.

    Ctrl-C stops it. Connectors and persistent queries run on Spark, which starts with the first of them and needs Java.
    """
    if demo and beside["no_sql"]:
        raise click.UsageError("--demo runs on the SQL server: leave out --no-sql.")
    on_turn = None
    guard = prepare(Path(f"{directory.rstrip('/')}-security"), host) if secure else None
    with stopped_in_order() as services, contextlib.ExitStack() as stack:
        told = [*BROKER_SETTINGS, *broker]
        if count > 1:
            running = start_cluster(services, count, port, zookeeper_port, Path(directory), told, host, guard)
            endpoints = [each.endpoint for each in running.values()]
            brokers = services[1:]
            on_turn = Requests(Path(directory), running).serve
        else:
            refuse_cluster_data(Path(directory))
            protocol = "PLAINTEXT" if guard is None else guard.protocol
            config = [] if guard is None else ["--config", str(guard.broker_file)]
            alone = [f"log.dirs={directory}", f"listeners={protocol}://{host}:{port}", *told]
            endpoints = [_start(services, Service("broker", ["broker", *config, *overrides(alone)]))]
            brokers = []
            click.echo(f"broker    {endpoints[0]}")
        servers = ",".join(dialled(each) for each in endpoints)
        if guard is not None:
            add_users(guard, servers)
            with contextlib.closing(Cluster(servers, guard.broker_client, ANSWER_S)) as cluster:
                grant(cluster, [demo_role()])
            write_kafka_files(guard, servers)
        platform = Platform(services, servers, directory, host, count, guard)
        platform.start(**_wanted(beside))
        click.echo("\n".join([*platform.hints, STOP_HINT]))
        if demo:
            # Imported here because nothing else needs an HTTP client.
            from moldau.cli.local.demo.demo import Demo

            pageviews = Demo(servers, platform.sql_url, platform.sql_argument, guard)
            stack.callback(pageviews.stop)
            pageviews.start()
        watch(services, brokers, on_turn)


def _wanted(beside: Mapping[str, Any]) -> dict[str, Wanted | None]:
    """From the options `--no-NAME`, `--NAME-port` and `--NAME-override` of each service."""
    return {
        name: None if beside[f"no_{name}"] else Wanted(beside[f"{name}_port"], beside[name])
        for name in ("registry", "rest", "mqtt", "connect", "sql")
    }


def _start(services: list[Service], service: Service) -> str:
    services.append(service)
    return service.wait_until_ready()
