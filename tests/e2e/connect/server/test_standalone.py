"""A worker that runs the connectors of files given on its command line, alone."""

import subprocess
from pathlib import Path

from e2e.connect.server.conftest import IDLE_SINK, IDLE_SOURCE
from e2e.connect.server.connect_process import PATIENCE_S, ConnectProcess
from e2e.connect.server.test_takeover import TESTS
from moldau.testing import LocalCluster

SETTINGS = {"group.id": "alone", "plugin.path": str(TESTS)}


def properties(path: Path, **settings: str) -> str:
    path.write_text("".join(f"{key.replace('_', '.')}={value}\n" for key, value in settings.items()))
    return str(path)


def test_connectors_of_files(cluster: LocalCluster, tmp_path: Path) -> None:
    worker_file = properties(tmp_path / "worker.properties", offset_flush_interval_ms="1000")
    source = properties(
        tmp_path / "source.properties", name="first", connector_class=IDLE_SOURCE, colour="red"
    )
    sink = tmp_path / "sink.json"
    sink.write_text(
        f'{{"name": "second", "config": {{"connector.class": "{IDLE_SINK}", "colour": "red", "topics": "t"}}}}'
    )
    worker = ConnectProcess(
        tmp_path / "worker",
        cluster.bootstrap_servers,
        SETTINGS,
        ["--standalone", worker_file, source, str(sink)],
    )
    with worker:
        client = worker.client
        assert client.ask("GET", "/connectors") == ["first", "second"]
        for name in ("first", "second"):
            client.wait_states(name, "RUNNING", [])
        client.create("third", {"connector.class": IDLE_SOURCE, "colour": "red"})
        client.of("third", "/pause", "PUT")
        client.wait_states("third", "PAUSED", [])
        client.of("third", "/stop", "PUT")
        client.wait_states("third", "STOPPED", [])
        changes = {"offsets": [{"partition": {"shelf": 1}, "offset": {"book": 7}}]}
        client.of("third", "/offsets", "PATCH", changes)
        assert client.of("third", "/offsets") == changes
        worker.restart()
        # What was changed over HTTP is lost, as in Kafka Connect. Offsets are not.
        assert client.ask("GET", "/connectors") == ["first", "second"]
        client.create("third", {"connector.class": IDLE_SOURCE, "colour": "red"})
        assert client.of("third", "/offsets") == changes


def test_files_that_are_wrong(cluster: LocalCluster, tmp_path: Path) -> None:
    worker_file = properties(tmp_path / "worker.properties", spark_master="local[1]")

    def refusal(*files: str) -> str:
        worker = ConnectProcess(
            tmp_path / "worker", cluster.bootstrap_servers, SETTINGS, ["--standalone", worker_file, *files]
        )
        done = subprocess.run(
            worker.command(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 2, done.stderr
        return done.stderr.splitlines()[-1]

    colourless = properties(tmp_path / "a.properties", name="a", connector_class=IDLE_SOURCE)
    assert refusal(str(tmp_path / "nowhere.json")).endswith("No such file or directory")
    wrong = tmp_path / "list.json"
    wrong.write_text("[]")
    assert "a connector is described by an object" in refusal(str(wrong))
    assert refusal(colourless).startswith("You can also find")
