"""A broker for all tests, and a worker in the test's own process that never starts Spark: its connectors are idle.

Both end with the tests of this package: others count the threads of their process.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.connect.server.connect_process import ConnectClient, topics_of
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.worker import ConnectWorker
from moldau.testing import LocalCluster

IDLE_SOURCE = "e2e.connect.server.idle_connectors:IdleSource"
IDLE_SINK = "e2e.connect.server.idle_connectors:IdleSink"


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


class LocalWorker:
    """A worker in this process."""

    def __init__(self, cluster: LocalCluster, folder: Path, **settings: str) -> None:
        said = {
            **topics_of(settings["group_id"]),
            "bootstrap.servers": cluster.bootstrap_servers,
            "listeners": "http://127.0.0.1:0",
            "state.dir": str(folder),
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "500",
            "connector.changes.interval.ms": "500",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        overrides = [f"{name}={value}" for name, value in said.items()]
        self.worker = ConnectWorker(read_configuration(overrides=overrides))
        self.client = ConnectClient(f"http://127.0.0.1:{self.worker.port}")
        self.secrets = folder / "secrets.properties"

    def __enter__(self) -> "LocalWorker":
        self.worker.start_thread()
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.stop_thread()


@pytest.fixture(scope="package")
def local(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalWorker]:
    folder = tmp_path_factory.mktemp("worker")
    secrets = folder / "secrets.properties"
    secrets.write_text("word=hush-hush\n")
    with LocalWorker(
        cluster,
        folder / "state",
        group_id="shared",
        config_providers="file",
        config_providers_file_class="org.apache.kafka.common.config.provider.FileConfigProvider",
        rest_max_request_bytes="100000",
    ) as worker:
        worker.secrets = secrets
        yield worker


@pytest.fixture
def client(local: LocalWorker) -> ConnectClient:
    return local.client


_numbers = itertools.count(1)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"thing-{next(_numbers)}"
