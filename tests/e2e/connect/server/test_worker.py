"""The worker process: how it starts, what keeps it from starting, and a broker that restarts below it."""

import subprocess
from pathlib import Path

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.connect.server.conftest import IDLE_SOURCE
from e2e.connect.server.connect_process import PATIENCE_S, ConnectProcess, Refused
from e2e.connect.server.test_takeover import TESTS
from moldau.testing import LocalCluster


def refusal(folder: Path, bootstrap: str, **settings: str) -> str:
    """Why a worker does not start."""
    dotted = {name.replace("_", "."): value for name, value in settings.items()}
    worker = ConnectProcess(folder, bootstrap, dotted)
    done = subprocess.run(worker.command(), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_a_worker_that_cannot_start_says_why(cluster: LocalCluster, tmp_path: Path) -> None:
    servers = cluster.bootstrap_servers
    said = refusal(tmp_path, "127.0.0.1:1", worker_start_timeout_ms="500")
    assert "no Kafka broker answers at 127.0.0.1:1 (bootstrap.servers)" in said
    taken = servers.rpartition(":")[2]
    assert "Is a Connect worker running already?" in refusal(
        tmp_path, servers, listeners=f"http://127.0.0.1:{taken}"
    )
    cluster.create_topic("kept-for-a-week")
    said = refusal(tmp_path, servers, offset_storage_topic="kept-for-a-week")
    assert "cleanup.policy=delete" in said
    assert "moldau topics alter kept-for-a-week" in said
    cluster.create_topic("of-many-parts", partitions=3)
    assert "has 3 partitions" in refusal(tmp_path, servers, config_storage_topic="of-many-parts")


def test_a_broker_that_restarts(tmp_path: Path) -> None:
    """The worker says so meanwhile, and goes on by itself."""
    settings = {"plugin.path": str(TESTS), "worker.write.timeout.ms": "3000"}
    brokers = {"group.initial.rebalance.delay.ms": "0"}
    with (
        MoldauBroker(tmp_path / "broker", brokers) as broker,
        ConnectProcess(tmp_path / "worker", broker.bootstrap, settings) as worker,
    ):
        client, config = worker.client, {"connector.class": IDLE_SOURCE, "colour": "red"}
        client.create("before", config)
        client.wait_states("before", "RUNNING", [])
        broker.stop()
        try:
            client.create("meanwhile", config)
        except Refused as refused:
            assert refused.status == 500
            assert refused.message.startswith("Request failed: ")
        else:
            raise AssertionError("without a broker nothing can be created")
        assert client.of("before", "/config")["colour"] == "red"
        broker.start()

        def is_created() -> bool:
            try:
                client.of("after", "/config", "PUT", config)
            except Refused as refused:
                assert refused.status == 500
                return False
            return True

        wait_until(is_created, "the worker writes again", PATIENCE_S)
        client.wait_states("after", "RUNNING", [])
        client.wait_states("before", "RUNNING", [])
    assert "Traceback" not in worker.log_path.read_text()
