"""A cluster for the tests of a module, and a bare connection to it."""

from collections.abc import Iterator

import pytest

from e2e.wire import WireClient
from moldau.testing import LocalCluster


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: LocalCluster) -> Iterator[LocalCluster]:
    yield shared_cluster
    shared_cluster.faults.clear()


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[WireClient]:
    with WireClient(port_of(cluster)) as client:
        yield client


def port_of(cluster: LocalCluster) -> int:
    return int(cluster.bootstrap_servers.rpartition(":")[2])
