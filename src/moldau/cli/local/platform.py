"""What `moldau up` starts beside the brokers: registry, REST and MQTT proxies, Connect and SQL; and what to try.

With a `SecureFolder` all of them have TLS and logins, and so have the commands to try.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from moldau.cli.local.client_files import write_mqtt_files, write_registry_files
from moldau.cli.local.local_cluster import internal_replicas
from moldau.cli.local.secure_folder import ADMIN, SecureFolder
from moldau.cli.local.services import STOP_S, Service, dialled, overrides, pasteable

HINTS = """
Try it in a second terminal:
  {moldau} topics create orders{at}
  echo '2 apples' | {moldau} produce orders{at}
  {moldau} consume orders{at}"""
SECURE_HINTS = """
Certificates, users and files with which clients connect are in {folder}.
The user admin may do everything, the user demo what concerns names that begin with demo-."""
REGISTRY_HINT = "{moldau} schemas list{registry}"
CONNECT_HINT = "{moldau} connect plugins{connect}"
SQL_HINT = "{moldau} sql{sql} --execute 'SHOW TOPICS;'"
REGISTRY_PORT = 8081
REST_PORT = 8082
CONNECT_PORT = 8083
SQL_PORT = 8088
MQTT_PORT = 1883
MQTT_TLS_PORT = 8883
SPARK_STOP_S = 120.0
"""Spark finishes its batches first."""


class Wanted(NamedTuple):
    """A service: its port, None for the usual one, and what was said of its settings."""

    port: int | None = None
    settings: Sequence[str] = ()

    @property
    def names_listener(self) -> bool:
        return any(setting.startswith("listeners=") for setting in self.settings)


class Platform:
    """The services beside the brokers."""

    def __init__(
        self,
        services: list[Service],
        servers: str,
        directory: str,
        host: str,
        brokers: int,
        made: SecureFolder | None,
    ) -> None:
        """`services` are added to. `servers`: the addresses of the brokers; `host`: where all of them listen."""
        self._services = services
        self._servers = servers
        self._directory = directory
        self._host = host
        self._brokers = brokers
        self._made = made
        self._registry_url: str | None = None
        self._connect: Service | None = None
        """Until it is ready."""
        self._connect_url: str | None = None
        self._rest: Service | None = None
        self._mqtt: Service | None = None
        self.sql_url = ""
        self.sql_argument = ""
        """What follows `moldau sql` to reach the server."""
        self.hints = [pasteable(HINTS, servers, None if made is None else made.admin_file)]
        if made is not None:
            self.hints.insert(0, SECURE_HINTS.format(folder=made.folder))

    def start(
        self,
        *,
        registry: Wanted | None,
        rest: Wanted | None,
        mqtt: Wanted | None,
        connect: Wanted | None,
        sql: Wanted | None,
    ) -> None:
        """Returns when all that is wanted is ready. None: not wanted."""
        if registry is not None:
            self._start_registry(registry)
        if connect is not None:
            self._start_connect(connect)
        if rest is not None:
            self._start_rest(rest)
        if mqtt is not None:
            self._start_mqtt(mqtt)
        if sql is not None:
            self._start_sql(sql)
        self._await_connect()
        self._await_rest()
        self._await_mqtt()

    def _start_registry(self, wanted: Wanted) -> None:
        settings = [
            f"kafkastore.bootstrap.servers={self._servers}",
            self._listener(wanted, REGISTRY_PORT),
            *wanted.settings,
        ]
        service = self._started("registry", ["registry"], settings)
        self._registry_url = url = self._told("registry", service)
        if self._made is not None:
            write_registry_files(self._made, url)
        elsewhere = "" if _is_usual(url, REGISTRY_PORT) else f" --registry {url}"
        self._hint(REGISTRY_HINT, registry=elsewhere)

    def _start_rest(self, wanted: Wanted) -> None:
        """Returns at once."""
        settings = [f"bootstrap.servers={self._servers}", self._listener(wanted, REST_PORT)]
        if self._registry_url is not None:
            settings.append(f"schema.registry.url={self._registry_url}")
        self._rest = self._started("REST proxy", ["rest"], [*settings, *wanted.settings])

    def _await_rest(self) -> None:
        """Prints where the proxy listens."""
        if self._rest is None:
            return
        url = self._told("rest", self._rest)
        config = "" if self._made is None else f" --config {self._made.client_file(ADMIN, 'curl')}"
        self.hints.append(f"  curl{config} {url}/topics")

    def _start_mqtt(self, wanted: Wanted) -> None:
        """Returns at once."""
        scheme, usual = ("mqtt", MQTT_PORT) if self._made is None else ("mqtts", MQTT_TLS_PORT)
        port = usual if wanted.port is None else wanted.port
        settings = [f"bootstrap.servers={self._servers}", f"listeners={scheme}://{self._host}:{port}"]
        self._mqtt = self._started("MQTT proxy", ["mqtt"], [*settings, *wanted.settings])

    def _await_mqtt(self) -> None:
        """Prints where the proxy listens."""
        if self._mqtt is None:
            return
        host, _, port = self._told("mqtt", self._mqtt).rpartition("://")[2].rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if self._made is None:
            self.hints.append(f"  mosquitto_sub -h {host} -p {port} -t '#' -v")
            return
        write_mqtt_files(self._made, host, port)
        config = self._made.client_file(ADMIN, "mosquitto")
        self.hints.append(f"  XDG_CONFIG_HOME={config} mosquitto_sub -t '#' -v")

    def _start_connect(self, wanted: Wanted) -> None:
        """Returns at once, unless the SQL server could not be told of its address."""
        settings = [
            f"bootstrap.servers={self._servers}",
            self._listener(wanted, CONNECT_PORT),
            f"state.dir={self._directory.rstrip('/')}-connect",
            *wanted.settings,
        ]
        self._connect = self._started(
            "Connect worker", ["connect", "worker"], settings, log="connect", stop_s=SPARK_STOP_S
        )
        port = CONNECT_PORT if wanted.port is None else wanted.port
        if port and not wanted.names_listener:
            self._connect_url = f"{self._scheme}://{dialled(f'{self._host}:{port}')}"
        else:
            self._await_connect()

    def _await_connect(self) -> None:
        """Prints where the worker listens, once."""
        service, self._connect = self._connect, None
        if service is None:
            return
        self._connect_url = url = self._told("connect", service)
        elsewhere = "" if _is_usual(url, CONNECT_PORT) else f" --connect {url}"
        self._hint(CONNECT_HINT, connect=elsewhere)

    def _start_sql(self, wanted: Wanted) -> None:
        settings = [
            f"bootstrap.servers={self._servers}",
            self._listener(wanted, SQL_PORT),
            # Beside the data directory, in which a broker expects only partitions.
            f"ksql.streams.state.dir={self._directory.rstrip('/')}-sql",
            f"ksql.internal.topic.replicas={internal_replicas(self._brokers)}",
        ]
        if self._registry_url is not None:
            settings.append(f"ksql.schema.registry.url={self._registry_url}")
        if self._connect_url is not None:
            settings.append(f"ksql.connect.url={self._connect_url}")
        service = self._started(
            "SQL server", ["sql", "server"], [*settings, *wanted.settings], log="sql", stop_s=SPARK_STOP_S
        )
        self.sql_url = self._told("sql", service)
        self.sql_argument = "" if _is_usual(self.sql_url, SQL_PORT) else f" {self.sql_url}"
        self._hint(SQL_HINT, sql=self.sql_argument)

    @property
    def _scheme(self) -> str:
        return "http" if self._made is None else "https"

    def _listener(self, wanted: Wanted, usual: int) -> str:
        port = usual if wanted.port is None else wanted.port
        return f"listeners={self._scheme}://{self._host}:{port}"

    def _started(
        self,
        title: str,
        command: Sequence[str],
        settings: Sequence[str],
        *,
        log: str | None = None,
        stop_s: float = STOP_S,
    ) -> Service:
        """A new process, which may not be ready yet."""
        name = log or command[0]
        config = [] if self._made is None else ["--config", str(self._made.service_file(name))]
        arguments = [*command, *config, *overrides(settings)]
        service = Service(title, arguments, self._log(name), stop_s=stop_s)
        self._services.append(service)
        return service

    def _told(self, name: str, service: Service) -> str:
        """Prints where a service listens once it is ready, and returns the address to reach it from here."""
        listens = service.wait_until_ready()
        click.echo(f"{name:<10}{listens}")
        return f"{listens.split()[0].partition('://')[0]}://{dialled(listens)}"

    def _hint(self, command: str, **more: str) -> None:
        """Something to try. Where services ask for a login, the command finds it in a file."""
        before = "" if self._made is None else self._made.variables
        self.hints.append(f"  {before}{pasteable(command, self._servers, None, **more)}")

    def _log(self, name: str) -> Path | None:
        """Beside those of the brokers of a cluster; a single broker and what belongs to it log to the terminal."""
        return Path(self._directory) / f"{name}.log" if self._brokers > 1 else None


def _is_usual(url: str, port: int) -> bool:
    """Whether commands look there unless they are told."""
    return url in (f"http://localhost:{port}", f"http://127.0.0.1:{port}")
