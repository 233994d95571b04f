"""A Redis for tests that loses nothing it has answered, with a password, and TLS on a second port."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from connect_kit import eventually
from database_servers import free_port

PASSWORD = "kde-domov-můj"
STARTS_MAX = 3


class RedisServer:
    """It can be killed and started again on the same ports, and then has its data."""

    def __init__(self, folder: Path, binary: str) -> None:
        self.folder = folder
        self._binary = binary
        self.certificate = folder / "server.pem"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = self.tls_port = 0
        self.client: Any = None

    @property
    def config(self) -> dict[str, str]:
        """What a connector needs to reach it."""
        return {"redis.uri": f"redis://127.0.0.1:{self.port}/0", "redis.password": PASSWORD}

    def choose_ports(self) -> None:
        self.port, self.tls_port = free_port(), free_port()
        self.client = redis.Redis(port=self.port, password=PASSWORD, decode_responses=True, protocol=2)

    def start(self) -> bool:
        """False if a port was taken meanwhile."""
        key = self.folder / "server.key"
        if not key.exists():
            subprocess.run(
                [
                    *("openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2"),
                    *("-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"),
                    *("-keyout", str(key), "-out", str(self.certificate)),
                ],
                check=True,
                capture_output=True,
                timeout=120,
            )
        options = {
            "port": self.port,
            "tls-port": self.tls_port,
            "tls-cert-file": self.certificate,
            "tls-key-file": key,
            "tls-ca-cert-file": self.certificate,
            "tls-auth-clients": "no",
            "bind": "127.0.0.1",
            "dir": self.folder,
            "requirepass": PASSWORD,
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        command = [
            self._binary,
            *(str(part) for name, value in options.items() for part in (f"--{name}", value)),
        ]
        with (self.folder / "log").open("ab") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out)
        eventually(lambda: self._answers() or self._has_ended(), "Redis starts")
        return self._answers()

    def kill(self) -> None:
        """As at the loss of power."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            return not self._has_ended() and bool(self.client.ping())
        except redis.RedisError:
            return False

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    binary = shutil.which("redis-server")
    if binary is None or shutil.which("openssl") is None:
        pytest.skip("redis-server or openssl is not installed")
    server = RedisServer(folder, binary)
    try:
        for attempt in range(STARTS_MAX):
            server.choose_ports()
            if server.start():
                break
            assert attempt + 1 < STARTS_MAX, (folder / "log").read_text()
        yield server
    finally:
        server.kill()
        if server.client is not None:
            server.client.close()
