"""A driver process that runs connectors, as the server of a worker starts it, without the server."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

from confluent_kafka import Consumer, KafkaError, TopicPartition

from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.driver_process.application_folder import ApplicationFolder, Wanted
from moldau.pipeline.driver_process.client import DriverAway, DriverClient, free_address
from moldau.pipeline.driver_process.process import EXIT_AGAIN, start_driver

DEADLINE_S = 240.0
TEXTS = {"key.converter": "StringConverter", "value.converter": "StringConverter"}


def eventually(look: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
    """The first true answer of `look`."""
    end = time.monotonic() + deadline_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, f"not within {deadline_s:g} s: {what}"
        time.sleep(0.05)


class Driver:
    """`extra_path`: where connectors of the test are."""

    def __init__(self, folder: Path, servers: str, extra_path: Path | None = None) -> None:
        self._files = ApplicationFolder(folder)
        self._files.prepare()
        self.servers = servers
        self._extra_path = extra_path
        self._process: subprocess.Popen[str] | None = None
        self._client: DriverClient | None = None
        self._wanted: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """With what ran last."""
        address = free_address()
        order = {
            "http": address,
            "views": False,
            "stays": True,
            "warm": True,
            "wanted": self._wanted,
            "settings": {},
            "spark": {"master": "local[2]"},
        }
        before = os.environ.get("PYTHONPATH")
        if self._extra_path is not None:
            os.environ["PYTHONPATH"] = f"{self._extra_path}{os.pathsep}{before or ''}"
        try:
            self._process = start_driver([str(self._files.folder)], order)
        finally:
            if before is None:
                os.environ.pop("PYTHONPATH", None)
            else:
                os.environ["PYTHONPATH"] = before
        assert self._process.stdout is not None
        # Nobody reads the statuses here, but the pipe must not become full.
        threading.Thread(target=_drain, args=(self._process.stdout,), daemon=True).start()
        self._client = DriverClient(address)
        eventually(self._answers, "the driver process answers")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(90)
            except subprocess.TimeoutExpired:
                self._process.kill()
                raise
            self._process = None

    def kill(self) -> None:
        """As the system would, without a word."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def kill_jvm(self) -> None:
        """The driver notices it, and ends."""
        assert self._process is not None
        (jvm,) = (pid for pid in _children()[self._process.pid] if "java" in _command(pid).partition("\0")[0])
        os.kill(jvm, signal.SIGKILL)
        assert self._process.wait(DEADLINE_S) == EXIT_AGAIN
        self._process = None

    @property
    def client(self) -> DriverClient:
        assert self._client is not None
        return self._client

    def add(self, plan: ConnectorPlan) -> None:
        path = self._write(plan)
        self.client.add(path)
        self._wanted[path] = "running"

    def reload(self, plan: ConnectorPlan) -> None:
        self._write(plan)
        self.client.act(plan.application_id, "reload")

    def remove(self, plan: ConnectorPlan) -> None:
        self.client.remove(plan.application_id)
        self._wanted.pop(str(self._files.folder / f"{plan.application_id}.py"), None)
        self._files.remove(plan.application_id)

    def _write(self, plan: ConnectorPlan) -> str:
        content = (
            "from moldau.pipeline.connect.runtime.plan import ConnectorPlan\n\n\n"
            f"def build():\n    return {plan!r}\n"
        )
        wanted = Wanted(application_id=plan.application_id, content=content, is_paused=False, reloads=True)
        return self._files.write(wanted)

    def status(self, plan: ConnectorPlan) -> Mapping[str, Any]:
        for one in self.client.applications():
            if one["application_id"] == plan.application_id:
                return one
        return {"state": "removed", "tasks": []}

    def task(self, plan: ConnectorPlan, number: int = 0) -> Mapping[str, Any]:
        found = [one for one in self.status(plan)["tasks"] if one["task"] == number]
        return (
            found[0]
            if found
            else {"state": "none", "trace": "", "polled": 0, "written": 0, "failed": 0, "error": None}
        )

    def wait_task(self, plan: ConnectorPlan, state: str, number: int = 0) -> Mapping[str, Any]:
        eventually(
            lambda: self.task(plan, number)["state"] == state,
            f"{plan.name}-{number} is {state}",
        )
        return self.task(plan, number)

    def python_workers(self) -> list[int]:
        """The pids of processes in which Spark runs tasks."""
        assert self._process is not None
        children = _children()
        found, todo = [], [self._process.pid]
        while todo:
            pid = todo.pop()
            todo += children.get(pid, [])
            if pid != self._process.pid and "pyspark.daemon" in _command(pid):
                found.append(pid)
        # The first is the daemon itself, which forks the others.
        return [pid for pid in found if any(pid in children.get(other, []) for other in found)]

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the driver process has ended"
        try:
            self.client.applications()
        except DriverAway:
            return False
        return True


def _drain(lines: IO[str]) -> None:
    with lines:
        for _ in lines:
            pass


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "status").read_text()
            except OSError:
                continue
            parent = re.search(r"^PPid:\s+(\d+)$", status, re.MULTILINE)
            if parent:
                found.setdefault(int(parent[1]), []).append(int(entry.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def plan_of(
    servers: str,
    name: str,
    kind: str,
    connector_class: str,
    config: Mapping[str, str],
    *,
    tasks: int = 1,
    task_configs: Mapping[int, Mapping[str, str]] | None = None,
    **more: Any,
) -> ConnectorPlan:
    whole = {"name": name, **TEXTS, **config}
    return ConnectorPlan(
        name=name,
        worker_group="test-workers",
        kind=kind,  # type: ignore[arg-type]
        connector_class=connector_class,
        config=whole,
        providers=more.pop("providers", {}),
        tasks=task_configs or dict.fromkeys(range(tasks), whole),
        bootstrap_servers=servers,
        clients={},
        offsets_topic="connect-offsets",
        generation=more.pop("generation", 0),
        **{"flush_ms": 500, **more},
    )


FILE_SOURCE = "moldau.pipeline.connect.connectors.file_stream.source:FileStreamSourceConnector"
FILE_SINK = "moldau.pipeline.connect.connectors.file_stream.sink:FileStreamSinkConnector"


def file_source(servers: str, name: str, file: Path, topic: str, **more: Any) -> ConnectorPlan:
    config = {"file": str(file), "topic": topic, **more.pop("config", {})}
    return plan_of(servers, name, "source", FILE_SOURCE, config, **more)


def file_sink(servers: str, name: str, file: Path, topic: str, **more: Any) -> ConnectorPlan:
    config = {"file": str(file), "topics": topic, **more.pop("config", {})}
    return plan_of(servers, name, "sink", FILE_SINK, config, **more)


class Reader:
    """Reads what is committed of a topic, from its beginning."""

    def __init__(self, servers: str, topic: str, partitions: int = 1) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": f"reader-of-{topic}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        self._topic, self._places = topic, [TopicPartition(topic, number, 0) for number in range(partitions)]
        self.found: list[Any] = []

    def more(self) -> int:
        """Takes what there is now. Returns how many there are altogether."""
        if self._places:
            # A client that waits for a topic gives up after half a minute, and looks again after five.
            if self._topic not in self._consumer.list_topics(timeout=DEADLINE_S).topics:
                return 0
            self._consumer.assign(self._places)
            self._places = []
        for message in self._consumer.consume(100_000, 0.2):
            error = message.error()
            if error is None:
                self.found.append(message)
            elif error.code() not in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION):
                raise AssertionError(error.str())
        return len(self.found)

    def wait(self, count: int) -> list[Any]:
        try:
            eventually(lambda: self.more() >= count, f"{count} records")
        except AssertionError as failure:
            failure.add_note(f"there are {len(self.found)}")
            raise
        return self.found

    def values(self) -> list[bytes]:
        return [message.value() for message in self.found]

    def close(self) -> None:
        self._consumer.close()
