"""Fixtures of the tests of groups and transactions.

`broker` is a broker of this folder's own, with settings that make rebalances and timeouts quick; `library` is each
client library with which members are opened.
"""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.apache_kafka import ApacheKafka
from compat.confluent_client import ConfluentClient
from compat.conftest import JAVA, KAFKA
from compat.groups.confluent_admin import ConfluentAdmin
from compat.groups.confluent_member import ConfluentLibrary
from compat.groups.java_admin import JavaAdmin
from compat.groups.java_member import JavaLibrary
from compat.groups.java_pipe import JavaPipe
from compat.groups.member import CLASSIC, CONSUMER, Library, Member
from compat.groups.transactional import ConfluentTransactional, JavaTransactional, Transactional
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

BROKER_SETTINGS = {
    # Long enough for members opened one after the other to meet in the first generation.
    "group.initial.rebalance.delay.ms": "500",
    "group.min.session.timeout.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "500",
    "group.consumer.session.timeout.ms": "10000",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}

JAVA_CONSUMER = pytest.param("java, consumer protocol", marks=pytest.mark.java)
BOTH_PROTOCOLS = [
    "confluent",
    JAVA,
    "confluent, consumer protocol",
    JAVA_CONSUMER,
]
"""For `library_of`, of tests that hold whichever protocol the members speak."""

OpenMember = Callable[..., Member]
OpenTransactional = Callable[..., Transactional]

_serial = itertools.count()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lone_broker" in metafunc.fixturenames:
        against = ["moldau", KAFKA] if metafunc.config.getoption("--against-kafka") else ["moldau"]
        metafunc.parametrize("lone_broker", against, indirect=True)


@pytest.fixture
def lone_settings() -> dict[str, str]:
    """More settings of the `lone_broker`."""
    return {}


@pytest.fixture
def lone_broker(
    request: pytest.FixtureRequest, tmp_path: Path, lone_settings: dict[str, str]
) -> Iterator[ServerProcess]:
    """One that a test may kill."""
    kind = ApacheKafka if request.param == "kafka" else MoldauBroker
    try:
        server = kind(tmp_path / "lone", BROKER_SETTINGS | lone_settings)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield server
        if request.param == "moldau":
            assert "Traceback" not in server.log_path.read_text(), server.log_path.read_text()[-4000:]


@pytest.fixture(scope="session")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    if request.param == "kafka":
        yield request.getfixturevalue("kafka")
        return
    with MoldauBroker(tmp_path_factory.mktemp("moldau"), BROKER_SETTINGS) as moldau:
        yield moldau
        assert "Traceback" not in moldau.log_text(), moldau.log_text()[-4000:]


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    try:
        server = ApacheKafka(tmp_path_factory.mktemp("kafka"), BROKER_SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield server


@pytest.fixture(scope="session")
def java_pipe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaPipe]:
    try:
        pipe = JavaPipe(tmp_path_factory.mktemp("java") / "driver.log")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    yield pipe
    pipe.close()


@pytest.fixture
def java_admin(broker: ServerProcess, java_pipe: JavaPipe) -> JavaAdmin:
    return JavaAdmin(java_pipe, broker.bootstrap)


@pytest.fixture(params=["confluent", JAVA])
def admin(request: pytest.FixtureRequest, broker: ServerProcess) -> ConfluentAdmin | JavaAdmin:
    if request.param == "java":
        return JavaAdmin(request.getfixturevalue("java_pipe"), broker.bootstrap)
    return ConfluentAdmin(broker.bootstrap)


@pytest.fixture(params=["confluent", JAVA])
def library_of(request: pytest.FixtureRequest) -> Callable[[ServerProcess], Library]:
    """Opens members at the broker it is given."""
    name, _, new = request.param.partition(", ")
    protocol = CONSUMER if new else CLASSIC
    if name == "java":
        pipe = request.getfixturevalue("java_pipe")
        return lambda server: JavaLibrary(pipe, server.bootstrap, protocol)
    return lambda server: ConfluentLibrary(server.bootstrap, protocol)


@pytest.fixture
def library(library_of: Callable[[ServerProcess], Library], broker: ServerProcess) -> Library:
    return library_of(broker)


@pytest.fixture
def group(topic: str) -> str:
    """A name no other test uses."""
    return f"group-of-{topic}"


@pytest.fixture
def open_member(library: Library, topic: str, group: str) -> Iterator[OpenMember]:
    """Opens members of the test's group on the test's topic, unless told otherwise; all leave in the end."""
    with contextlib.ExitStack() as stack:

        def open_one(
            name: str, *, of: str = group, topics: list[str] | None = None, **settings: str
        ) -> Member:
            """Settings are written with underscores for dots."""
            dotted = {key.replace("_", "."): value for key, value in settings.items()}
            member = library.open(name, of, topics or [topic], dotted)
            stack.callback(member.leave)
            return member

        yield open_one


@pytest.fixture
def open_transactional(
    library: Library, broker: ServerProcess, request: pytest.FixtureRequest
) -> Iterator[OpenTransactional]:
    """Opens transactional producers with the library that members are opened with."""
    with contextlib.ExitStack() as stack:

        def open_one(transactional_id: str, **settings: str) -> Transactional:
            """Settings are written with underscores for dots."""
            dotted = {key.replace("_", "."): value for key, value in settings.items()}
            producer: Transactional
            if library.name == "java":
                pipe = request.getfixturevalue("java_pipe")
                producer = JavaTransactional(pipe, broker.bootstrap, transactional_id, dotted)
            else:
                producer = ConfluentTransactional(broker.bootstrap, transactional_id, dotted)
            stack.callback(producer.close)
            return producer

        yield open_one


@pytest.fixture
def two_topics(request: pytest.FixtureRequest, confluent: ConfluentClient) -> tuple[str, str]:
    """A and B of the slides: two partitions each, and their names sort so."""
    stem = f"{re.sub(r'[^a-z0-9]+', '-', request.node.name.lower()).strip('-')}.{next(_serial)}"
    names = (f"{stem}.a", f"{stem}.b")
    for name in names:
        confluent.create_topic(name, 2)
    return names
