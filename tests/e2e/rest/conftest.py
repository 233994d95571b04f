"""A broker, a registry and a proxy for all tests of this folder. They end with them: others count threads."""

from collections.abc import Iterator

import pytest

from e2e.rest.rest_client import LocalProxy, RestClient
from moldau.testing import LocalCluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(registry=True) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def rest(cluster: LocalCluster) -> Iterator[RestClient]:
    with LocalProxy(cluster.bootstrap_servers, cluster.registry_url) as client:
        yield client
