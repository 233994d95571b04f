"""A cluster by one command, and what it says about itself."""

import json
import signal
from pathlib import Path

from compat.server_process import wait_until
from e2e.cli.shell import Shell, read_line
from e2e.cluster.processes import PATIENCE_S
from zookeeper_kit import require_zookeeper


def test_one_command_starts_and_stops_a_cluster(tmp_path: Path) -> None:
    require_zookeeper()
    arguments = ("--brokers", "3", "--port", "0", "--zookeeper-port", "0", "--data", str(tmp_path))
    running = Shell("").started("cluster", "up", *arguments)
    try:
        lines = [read_line(running) for _ in range(5)]
        assert [line.split()[0] for line in lines] == ["zookeeper", "broker", "broker", "broker", "ready"]
        servers = [endpoint.removeprefix("PLAINTEXT://") for endpoint in lines[-1].split()[1:]]
        shell = Shell(",".join(servers))
        assert shell.run("topics", "create", "t", "--partitions", "3").endswith("replication factor 3.\n")
        wait_until(lambda: shell.finished("cluster", "status").returncode == 0, "all is well", PATIENCE_S)
        status = json.loads(shell.run("cluster", "status", "--output", "json"))
        assert status["brokers"] == [0, 1, 2]
        assert status["controller"] in (0, 1, 2)
        assert (status["topics"], status["partitions"]) == (1, 3)
        brokers = json.loads(shell.run("cluster", "brokers", "--output", "json"))
        assert [(each["broker"], each["leads"], each["replicas"]) for each in brokers] == [
            (0, 1, 3),
            (1, 1, 3),
            (2, 1, 3),
        ]
        assert "controller" in shell.run("cluster", "brokers")
    finally:
        running.send_signal(signal.SIGINT)
        try:
            assert running.wait(PATIENCE_S) == 0
        finally:
            running.kill()
            for stream in (running.stdin, running.stdout, running.stderr):
                assert stream is not None
                stream.close()
