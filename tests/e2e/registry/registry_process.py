"""`moldau registry` as a user starts it: the installed command in a process of its own, and HTTP to talk to it."""

import http.client
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from compat.server_process import ServerProcess

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
PATIENCE_S = 90
SESSION_TIMEOUT_MS = 6_000
"""The shortest a broker allows."""


class RegistryProcess(ServerProcess):
    def __init__(self, folder: Path, bootstrap: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder)
        self._settings = {
            "listeners": f"http://127.0.0.1:{self.port}",
            "kafkastore.bootstrap.servers": bootstrap,
            "kafkagroup.session.timeout.ms": str(SESSION_TIMEOUT_MS),
            "kafkagroup.heartbeat.interval.ms": "500",
            **(settings or {}),
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_primary(self) -> bool:
        """According to the last line about it in its log."""
        words = [line for line in self.log_text().splitlines() if "the primary" in line]
        return bool(words) and "this instance is the primary" in words[-1]

    def command(self) -> list[str]:
        overrides = [f"--override={key}={value}" for key, value in self._settings.items()]
        return [str(Path(sys.executable).with_name("moldau")), "registry", *overrides]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())


class Answer(NamedTuple):
    status: int
    body: Any
    content_type: str

    @property
    def code(self) -> int:
        """Status and error code of an error answer."""
        return int(self.body["error_code"])


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
    """Sends `body` as JSON, or bytes unchanged. The answer's body is parsed JSON, or text."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    try:
        content = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        if content is not None and "Content-Type" not in told:
            told["Content-Type"] = CONTENT_TYPE
        connection.request(method, path, content, told)
        response = connection.getresponse()
        text = response.read()
        kind = response.getheader("Content-Type", "")
        try:
            return Answer(response.status, orjson.loads(text) if text else None, kind)
        except orjson.JSONDecodeError:
            return Answer(response.status, text.decode(), kind)
    finally:
        connection.close()
