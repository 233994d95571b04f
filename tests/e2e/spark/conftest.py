"""One Spark session for all the tests of a process; brokers in processes of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.spark_session import session_of_tests

BROKER_SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    # Records of the tests are of 1970: retention must not find them too old.
    "log.retention.ms": "-1",
}


@pytest.fixture(scope="session", autouse=True)
def spark() -> None:
    session_of_tests()


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    """For tests that leave it alone; each uses topics and an application id of its own."""
    broker = MoldauBroker(tmp_path_factory.mktemp("broker"), BROKER_SETTINGS).start()
    yield broker
    broker.stop()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[MoldauBroker]:
    """For tests that kill it."""
    broker = MoldauBroker(tmp_path / "broker", BROKER_SETTINGS).start()
    yield broker
    broker.stop()


@pytest.fixture
def servers(shared_broker: MoldauBroker) -> str:
    return shared_broker.bootstrap


@pytest.fixture
def rounds() -> int:
    """How often the tests of exactly once kill something: a few, or as many as `make kills ROUNDS=60` says."""
    return int(os.environ.get("MOLDAU_KILL_ROUNDS", "3"))
