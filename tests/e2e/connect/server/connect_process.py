"""`moldau connect worker` as a user starts it: the installed command in a process, and HTTP to talk to it."""

import contextlib
import http.client
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from compat.server_process import ServerProcess, wait_until
from e2e.process_facts import children

PATIENCE_S = 300
SESSION_TIMEOUT_MS = 6_000
"""The shortest a broker allows."""
DRIVER = b"moldau.pipeline.spark.driver"
KINDS = ("config", "offset", "status")
STRINGS = {"key.converter": "StringConverter", "value.converter": "StringConverter"}


def topics_of(group: str) -> dict[str, str]:
    """Groups must not share their topics: each would run the connectors of the other."""
    return {"group.id": group, **{f"{kind}.storage.topic": f"{group}-{kind}" for kind in KINDS}}


class Refused(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body

    @property
    def message(self) -> str:
        return str(self.body["message"])


class ConnectClient:
    def __init__(self, url: str) -> None:
        self.url = url

    def answer(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Status, content and headers. A body of bytes is sent as it is."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
        content = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        try:
            connection.request(method, path, content, {"Content-Type": "application/json", **(headers or {})})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            found = orjson.loads(text) if text else None
        except orjson.JSONDecodeError:
            found = text.decode()
        return response.status, found, {name.lower(): value for name, value in response.getheaders()}

    def ask(self, method: str, path: str, body: object = None) -> Any:
        status, found, _ = self.answer(method, path, body)
        if status >= 400:
            raise Refused(status, found)
        return found

    def create(self, name: str, config: Mapping[str, str], **more: str) -> Any:
        return self.ask("POST", "/connectors", {"name": name, "config": config, **more})

    def of(self, name: str, rest: str = "", method: str = "GET", body: object = None) -> Any:
        """A request about one connector."""
        return self.ask(method, f"/connectors/{quote(name, safe='')}{rest}", body)

    def states(self, name: str) -> tuple[str, list[str]]:
        """Of the connector and its tasks. Empty before the first one is known."""
        try:
            found = self.of(name, "/status")
        except Refused as refused:
            if refused.status != 404:
                raise
            return "", []
        return found["connector"]["state"], [task["state"] for task in found["tasks"]]

    def wait_states(self, name: str, connector: str, tasks: Sequence[str]) -> None:
        wait_until(
            lambda: self.states(name) == (connector, list(tasks)),
            f"{name} is {connector} with tasks {tasks}",
            PATIENCE_S,
        )


class ConnectProcess(ServerProcess):
    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        settings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        super().__init__(folder)
        self._arguments = list(arguments)
        settings = settings or {}
        self._settings = {
            **topics_of(settings.get("group.id", "connect-cluster")),
            "listeners": f"http://127.0.0.1:{self.port}",
            "bootstrap.servers": bootstrap,
            "state.dir": str(folder / "state"),
            "spark.master": "local[2]",
            "session.timeout.ms": str(SESSION_TIMEOUT_MS),
            "heartbeat.interval.ms": "500",
            "offset.flush.interval.ms": "500",
            **settings,
        }
        self.client = ConnectClient(f"http://127.0.0.1:{self.port}")

    @property
    def worker_id(self) -> str:
        return f"127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        overrides = [f"--override={key}={value}" for key, value in self._settings.items()]
        moldau = str(Path(sys.executable).with_name("moldau"))
        return [moldau, "connect", "worker", *overrides, *self._arguments]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())

    def driver_pid(self) -> int | None:
        """The process that runs Spark, if there is one now."""
        for pid in children(self.pid):
            with contextlib.suppress(OSError):
                if DRIVER in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        return None
