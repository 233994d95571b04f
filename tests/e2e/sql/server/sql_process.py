"""`moldau sql server` as a user starts it: the installed command in a process of its own, and HTTP to talk to it."""

import contextlib
import http.client
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from compat.server_process import ServerProcess
from e2e.process_facts import children

PATIENCE_S = 300
SESSION_TIMEOUT_MS = 6_000
"""The shortest a broker allows."""
EARLIEST = {"auto.offset.reset": "earliest"}
DRIVER = b"moldau.pipeline.spark.driver"


class Refused(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body

    @property
    def code(self) -> int:
        return int(self.body["error_code"])

    @property
    def message(self) -> str:
        return str(self.body["message"])


class SqlClient:
    def __init__(self, url: str) -> None:
        self.url = url

    def ksql(self, text: str, **properties: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(
            "POST", "/ksql", {"ksql": text, "streamsProperties": properties}
        )
        return found

    def status(self, text: str, **properties: str) -> dict[str, Any]:
        """The command status of one statement."""
        (answer,) = self.ksql(text, **properties)
        found: dict[str, Any] = answer["commandStatus"]
        return found

    def rows(self, sql: str, **properties: str) -> list[list[Any]]:
        """Of a query that ends by itself."""
        with self.query(sql, **properties) as lines:
            next(lines)
            return [line for line in lines if isinstance(line, list)]

    @contextlib.contextmanager
    def query(self, sql: str, **properties: str) -> Iterator[Iterator[Any]]:
        """The lines of /query-stream as they come."""
        connection = self._connection()
        body = orjson.dumps({"sql": sql, "properties": properties or EARLIEST})
        try:
            connection.request("POST", "/query-stream", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status >= 400:
                raise Refused(response.status, orjson.loads(response.read()))
            yield (orjson.loads(line) for line in response if line.strip())
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        connection = self._connection()
        try:
            content = None if body is None else orjson.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            found = orjson.loads(text) if text else None
        except orjson.JSONDecodeError:
            found = text.decode()
        if response.status >= 400:
            raise Refused(response.status, found)
        return found

    def query_states(self) -> dict[str, str]:
        (answer,) = self.ksql("SHOW QUERIES;")
        return {one["id"]: one["state"] for one in answer["queries"]}

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)


class SqlProcess(ServerProcess):
    def __init__(
        self, folder: Path, bootstrap: str, state: Path, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(folder)
        self._settings = {
            "listeners": f"http://127.0.0.1:{self.port}",
            "bootstrap.servers": bootstrap,
            "ksql.streams.state.dir": str(state),
            "ksql.spark.master": "local[2]",
            "ksql.heartbeat.session.timeout.ms": str(SESSION_TIMEOUT_MS),
            "ksql.heartbeat.send.interval.ms": "500",
            **(settings or {}),
        }
        self.client = SqlClient(f"http://127.0.0.1:{self.port}")

    def command(self) -> list[str]:
        overrides = [f"--override={key}={value}" for key, value in self._settings.items()]
        return [str(Path(sys.executable).with_name("moldau")), "sql", "server", *overrides]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())

    def driver_pid(self) -> int | None:
        """The process that runs Spark, if there is one now."""
        for pid in children(self.pid):
            with contextlib.suppress(OSError):
                if DRIVER in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        return None
