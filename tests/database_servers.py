"""Real PostgreSQL and MariaDB servers for tests, where Debian's packages are installed; otherwise a skip with a reason.

Each server lives in a folder of its own under the system's temporary folder and listens on a free port of 127.0.0.1.
Both refuse to run as root: root starts them as the user that the package has made.
"""

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "kde-domov-můj"
DEADLINE_S = 120.0
STARTS_MAX = 3
LOG_SHOWN = 2_000


@dataclass
class DatabaseServer:
    """A server that can be stopped and started again, on the same port."""

    scheme: str
    folder: Path
    port: int
    command: list[str]
    account: str | None
    """The system's user that runs it. None: the one that runs the tests."""
    user: str = "moldau"
    password: str = PASSWORD
    database: str = "shop"
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"jdbc:{self.scheme}://127.0.0.1:{self.port}/{self.database}"

    @property
    def config(self) -> dict[str, str]:
        """What a connector needs to reach it."""
        return {
            "connection.url": self.url,
            "connection.user": self.user,
            "connection.password": self.password,
        }

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> bool:
        """False if the port was taken by another process meanwhile."""
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [*self.command, *self._port_options()],
                cwd=self.folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **as_account(self.account),
            )
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            if _answers(self.port):
                return True
            assert time.monotonic() < end, f"{self.command[0]} does not answer: {self._log_end()}"
            time.sleep(0.05)
        text = self._log_end()
        assert "in use" in text, f"{self.command[0]} ended: {text}"
        return False

    def stop(self) -> None:
        """At once, as at the loss of power: there is nothing to keep."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                if self.scheme == "postgresql":
                    # The processes of connections are in no group with it, and outlive its kill for a while.
                    os.kill(self.process.pid, signal.SIGQUIT)
                else:
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(DEADLINE_S)
            self.process = None

    def _port_options(self) -> list[str]:
        return ["-p", str(self.port)] if self.scheme == "postgresql" else [f"--port={self.port}"]

    def _log_end(self) -> str:
        return self.log.read_text(errors="replace")[-LOG_SHOWN:]


@contextmanager
def postgresql() -> Iterator[DatabaseServer]:
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(binaries[-1]) if binaries else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL is not installed")
    account = _account("postgres")
    with _folder(account) as folder:
        password = folder / "password"
        password.write_text(PASSWORD)
        run(
            [
                initdb,
                f"--pgdata={folder / 'data'}",
                "--username=moldau",
                f"--pwfile={password}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ],
            account,
        )
        command = [str(Path(initdb).with_name("postgres")), "-D", str(folder / "data")]
        for name, value in {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "shared_buffers": "32MB",
            "timezone": "UTC",
        }.items():
            command += ["-c", f"{name}={value}"]
        server = DatabaseServer("postgresql", folder, free_port(), command, account)
        with _running(server):
            with _connected(server) as connection:
                connection.execute("CREATE DATABASE shop")
            yield server


def _connected(server: DatabaseServer) -> Any:
    """PostgreSQL listens before it lets anybody in."""
    import psycopg

    parts: Any = {"host": "127.0.0.1", "port": server.port, "user": server.user, "password": PASSWORD}
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            return psycopg.connect(**parts, dbname="postgres", autocommit=True)
        except psycopg.OperationalError:
            assert time.monotonic() < end, server.log.read_text(errors="replace")[-LOG_SHOWN:]
            time.sleep(0.05)


@contextmanager
def mariadb() -> Iterator[DatabaseServer]:
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    binary, installer = shutil.which("mariadbd", path=path), shutil.which("mariadb-install-db", path=path)
    if binary is None or installer is None:
        pytest.skip("MariaDB is not installed")
    account = _account("mysql")
    with _folder(account) as folder:
        data = f"--datadir={folder / 'data'}"
        light = ["--no-defaults", data, "--innodb-flush-method=nosync", "--innodb-buffer-pool-size=32M"]
        run(
            [installer, *light, "--auth-root-authentication-method=normal", "--skip-test-db"],
            account,
        )
        prepare = folder / "prepare.sql"
        prepare.write_text(
            "CREATE DATABASE IF NOT EXISTS shop;\n"
            f"CREATE USER IF NOT EXISTS 'moldau'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO 'moldau'@'127.0.0.1';\n"
        )
        prepare.chmod(0o644)
        command = [
            binary,
            *light,
            f"--init-file={prepare}",
            "--character-set-server=utf8mb4",
            "--bind-address=127.0.0.1",
            f"--socket={folder / 'socket'}",
            f"--pid-file={folder / 'pid'}",
            "--skip-log-bin",
            "--skip-name-resolve",
        ]
        server = DatabaseServer("mariadb", folder, free_port(), command, account)
        with _running(server):
            yield server


@contextmanager
def _running(server: DatabaseServer) -> Iterator[None]:
    try:
        for attempt in range(STARTS_MAX):
            if server.start():
                break
            assert attempt + 1 < STARTS_MAX, "no free port"
            server.port = free_port()
        yield
    finally:
        server.stop()


@contextmanager
def _folder(account: str | None) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="moldau-database-"))
    try:
        if account is not None:
            shutil.chown(path, account)
        path.chmod(0o755)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run(command: list[str], account: str | None) -> None:
    done = subprocess.run(command, capture_output=True, cwd="/", timeout=DEADLINE_S, **as_account(account))
    shown = (done.stdout + done.stderr).decode(errors="replace")[-LOG_SHOWN:]
    assert done.returncode == 0, f"{command[0]} failed: {shown}"


def as_account(account: str | None) -> dict[str, Any]:
    """Options of subprocess that make a process run as another user."""
    if account is None:
        return {}
    home = {"HOME": "/", "PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    return {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": [], "env": home}


def free_port() -> int:
    """Below those that the system gives to clients: the server is stopped and started again on it."""
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _account(name: str) -> str | None:
    return name if os.geteuid() == 0 else None


def _answers(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0
