"""Fixtures of the compatibility tests.

`broker` is Moldau, and Apache Kafka besides when asked with --against-kafka; `client` is each foreign client,
`admin_client` each that has an admin interface.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.aiokafka_client import AiokafkaClient
from compat.apache_kafka import ApacheKafka
from compat.client import AdminClient, Client, Feature, codecs_of, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kafka_python_client import KafkaPythonClient
from compat.kcat_client import KcatClient, KcatMissing
from compat.moldau_broker import MoldauBroker
from compat.node_clients import KafkajsClient, NodePackagesMissing, PlatformaticClient, node_driver
from compat.piped_client import PipedDriver
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

KAFKA = pytest.param("kafka", marks=pytest.mark.java)
JAVA = pytest.param("java", marks=pytest.mark.java)


CLIENTS: dict[str, type[Client]] = {
    "confluent": ConfluentClient,
    "kcat": KcatClient,
    "java": JavaClient,
    "aiokafka": AiokafkaClient,
    "kafka_python": KafkaPythonClient,
    "kafkajs": KafkajsClient,
    "platformatic": PlatformaticClient,
}
"""By the name of the fixture that gives it."""

BROKER_SETTINGS = {
    # Some clients read as a group only, and nobody else is about to join it.
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*features): runs with the clients that can do all of it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker" in metafunc.fixturenames:
        against = ["moldau", KAFKA] if metafunc.config.getoption("--against-kafka") else ["moldau"]
        metafunc.parametrize("broker", against, indirect=True, scope="session")
    needed = {feature for mark in metafunc.definition.iter_markers("needs") for feature in mark.args}
    if "admin_client" in metafunc.fixturenames:
        metafunc.parametrize(
            "admin_client", [_parameter(name) for name in able({Feature.ADMIN, *needed})], indirect=True
        )
    elif {"client", "codec"} <= set(metafunc.fixturenames):
        pairs = [(name, codec) for name in able(needed) for codec in codecs_of(CLIENTS[name])]
        metafunc.parametrize("client,codec", [_parameter(*pair) for pair in pairs], indirect=["client"])
    elif "client" in metafunc.fixturenames:
        metafunc.parametrize("client", [_parameter(name) for name in able(needed)], indirect=True)


def able(needed: set[Feature]) -> list[str]:
    return [name for name, kind in CLIENTS.items() if not needed & kind.lacks]


def _parameter(name: str, *more: str) -> Any:
    return pytest.param(name, *more, marks=[pytest.mark.java] if name == "java" else [])


@pytest.fixture(scope="session")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    if request.param == "kafka":
        yield request.getfixturevalue("kafka")
        return
    with MoldauBroker(tmp_path_factory.mktemp("moldau"), BROKER_SETTINGS) as moldau:
        yield moldau


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """The oracle."""
    try:
        server = ApacheKafka(tmp_path_factory.mktemp("kafka"), BROKER_SETTINGS)
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


@pytest.fixture
def aiokafka(broker: ServerProcess) -> AiokafkaClient:
    return AiokafkaClient(broker.bootstrap)


@pytest.fixture
def kafka_python(broker: ServerProcess) -> KafkaPythonClient:
    return KafkaPythonClient(broker.bootstrap)


@pytest.fixture(scope="session")
def kafkajs_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipedDriver]:
    yield from _node_driver(KafkajsClient, tmp_path_factory)


@pytest.fixture
def kafkajs(broker: ServerProcess, kafkajs_driver: PipedDriver) -> KafkajsClient:
    return KafkajsClient(kafkajs_driver, broker.bootstrap)


@pytest.fixture(scope="session")
def platformatic_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipedDriver]:
    yield from _node_driver(PlatformaticClient, tmp_path_factory)


@pytest.fixture
def platformatic(broker: ServerProcess, platformatic_driver: PipedDriver) -> PlatformaticClient:
    return PlatformaticClient(platformatic_driver, broker.bootstrap)


def _node_driver(
    kind: type[KafkajsClient | PlatformaticClient], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PipedDriver]:
    try:
        driver = node_driver(kind, tmp_path_factory.mktemp(kind.name) / "driver.log")
    except NodePackagesMissing as reason:
        pytest.skip(str(reason))
    yield driver
    driver.close()


@pytest.fixture
def client(request: pytest.FixtureRequest, broker: ServerProcess) -> Client:
    """Each client in turn, or each that can do what the test `needs`."""
    chosen: Client = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def admin_client(request: pytest.FixtureRequest, broker: ServerProcess) -> AdminClient:
    """Each that has an admin interface and can do what the test `needs`."""
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
