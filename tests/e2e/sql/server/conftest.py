"""A broker and a SQL server in the test's own process, and brokers of their own for tests with processes."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.sql.server.sql_process import SqlClient
from moldau.pipeline.sql.server.server import SqlServer
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.testing import LocalCluster

BROKER_SETTINGS = {
    # No other member will join.
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    # Records of the tests are of 1970: retention must not find them too old.
    "log.retention.ms": "-1",
}


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(registry=True) as cluster:
        yield cluster


class LocalServer:
    """A server in this process. It never starts Spark: another one hosts the queries, or there are none."""

    def __init__(self, cluster: LocalCluster, folder: Path, **settings: str) -> None:
        said = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "listeners": "http://127.0.0.1:0",
            "ksql.streams.state.dir": str(folder),
            "ksql.schema.registry.url": cluster.registry_url,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        overrides = [f"{name}={value}" for name, value in said.items()]
        self.server = SqlServer(read_configuration(overrides=overrides))
        self.client = SqlClient(f"http://127.0.0.1:{self.server.port}")

    def __enter__(self) -> "LocalServer":
        self.server.start_thread()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop_thread()


@pytest.fixture(scope="session")
def server(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    settings = {"ksql_service_id": "shared_", "ksql_server_command_response_timeout_ms": "500"}
    with LocalServer(cluster, tmp_path_factory.mktemp("state"), **settings) as server:
        yield server


@pytest.fixture
def client(server: LocalServer) -> SqlClient:
    return server.client


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path / "broker", BROKER_SETTINGS) as broker:
        yield broker


_numbers = itertools.count(1)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"THING{next(_numbers)}"


@pytest.fixture
def rounds() -> int:
    """How often a test kills something: a few times, or as often as `make kills ROUNDS=60` says."""
    return int(os.environ.get("MOLDAU_KILL_ROUNDS", "3"))
