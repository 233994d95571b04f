"""A registry on Moldau, and on Apache Kafka besides when asked with --against-kafka; clients of Confluent's for it."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from compat.server_process import ServerProcess
from moldau.testing import LocalRegistry


class Platform(NamedTuple):
    bootstrap: str
    url: str


@pytest.fixture(scope="session")
def platform(broker: ServerProcess) -> Iterator[Platform]:
    with LocalRegistry(broker.bootstrap) as registry:
        yield Platform(broker.bootstrap, registry.url)


@pytest.fixture
def registry(platform: Platform) -> Iterator[SchemaRegistryClient]:
    client = SchemaRegistryClient({"url": platform.url})
    yield client
    client.close()


_numbers = itertools.count(1)


@pytest.fixture
def name() -> str:
    """A name for a topic, a record or a subject that no other test uses."""
    return f"Purchase{next(_numbers)}"
