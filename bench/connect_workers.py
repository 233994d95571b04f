"""Workers of Connect for the race, each in a process of its own: ours, and Kafka Connect from Maven Central.

Both are distributed workers with one group of their own, driven by the same REST API.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from moldau.pipeline.driver_process.client import free_address

PEER_FOLDER: Final = Path(__file__).parent / "connect_peer"
VERSION: Final = "4.2.0"
START_S_MAX: Final = 180
ANSWER_S_MAX: Final = 90
LOOK_EVERY_S: Final = 0.2
NO_CONTENT: Final = 204


class Worker:
    def __init__(self, process: "subprocess.Popen[bytes]", url: str) -> None:
        self._process, self._url = process, url

    @property
    def pid(self) -> int:
        return self._process.pid

    def create(self, name: str, config: Mapping[str, str]) -> None:
        self._ask("POST", "/connectors", {"name": name, "config": {"name": name, **config}})

    def delete(self, name: str) -> None:
        self._ask("DELETE", f"/connectors/{name}")

    def require_running(self, name: str) -> None:
        """Raises SystemExit with the trace of a task that has failed."""
        if self._process.poll() is not None:
            raise SystemExit(f"the worker has ended with {self._process.returncode}")
        for task in self._ask("GET", f"/connectors/{name}/status")["tasks"]:
            if task["state"] == "FAILED":
                raise SystemExit(f"{name} has failed: {task.get('trace')}")

    def wait_task(self, name: str) -> None:
        end = time.monotonic() + START_S_MAX
        while time.monotonic() < end:
            tasks = self._ask("GET", f"/connectors/{name}/status")["tasks"]
            if tasks and all(task["state"] == "RUNNING" for task in tasks):
                return
            self.require_running(name)
            time.sleep(LOOK_EVERY_S)
        raise SystemExit(f"{name} does not run within {START_S_MAX} s")

    def wait(self) -> None:
        end = time.monotonic() + START_S_MAX
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError):
                self._ask("GET", "/connectors")
                return
            time.sleep(LOOK_EVERY_S)
        raise SystemExit(f"the worker at {self._url} does not answer")

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        """Again while the group of the worker is moving."""
        request = urllib.request.Request(
            f"{self._url}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        end = time.monotonic() + START_S_MAX
        while True:
            try:
                with urllib.request.urlopen(request, timeout=ANSWER_S_MAX) as answer:
                    return None if answer.status == NO_CONTENT else json.load(answer)
            except urllib.error.HTTPError as refused:
                text = refused.read().decode(errors="replace")
                if refused.code not in (404, 409, 500, 503) or time.monotonic() > end:
                    raise SystemExit(f"{method} {path}: {refused.code} {text}") from None
            time.sleep(LOOK_EVERY_S)


def _settings(servers: str, name: str, address: str) -> dict[str, str]:
    return {
        "bootstrap.servers": servers,
        "group.id": name,
        "listeners": f"http://{address}",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "config.storage.topic": f"{name}-configs",
        "offset.storage.topic": f"{name}-offsets",
        "status.storage.topic": f"{name}-status",
        **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
    }


@contextlib.contextmanager
def _running(command: list[str], address: str, folder: Path) -> Iterator[Worker]:
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    worker = Worker(process, f"http://{address}")
    try:
        worker.wait()
        yield worker
    finally:
        process.terminate()
        try:
            process.wait(ANSWER_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def moldau(servers: str, name: str, folder: Path) -> Iterator[Worker]:
    address = free_address()
    settings = {**_settings(servers, name, address), "state.dir": str(folder / "state")}
    file = folder / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = [str(Path(sys.executable).with_name("moldau")), "connect", "worker", "--config", str(file)]
    with _running(command, address, folder) as worker:
        yield worker


@contextlib.contextmanager
def kafka(servers: str, name: str, folder: Path, support: str) -> Iterator[Worker]:
    """`support`: of exactly once for sources, `disabled` as by default, or `enabled`."""
    address = free_address()
    settings = {**_settings(servers, name, address), "exactly.once.source.support": support}
    file = folder / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    main = "org.apache.kafka.connect.cli.ConnectDistributed"
    # The heap of bin/connect-distributed.sh.
    command = ["java", "-Xms256m", "-Xmx2g", "-cp", f"{peer_jars()}/*", main, str(file)]
    with _running(command, address, folder) as worker:
        yield worker


def peer_jars() -> Path:
    """Kafka Connect with its file connectors and MirrorMaker 2, kept in the cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jars = cache / "moldau" / "bench" / f"connect-{VERSION}"
    if not jars.is_dir():
        new = jars.with_suffix(".new")
        pom = str(PEER_FOLDER / "pom.xml")
        command = ["mvn", "--batch-mode", "--quiet", "--file", pom, "dependency:copy-dependencies"]
        subprocess.run([*command, "-DincludeScope=runtime", f"-DoutputDirectory={new}"], check=True)
        new.rename(jars)
    return jars
