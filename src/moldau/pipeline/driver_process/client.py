"""Requests to the driver's HTTP API, which `moldau.pipeline.spark.driver.http.status_http` describes."""

import http.client
import socket
from typing import Any, Final
from urllib.parse import quote

import orjson

from moldau.core.errors import MoldauError

TIMEOUT_S: Final = 120.0
"""Longer than the driver takes to load a file, or to finish a batch."""


class DriverAway(MoldauError):
    """The driver does not answer: it is starting, or has ended."""


class DriverRefused(MoldauError):
    """The driver refuses a request; the message is its own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class DriverClient:
    """`address` is HOST:PORT. One connection for each request: they are few."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._timeout_s = timeout_s

    def applications(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("GET", "/applications")["applications"]
        return found

    def add(self, file: str) -> dict[str, Any]:
        return self._status("POST", "/applications", {"file": file})

    def remove(self, name: str) -> None:
        self._ask("DELETE", f"/applications/{quote(name)}")

    def act(self, name: str, action: str) -> dict[str, Any]:
        """`action`: pause, resume, stop, start, and of a connector reload."""
        return self._status("POST", f"/applications/{quote(name)}/{action}")

    def metrics_text(self) -> str:
        return self._send("GET", "/metrics").decode()

    def _status(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        found: dict[str, Any] = self._ask(method, path, body)
        return found

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        return orjson.loads(self._send(method, path, body))

    def _send(self, method: str, path: str, body: object = None) -> bytes:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.request(method, path, None if body is None else orjson.dumps(body))
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise DriverAway(f"the driver process does not answer {method} {path}: {error}") from error
        finally:
            connection.close()
        if response.status >= 400:
            raise DriverRefused(response.status, _message(text))
        return text


def free_address() -> str:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"127.0.0.1:{probe.getsockname()[1]}"


def _message(text: bytes) -> str:
    try:
        return str(orjson.loads(text)["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return text.decode(errors="replace")
