"""A registry in the test's own process, and a broker of its own for tests that kill registries."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from moldau.testing import LocalCluster

BROKER_SETTINGS = {
    # No other member will join.
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(registry=True) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def url(cluster: LocalCluster) -> str:
    return cluster.registry_url


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path / "broker", BROKER_SETTINGS) as broker:
        yield broker


_numbers = itertools.count(1)


@pytest.fixture
def subject() -> str:
    """A name that no other test uses."""
    return f"subject-{next(_numbers)}"
