"""Fixtures of the compatibility tests.

`broker` is Moldau, and Apache Kafka besides when asked with --against-kafka; `client` is each foreign client,
`admin_client` each that has an admin interface.
"""

import itertools
import re
from collections.abc import Callable, Iterator

import pytest

from compat.apache_kafka import ApacheKafka
from compat.client import AdminClient, Client, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kcat_client import KcatClient, KcatMissing
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

KAFKA = pytest.param("kafka", marks=pytest.mark.java)
JAVA = pytest.param("java", marks=pytest.mark.java)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker" in metafunc.fixturenames:
        against = ["moldau", KAFKA] if metafunc.config.getoption("--against-kafka") else ["moldau"]
        metafunc.parametrize("broker", against, indirect=True, scope="session")


@pytest.fixture(scope="session")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    if request.param == "kafka":
        yield request.getfixturevalue("kafka")
        return
    with MoldauBroker(tmp_path_factory.mktemp("moldau")) as moldau:
        yield moldau


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """The oracle."""
    try:
        server = ApacheKafka(tmp_path_factory.mktemp("kafka"))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield server


@pytest.fixture(scope="session")
def java_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaDriver]:
    try:
        driver = JavaDriver(tmp_path_factory.mktemp("java") / "driver.log")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    yield driver
    driver.close()


@pytest.fixture
def java(broker: ServerProcess, java_driver: JavaDriver) -> JavaClient:
    return JavaClient(java_driver, broker.bootstrap)


@pytest.fixture
def kcat(broker: ServerProcess) -> KcatClient:
    try:
        return KcatClient(broker.bootstrap)
    except KcatMissing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def confluent(broker: ServerProcess) -> ConfluentClient:
    return ConfluentClient(broker.bootstrap)


@pytest.fixture(params=["confluent", "kcat", JAVA])
def client(request: pytest.FixtureRequest, broker: ServerProcess) -> Client:
    chosen: Client = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture(params=["confluent", JAVA])
def admin_client(request: pytest.FixtureRequest, broker: ServerProcess) -> AdminClient:
    chosen: AdminClient = request.getfixturevalue(request.param)
    return chosen


_serial = itertools.count()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name no other test uses; the topic does not exist yet."""
    return f"{re.sub(r'[^a-z0-9]+', '-', request.node.name.lower()).strip('-')}.{next(_serial)}"


@pytest.fixture
def new_topic(topic: str, confluent: ConfluentClient) -> Callable[..., str]:
    """Makes the test's topic, for tests that are about something else than making it."""

    def make(partitions: int = 1, **configs: str) -> str:
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        confluent.create_topic(topic, partitions, dotted)
        wait_for_topic(confluent, topic, partitions)
        return topic

    return make
