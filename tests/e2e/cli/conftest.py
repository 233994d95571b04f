"""Fixtures of the command line's tests: one broker for all of them, and a shell that knows its address.

The commands talk Kafka's protocol only, so the same tests hold against Apache Kafka (--against-kafka).
"""

import itertools
import os
from collections.abc import Iterator

import pytest

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import Shell
from kafka_jars import KafkaJarsUnavailable

# Nobody else is about to join.
BROKER_SETTINGS = {"group.initial.rebalance.delay.ms": "0"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker_class" in metafunc.fixturenames:
        kafka = pytest.param(ApacheKafka, id="kafka", marks=pytest.mark.java)
        moldau = pytest.param(MoldauBroker, id="moldau")
        against = [moldau, kafka] if metafunc.config.getoption("--against-kafka") else [moldau]
        metafunc.parametrize("broker_class", against, scope="session")


@pytest.fixture(scope="session")
def bootstrap(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    try:
        server = broker_class(tmp_path_factory.mktemp("broker"), BROKER_SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield server.bootstrap


@pytest.fixture
def shell(bootstrap: str) -> Shell:
    return Shell(bootstrap)


_serial = itertools.count()


@pytest.fixture
def topic() -> str:
    """A name no other test uses."""
    return f"cli-{os.getpid()}-{next(_serial)}"


@pytest.fixture
def orders(shell: Shell, topic: str) -> str:
    """A topic of one partition that keeps records however old their timestamps are."""
    shell.run("topics", "create", topic, "--partitions", "1", "--config", "retention.ms=-1")
    return topic
