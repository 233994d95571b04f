"""Fixtures for tests that need a broker: one for the session, and a new topic for each test.

pytest imports this module in every environment that has Moldau, whether or not its tests need a broker. So nothing
else of Moldau is imported until a fixture asks for it.
"""

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_kafka import FakeKafka
    from moldau.testing.faults import Faults
    from moldau.testing.local_cluster import LocalCluster

SETTINGS_OPTION: Final = "moldau_settings"
TOPIC_MARKER: Final = "moldau_topic"
TEST_NAME_LENGTH_MAX: Final = 200
"""How much of the test's name goes into a topic's name, which may have 249 characters."""
_NOT_IN_TOPIC_NAMES: Final = re.compile(r"[^a-zA-Z0-9._-]+")

_topic_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        SETTINGS_OPTION,
        "settings of the broker behind moldau_cluster: Kafka's keys, one key=value per line",
        type="linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{TOPIC_MARKER}(partitions=..., configs=...): the topic that the moldau_topic fixture creates",
    )


@pytest.fixture(scope="session")
def moldau_settings(pytestconfig: pytest.Config) -> dict[str, str]:
    """The broker's settings. Override this fixture, with session scope, when the configuration file is not enough."""
    settings = {}
    for line in pytestconfig.getini(SETTINGS_OPTION):
        key, separator, value = line.partition("=")
        if not separator:
            raise pytest.UsageError(f"{SETTINGS_OPTION}: {line!r} does not have the form key=value")
        settings[key.strip()] = value.strip()
    return settings


@pytest.fixture(scope="session")
def moldau_cluster(moldau_settings: dict[str, str]) -> "Iterator[LocalCluster]":
    """A broker that serves the whole session."""
    from moldau.testing.local_cluster import LocalCluster

    with LocalCluster(settings=moldau_settings) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def moldau_bootstrap(moldau_cluster: "LocalCluster") -> str:
    """The value for a client's `bootstrap.servers`."""
    return moldau_cluster.bootstrap_servers


@pytest.fixture(scope="session")
def moldau_registry_url(moldau_bootstrap: str) -> Iterator[str]:
    """The address of a schema registry on that broker, for the whole session."""
    from moldau.testing.local_registry import LocalRegistry

    with LocalRegistry(moldau_bootstrap) as registry:
        yield registry.url


@pytest.fixture
def moldau_topic(moldau_cluster: "LocalCluster", request: pytest.FixtureRequest) -> str:
    """The name of a new, empty topic, derived from the name of the test."""
    test = _NOT_IN_TOPIC_NAMES.sub("-", request.node.name)[:TEST_NAME_LENGTH_MAX].strip("-")
    marker = request.node.get_closest_marker(TOPIC_MARKER)
    return moldau_cluster.create_topic(f"{test}-{next(_topic_numbers)}", **(marker.kwargs if marker else {}))


@pytest.fixture
def moldau_faults(moldau_cluster: "LocalCluster") -> "Iterator[Faults]":
    """The cluster's faults. They are cleared when the test ends."""
    yield moldau_cluster.faults
    moldau_cluster.faults.clear()


@pytest.fixture
def moldau_fake_kafka() -> "FakeKafka":
    """A cluster without a broker, with clients that have confluent-kafka's interface."""
    from moldau.testing.fakes.fake_kafka import FakeKafka

    return FakeKafka()
