"""One worker on real Spark: records flow from a file through a topic into a file, whatever is asked in between."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.connect.server.connect_process import PATIENCE_S, STRINGS, ConnectClient, ConnectProcess, Refused
from e2e.connect.server.test_takeover import committed
from moldau.testing import LocalCluster

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "connect.md"


@pytest.fixture(scope="module")
def worker(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProcess]:
    folder = tmp_path_factory.mktemp("flows")
    (folder / "dice.py").write_text(connector_of_the_guide())
    settings = {"group.id": "flows", "plugin.path": str(folder)}
    with ConnectProcess(folder, cluster.bootstrap_servers, settings) as worker:
        yield worker
    assert "Traceback" not in worker.log_text(), worker.log_text()[-4000:]


def connector_of_the_guide() -> str:
    (found,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def client(worker: ConnectProcess) -> ConnectClient:
    return worker.client


class Flow:
    """A file source and a file sink, connected by a topic."""

    def __init__(self, client: ConnectClient, folder: Path, name: str) -> None:
        self.client = client
        self.source, self.sink, self.topic = f"{name}-source", f"{name}-sink", f"{name}-lines"
        self.given, self.written = folder / "given.txt", folder / "written.txt"
        self.given.touch()

    def create(self) -> None:
        source = {"connector.class": "FileStreamSource", "file": str(self.given), "topic": self.topic}
        sink = {"connector.class": "FileStreamSink", "file": str(self.written), "topics": self.topic}
        self.client.create(self.source, {**source, **STRINGS})
        self.client.create(self.sink, {**sink, **STRINGS})

    def add(self, *lines: str) -> None:
        with self.given.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def lines(self) -> list[str]:
        return self.written.read_text().splitlines() if self.written.exists() else []

    def wait_lines(self, *lines: str) -> None:
        wait_until(lambda: len(self.lines()) >= len(lines), f"{len(lines)} lines are written", PATIENCE_S)
        assert self.lines() == list(lines)


@pytest.fixture(scope="module")
def flow(worker: ConnectProcess, tmp_path_factory: pytest.TempPathFactory) -> Flow:
    flow = Flow(worker.client, tmp_path_factory.mktemp("files"), "flow")
    flow.create()
    flow.add("test 1", "test 2")
    flow.wait_lines("test 1", "test 2")
    return flow


def test_lines_flow_and_the_worker_tells_of_it(flow: Flow, worker: ConnectProcess) -> None:
    client = worker.client
    for name, kind in ((flow.source, "source"), (flow.sink, "sink")):
        client.wait_states(name, "RUNNING", ["RUNNING"])
        status = client.of(name, "/status")
        assert status["type"] == kind
        assert {one["worker_id"] for one in (status["connector"], *status["tasks"])} == {worker.worker_id}
        wait_topics(client, name, flow.topic)
    client.of(flow.source, "/topics/reset", "PUT")
    wait_until(
        lambda: client.of(flow.source, "/topics")[flow.source]["topics"] == [], "forgotten", PATIENCE_S
    )
    flow.add("test 3")
    wait_topics(client, flow.source, flow.topic)
    flow.wait_lines("test 1", "test 2", "test 3")
    (task,) = client.of(flow.source, "/tasks")
    assert task["id"] == {"connector": flow.source, "task": 0}
    assert task["config"]["file"] == str(flow.given)
    assert client.of(flow.source, "/offsets")["offsets"][0]["partition"] == {"filename": str(flow.given)}
    assert f'connector="{flow.sink}"' in client.ask("GET", "/metrics")


def wait_topics(client: ConnectClient, name: str, topic: str) -> None:
    wait_until(
        lambda: client.of(name, "/topics") == {name: {"topics": [topic]}}, "the topic is known", PATIENCE_S
    )


def test_pause_and_resume(flow: Flow, client: ConnectClient) -> None:
    before = flow.lines()
    client.of(flow.sink, "/pause", "PUT")
    client.wait_states(flow.sink, "PAUSED", ["PAUSED"])
    flow.add("while paused")
    assert client.states(flow.source) == ("RUNNING", ["RUNNING"])
    assert flow.lines() == before
    client.of(flow.sink, "/resume", "PUT")
    flow.wait_lines(*before, "while paused")
    client.wait_states(flow.sink, "RUNNING", ["RUNNING"])


def test_offsets_are_changed_while_it_is_stopped(flow: Flow, client: ConnectClient) -> None:
    before = flow.lines()
    changes = {
        "offsets": [{"partition": {"filename": str(flow.given)}, "offset": {"position": len("test 1\n")}}]
    }
    with pytest.raises(Refused, match="must be in the STOPPED state"):
        client.of(flow.source, "/offsets", "PATCH", changes)
    client.of(flow.source, "/stop", "PUT")
    client.wait_states(flow.source, "STOPPED", [])
    assert client.of(flow.source, "/tasks") == []
    client.of(flow.source, "/offsets", "PATCH", changes)
    assert client.of(flow.source, "/offsets") == changes
    client.of(flow.source, "/resume", "PUT")
    flow.wait_lines(*before, *before[1:])


def test_the_offsets_of_a_sink_are_those_of_its_group(flow: Flow, client: ConnectClient) -> None:
    lines = flow.lines()

    def offset() -> int:
        found = client.of(flow.sink, "/offsets")["offsets"]
        assert [one["partition"] for one in found] in (
            [],
            [{"kafka_topic": flow.topic, "kafka_partition": 0}],
        )
        return int(found[0]["offset"]["kafka_offset"]) if found else 0

    wait_until(lambda: offset() >= len(lines), "the sink has committed", PATIENCE_S)
    client.of(flow.sink, "/stop", "PUT")
    client.wait_states(flow.sink, "STOPPED", [])
    wait_until(lambda: _is_reset(client, flow.sink), "the sink's group has no members", PATIENCE_S)
    assert client.of(flow.sink, "/offsets") == {"offsets": []}
    client.of(flow.sink, "/resume", "PUT")
    flow.wait_lines(*lines, *lines)


def _is_reset(client: ConnectClient, name: str) -> bool:
    try:
        client.of(name, "/offsets", "DELETE")
    except Refused as refused:
        assert "can be safely retried" in refused.message
        return False
    return True


def test_restarts(flow: Flow, client: ConnectClient) -> None:
    assert client.of(flow.source, "/restart", "POST") is None
    states = client.of(flow.source, "/restart?includeTasks=true", "POST")
    assert states["connector"]["state"] == states["tasks"][0]["state"] == "RESTARTING"
    client.wait_states(flow.source, "RUNNING", ["RUNNING"])
    before = flow.lines()
    client.of(flow.source, "/tasks/0/restart", "POST")
    flow.add("after the restart")
    flow.wait_lines(*before, "after the restart")


def test_generated_records_and_deletion(client: ConnectClient) -> None:
    config = {"connector.class": "Datagen", "kafka.topic": "users", "quickstart": "users", "iterations": "5"}
    client.create("generated", config)
    client.wait_states("generated", "RUNNING", ["RUNNING"])
    wait_until(lambda: bool(client.of("generated", "/offsets")["offsets"]), "offsets", PATIENCE_S)
    client.of("generated", method="DELETE")
    with pytest.raises(Refused, match="No status found for connector generated"):
        client.of("generated", "/status")
    assert "generated" not in client.ask("GET", "/connectors")


def test_a_task_that_fails_shows_why_and_starts_again(client: ConnectClient, tmp_path: Path) -> None:
    target = tmp_path / "later" / "written.txt"
    config = {"connector.class": "FileStreamSink", "file": str(target), "topics": "flow-lines", **STRINGS}
    client.create("hopeful", config)
    wait_until(lambda: client.states("hopeful")[1] == ["FAILED"], "the task fails", PATIENCE_S)
    assert str(target) in client.of("hopeful", "/tasks/0/status")["trace"]
    target.parent.mkdir()
    client.wait_states("hopeful", "RUNNING", ["RUNNING"])
    wait_until(target.exists, "the file is written", PATIENCE_S)
    client.of("hopeful", method="DELETE")


def test_the_connector_of_the_guide(cluster: LocalCluster, client: ConnectClient) -> None:
    """Found in a folder of `plugin.path`, checked by its declarations, spread over two tasks, exactly once."""
    config = {"connector.class": "dice:DiceSource", "tasks.max": "2", "rolls": "20", **STRINGS}
    with pytest.raises(Refused, match='Missing required configuration "topic"'):
        client.create("dice", config)
    client.create("dice", {**config, "topic": "rolls"})
    client.wait_states("dice", "RUNNING", ["RUNNING", "RUNNING"])
    rolls = committed(cluster.bootstrap_servers, "rolls", 40)
    assert len(rolls) == 40
    assert set(rolls) <= set("123456")
    client.of("dice", method="DELETE")


@pytest.mark.skipif("MOLDAU_KILL_ROUNDS" not in os.environ, reason="starts Spark again")
def test_a_driver_process_that_dies_is_replaced(
    cluster: LocalCluster, flow: Flow, worker: ConnectProcess
) -> None:
    """The worker goes on answering, and the tasks go on where they were."""
    before = committed(cluster.bootstrap_servers, flow.topic, 1)
    pid = worker.driver_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    flow.add("after the kill")
    assert worker.client.of(flow.source)["name"] == flow.source
    wait_until(lambda: worker.driver_pid() not in (None, pid), "there is another process", PATIENCE_S)
    worker.client.wait_states(flow.source, "RUNNING", ["UNASSIGNED"])
    for name in (flow.source, flow.sink):
        worker.client.wait_states(name, "RUNNING", ["RUNNING"])
    after = committed(cluster.bootstrap_servers, flow.topic, len(before) + 1)
    assert after == [*before, "after the kill"]
