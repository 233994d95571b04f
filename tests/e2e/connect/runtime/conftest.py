"""A broker and a driver process with Spark for all tests of the runtime: connectors are added and removed in it."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.moldau_broker import MoldauBroker
from e2e.connect.runtime.driver_kit import Driver, Reader

BROKER_SETTINGS = {
    # No other member will join.
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
_numbers = itertools.count(1)


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path_factory.mktemp("broker"), BROKER_SETTINGS) as broker:
        yield broker


@pytest.fixture(scope="package")
def servers(broker: MoldauBroker) -> str:
    return broker.bootstrap


@pytest.fixture(scope="package")
def driver(servers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    folder = tmp_path_factory.mktemp("driver")
    with Driver(folder, servers, Path(__file__).parent / "own_connectors") as driver:
        yield driver


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"flow{next(_numbers)}"


@pytest.fixture
def reader(servers: str, name: str) -> Iterator[Reader]:
    """Of the topic with the test's name."""
    reader = Reader(servers, name)
    yield reader
    reader.close()


@pytest.fixture
def producer(servers: str) -> Producer:
    return Producer({"bootstrap.servers": servers})


@pytest.fixture
def rounds() -> int:
    """How often a test kills something: twice, or as often as `make kills ROUNDS=60` says."""
    return int(os.environ.get("MOLDAU_KILL_ROUNDS", "2"))
