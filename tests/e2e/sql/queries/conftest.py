"""One broker for all tests of queries; each test has its own host and its own topics."""

from collections.abc import Iterator

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.sql.queries.world import World


@pytest.fixture(scope="package")
def queried_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    broker = MoldauBroker(tmp_path_factory.mktemp("queried"), {"auto.create.topics.enable": "false"}).start()
    try:
        yield broker
    finally:
        assert broker.stop() == 0
    assert "Traceback" not in broker.log_text()


@pytest.fixture
def world(queried_broker: MoldauBroker) -> Iterator[World]:
    found = World(queried_broker.bootstrap)
    try:
        yield found
    finally:
        found.close()
