"""Runs ZooKeeper from the jars that pyspark includes: one server, or an ensemble on this machine.

Owns the server's configuration file, data directory and process, not the content of the tree.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

TICK_MS: Final = 500
SESSION_TIMEOUT_MIN_MS: Final = 1_000
SESSION_TIMEOUT_MAX_MS: Final = 40_000
START_TIMEOUT_S: Final = 120.0
STOP_TIMEOUT_S: Final = 10.0
POLL_S: Final = 0.05
HEAP_MB: Final = 256
_JARS: Final = (
    "zookeeper-*", "slf4j-api-*", "log4j-*", "netty-*", "metrics-core-*", "snappy-java-*", "commons-io-*",
)  # fmt: skip


class Peer(NamedTuple):
    """One server of an ensemble, as the others reach it."""

    number: int
    host: str
    quorum_port: int
    election_port: int
    client_port: int


def find_jars() -> list[str]:
    """ConfigError if there are none; it says what to install."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ConfigError(
            "ZooKeeper's server comes with pyspark, which is not installed; run `pip install 'moldau[spark]'`, or "
            "set zookeeper.connect to any other ZooKeeper"
        )
    folder = Path(spec.origin).parent / "jars"
    found = sorted(str(path) for pattern in _JARS for path in folder.glob(f"{pattern}.jar"))
    if not any("/zookeeper-" in path for path in found):
        raise ConfigError(
            f"pyspark's jars in {folder} include no ZooKeeper; reinstall pyspark, or use another ZooKeeper"
        )
    return found


def find_java() -> str:
    home = os.environ.get("JAVA_HOME")
    candidate = shutil.which("java", path=f"{home}/bin") if home else None
    java = candidate or shutil.which("java")
    if java is None:
        raise ConfigError(
            "ZooKeeper runs on Java, but there is no `java` on the PATH and no JAVA_HOME; install a Java runtime, "
            "version 17 or later"
        )
    return java


class ZooKeeperServer:
    """One server process. `start` returns when it serves."""

    def __init__(
        self,
        directory: Path,
        client_port: int,
        *,
        host: str = "127.0.0.1",
        number: int = 1,
        ensemble: Sequence[Peer] = (),
        settings: Mapping[str, str] = MappingProxyType({}),
        java_options: Sequence[str] = (),
    ) -> None:
        """`settings` are further lines of its configuration, `java_options` further arguments of its Java process: for
        TLS and logins, which ZooKeeper has in both."""
        self.client_port = client_port
        self.host = host
        self._directory = directory
        self._number = number
        self._ensemble = ensemble
        self.settings = settings
        self._java_options = java_options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.client_port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def launch(self) -> None:
        """Starts the process without waiting until it serves: the first server of an ensemble cannot serve alone."""
        jars, java = find_jars(), find_java()
        config = self._write_config()
        log = (self._directory / "zookeeper.log").open("ab")
        with log:
            self._process = subprocess.Popen(  # noqa: S603 Our own command line.
                [
                    java, f"-Xmx{HEAP_MB}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-Dzookeeper.admin.enableServer=false", "-Dzookeeper.4lw.commands.whitelist=srvr",
                    *self._java_options,
                    "-cp", os.pathsep.join(jars),
                    "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config),
                ],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def start(self) -> None:
        self.launch()
        self.wait_until_serving()

    def wait_until_serving(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.mode() is None:
            if self.exit_code() is not None:
                raise ConfigError(
                    f"ZooKeeper exited during its start; the end of its log:\n{self._last_log_lines()}"
                )
            if time.monotonic() > deadline:
                self.kill()
                raise ConfigError(
                    f"ZooKeeper did not serve {self.address} within {START_TIMEOUT_S:g} s:\n{self._last_log_lines()}"
                )
            time.sleep(POLL_S)

    def mode(self) -> str | None:
        """`standalone`, `leader` or `follower`; None while it does not serve."""
        try:
            with socket.create_connection((self.host, self.client_port), timeout=2) as asked:
                asked.sendall(b"srvr")
                answer = b""
                while part := asked.recv(4096):
                    answer += part
        except OSError:
            return None
        lines = answer.decode(errors="replace").splitlines()
        return next((line.removeprefix("Mode: ") for line in lines if line.startswith("Mode: ")), None)

    def exit_code(self) -> int | None:
        assert self._process is not None, "the server was not started"
        return self._process.poll()

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write_config(self) -> Path:
        self._directory.mkdir(parents=True, exist_ok=True)
        data = self._directory / "data"
        data.mkdir(exist_ok=True)
        lines = [
            f"tickTime={TICK_MS}",
            "initLimit=20",
            "syncLimit=10",
            f"minSessionTimeout={SESSION_TIMEOUT_MIN_MS}",
            f"maxSessionTimeout={SESSION_TIMEOUT_MAX_MS}",
            f"dataDir={data}",
            "maxClientCnxns=0",
            "autopurge.snapRetainCount=3",
            "autopurge.purgeInterval=1",
        ]
        if self._ensemble:
            (data / "myid").write_text(f"{self._number}\n", encoding="ascii")
            lines += [
                f"server.{peer.number}={peer.host}:{peer.quorum_port}:{peer.election_port};"
                f"{peer.host}:{peer.client_port}"
                for peer in self._ensemble
            ]
        else:
            lines += [f"clientPort={self.client_port}", f"clientPortAddress={self.host}"]
        lines += [f"{name}={value}" for name, value in self.settings.items()]
        config = self._directory / "zookeeper.properties"
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return config

    def _last_log_lines(self) -> str:
        text = (self._directory / "zookeeper.log").read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-10:])


def local_ensemble(directory: Path, client_ports: Sequence[int]) -> list[ZooKeeperServer]:
    """The servers of an ensemble, not yet started. They talk to each other on free ports."""
    others = free_ports(2 * len(client_ports))
    peers = [
        Peer(number, "127.0.0.1", others[2 * number - 2], others[2 * number - 1], port)
        for number, port in enumerate(client_ports, start=1)
    ]
    return [
        ZooKeeperServer(directory / str(peer.number), peer.client_port, number=peer.number, ensemble=peers)
        for peer in peers
    ]


def start_all(servers: Sequence[ZooKeeperServer]) -> None:
    """Returns when every server serves. If one fails, all are killed."""
    try:
        for server in servers:
            server.launch()
        for server in servers:
            server.wait_until_serving()
    except BaseException:
        for server in servers:
            server.kill()
        raise


def free_ports(count: int) -> list[int]:
    """Ports that are free now. Another process may take one first; then the server's start fails."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
