"""One Spark session and one broker for all the tests of a process."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.spark_session import session_of_tests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKER_SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "log.retention.ms": "-1",
    "auto.create.topics.enable": "false",
}


@pytest.fixture(scope="session")
def spark() -> "SparkSession":
    session = session_of_tests()
    import moldau.spark

    moldau.spark.register(session)
    return session


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    broker = MoldauBroker(tmp_path_factory.mktemp("broker"), BROKER_SETTINGS).start()
    yield broker.bootstrap
    broker.stop()


@pytest.fixture
def rounds() -> int:
    """How often the tests of exactly once kill something: a few, or as many as `make kills ROUNDS=60` says."""
    return int(os.environ.get("MOLDAU_KILL_ROUNDS", "3"))
