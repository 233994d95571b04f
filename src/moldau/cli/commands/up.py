"""`moldau up`: the broker and what runs beside it, each in a process of its own: registry, proxies, Connect, SQL."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from moldau.cli.local.broker_requests import Requests
from moldau.cli.local.local_cluster import (
    LOOPBACK,
    internal_replicas,
    port_option,
    refuse_cluster_data,
    start_cluster,
    zookeeper_port_option,
)
from moldau.cli.local.secure_set_up import SecureSetUp, prepare
from moldau.cli.local.services import Service, dialled, overrides, pasteable, stopped_in_order, watch

HINTS = """
Try it in a second terminal:
  {moldau} topics create orders{at}
  echo '2 apples' | {moldau} produce orders{at}
  {moldau} consume orders{at}"""
REGISTRY_HINT = "  {moldau} schemas list{registry}"
REGISTRY_PORT = 8081
CURL_HINT = "  curl{login} {url}"
REST_PORT = 8082
MQTT_HINT = "  mosquitto_sub -h {host} -p {port} -t '#' -v"
MQTT_PORT = 1883
CONNECT_HINT = "  {moldau} connect plugins{connect}"
CONNECT_PORT = 8083
SQL_HINT = "  {moldau} sql{sql} --execute 'SHOW TOPICS;'"
SQL_PORT = 8088
SECURE_HINTS = """
Certificates, users and files with which clients connect are in {folder}.
The user admin may do everything, the user demo what concerns names that begin with demo-."""
SPARK_STOP_S = 120.0
"""Spark finishes its batches first."""
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
    default=MQTT_PORT,
    show_default=True,
    help="Port of the MQTT proxy. 0 picks a free port.",
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
@click.option(
    "--no-mqtt",
    is_flag=True,
    help="Do not start an MQTT proxy. With --secure there is none: start `moldau mqtt` with TLS and logins yourself.",
)
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
    no_sql: bool,
    secure: bool,
    demo: bool,
    **beside: Any,
) -> None:
    """Start the platform: a broker on port 9092, a schema registry on 8081, a REST proxy on 8082, a Connect worker on
    8083, a SQL server on 8088 and an MQTT proxy on 1883.

    Ctrl-C stops it. Connectors and persistent queries run on Spark, which starts with the first of them and needs Java.
    """
    if demo and no_sql:
        raise click.UsageError("--demo runs on the SQL server: leave out --no-sql.")
    if demo and secure:
        raise click.UsageError("--demo does not log in: leave out --secure.")
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
            guard.add_users(servers)
            guard.write_client_files(servers)
        platform = _Platform(services, servers, directory, host, count, guard)
        platform.start(no_sql=no_sql, **beside)
        click.echo("\n".join([*platform.hints, STOP_HINT]))
        if demo:
            # Imported here because nothing else needs an HTTP client.
            from moldau.cli.local.demo.demo import Demo

            pageviews = Demo(servers, platform.sql_url, platform.sql_argument)
            stack.callback(pageviews.stop)
            pageviews.start()
        watch(services, brokers, on_turn)


class _Platform:
    """What is started beside the brokers, and what to try with it."""

    def __init__(
        self,
        services: list[Service],
        servers: str,
        directory: str,
        host: str,
        brokers: int,
        guard: SecureSetUp | None,
    ) -> None:
        self._guard = guard
        self._services = services
        self._servers = servers
        self._directory = directory
        # Passwords go to the HTTP services as they are: they stay on this machine.
        self._host = host if guard is None else LOOPBACK
        self._brokers = brokers
        self._registry_url: str | None = None
        self._connect: Service | None = None
        """Until it is ready."""
        self._connect_url: str | None = None
        self._rest: Service | None = None
        self._mqtt: Service | None = None
        self.sql_url = ""
        self.sql_argument = ""
        """What follows `moldau sql` to reach the server."""
        self.hints = [self._pasteable(HINTS)]
        if guard is not None:
            self.hints.insert(0, SECURE_HINTS.format(folder=guard.folder))

    def start(
        self,
        *,
        registry: Sequence[str],
        connect: Sequence[str],
        connect_port: int,
        sql: Sequence[str],
        sql_port: int,
        rest: Sequence[str],
        rest_port: int,
        mqtt: Sequence[str],
        mqtt_port: int,
        no_registry: bool,
        no_connect: bool,
        no_sql: bool,
        no_rest: bool,
        no_mqtt: bool,
    ) -> None:
        """Returns when all that is wanted is ready."""
        if not no_registry:
            self.start_registry(registry)
        if not no_connect:
            self.start_connect(connect_port, connect)
        if not no_rest:
            self.start_rest(rest_port, rest)
        if not no_mqtt and self._guard is None:
            self.start_mqtt(mqtt_port, mqtt)
        if not no_sql:
            self.start_sql(sql_port, sql)
        self.await_connect()
        self.await_rest()
        self.await_mqtt()

    def start_registry(self, more: Sequence[str]) -> None:
        listener = f"listeners=http://{self._host}:{REGISTRY_PORT}"
        settings = [f"kafkastore.bootstrap.servers={self._servers}", listener, *more]
        service = Service(
            "registry", ["registry", *self._config("registry"), *overrides(settings)], self._log("registry")
        )
        self._registry_url = self._listens("registry", service)
        elsewhere = (
            "" if self._registry_url.endswith(f":{REGISTRY_PORT}") else f" --registry {self._registry_url}"
        )
        self._hint(f"{self._registry_url}/subjects", REGISTRY_HINT, registry=elsewhere)

    def start_rest(self, port: int, more: Sequence[str]) -> None:
        """Returns at once."""
        settings = [f"bootstrap.servers={self._servers}", f"listeners=http://{self._host}:{port}"]
        if self._registry_url is not None:
            settings.append(f"schema.registry.url={self._registry_url}")
        self._rest = Service(
            "REST proxy", ["rest", *self._config("rest"), *overrides([*settings, *more])], self._log("rest")
        )
        self._services.append(self._rest)

    def await_rest(self) -> None:
        """Prints where the proxy listens."""
        if self._rest is not None:
            listens = self._rest.wait_until_ready()
            click.echo(f"{'rest':<10}{listens}")
            self._hint(f"http://{dialled(listens)}/topics")

    def start_mqtt(self, port: int, more: Sequence[str]) -> None:
        """Returns at once."""
        settings = [f"bootstrap.servers={self._servers}", f"listeners=mqtt://{self._host}:{port}", *more]
        self._mqtt = Service("MQTT proxy", ["mqtt", *overrides(settings)], self._log("mqtt"))
        self._services.append(self._mqtt)

    def await_mqtt(self) -> None:
        """Prints where the proxy listens."""
        if self._mqtt is not None:
            listens = self._mqtt.wait_until_ready()
            click.echo(f"{'mqtt':<10}{listens}")
            host, _, port = dialled(listens).rpartition(":")
            self.hints.append(MQTT_HINT.format(host=host, port=port))

    def start_connect(self, port: int, more: Sequence[str]) -> None:
        """Returns at once, unless the SQL server could not be told of its address."""
        settings = [
            f"bootstrap.servers={self._servers}",
            f"listeners=http://{self._host}:{port}",
            f"state.dir={self._directory.rstrip('/')}-connect",
            *more,
        ]
        arguments = ["connect", "worker", *self._config("connect"), *overrides(settings)]
        self._connect = Service("Connect worker", arguments, self._log("connect"), stop_s=SPARK_STOP_S)
        self._services.append(self._connect)
        if port and not any(setting.startswith("listeners=") for setting in more):
            self._connect_url = f"http://{dialled(f'{self._host}:{port}')}"
        else:
            self.await_connect()

    def await_connect(self) -> None:
        """Prints where the worker listens, once."""
        service, self._connect = self._connect, None
        if service is None:
            return
        listens = service.wait_until_ready()
        click.echo(f"{'connect':<10}{listens}")
        self._connect_url = f"http://{dialled(listens)}"
        elsewhere = "" if listens.endswith(f":{CONNECT_PORT}") else f" --connect {self._connect_url}"
        self._hint(f"{self._connect_url}/connectors", CONNECT_HINT, connect=elsewhere)

    def start_sql(self, port: int, more: Sequence[str]) -> None:
        settings = [
            f"bootstrap.servers={self._servers}",
            f"listeners=http://{self._host}:{port}",
            # Beside the data directory, in which a broker expects only partitions.
            f"ksql.streams.state.dir={self._directory.rstrip('/')}-sql",
            f"ksql.internal.topic.replicas={internal_replicas(self._brokers)}",
        ]
        if self._registry_url is not None:
            settings.append(f"ksql.schema.registry.url={self._registry_url}")
        # Where the worker asks for a login, the SQL server has none to give.
        if self._connect_url is not None and self._guard is None:
            settings.append(f"ksql.connect.url={self._connect_url}")
        arguments = ["sql", "server", *self._config("sql"), *overrides([*settings, *more])]
        self.sql_url = self._listens(
            "sql", Service("SQL server", arguments, self._log("sql"), stop_s=SPARK_STOP_S)
        )
        self.sql_argument = "" if self.sql_url.endswith(f":{SQL_PORT}") else f" {self.sql_url}"
        self._hint(f"{self.sql_url}/info", SQL_HINT, sql=self.sql_argument)

    def _hint(self, url: str, command: str | None = None, **more: str) -> None:
        """Something to try. Where services ask for a login that is a request with curl, which reads the password from a
        file."""
        if self._guard is not None:
            self.hints.append(CURL_HINT.format(login=f" --netrc-file {self._guard.netrc}", url=url))
        elif command is None:
            self.hints.append(CURL_HINT.format(login="", url=url))
        else:
            self.hints.append(pasteable(command, self._servers, None, **more))

    def _config(self, name: str) -> list[str]:
        return [] if self._guard is None else ["--config", str(self._guard.service_file(name))]

    def _pasteable(self, hints: str, **more: str) -> str:
        client_file = None if self._guard is None else self._guard.admin_file
        return pasteable(hints, self._servers, client_file, **more)

    def _listens(self, name: str, service: Service) -> str:
        """Prints where it listens, and returns the address to reach it from here."""
        listens = _start(self._services, service)
        click.echo(f"{name:<10}{listens}")
        return f"http://{dialled(listens)}"

    def _log(self, name: str) -> Path | None:
        """Beside those of the brokers of a cluster; a single broker and what belongs to it log to the terminal."""
        return Path(self._directory) / f"{name}.log" if self._brokers > 1 else None


def _start(services: list[Service], service: Service) -> str:
    services.append(service)
    return service.wait_until_ready()
