"""One Redis for the folder, emptied for each test, and tasks that end with the test."""

from collections.abc import Callable, Iterator

import pytest

from connect_kit import Reports
from e2e.connect.redis.redis_server import RedisServer, redis_server
from moldau.pipeline.connect.connectors.redis.sink import RedisSinkConnector, RedisSinkTask

Start = Callable[..., RedisSinkTask]


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as found:
        yield found


@pytest.fixture
def server(running: RedisServer) -> RedisServer:
    running.client.flushall()
    return running


@pytest.fixture
def reports() -> Reports:
    return Reports()


@pytest.fixture
def start(server: RedisServer, reports: Reports) -> Iterator[Start]:
    """Starts a task. Underscores in the names of settings are points."""
    tasks = []

    def started(**settings: str) -> RedisSinkTask:
        given = {name.replace("_", "."): value for name, value in settings.items()}
        connector = RedisSinkConnector()
        connector.start({"name": "cache", "redis.timeout": "60", **server.config, **given})
        made = RedisSinkTask()
        made.start(connector.task_configs(1)[0], reports)
        tasks.append(made)
        return made

    yield started
    for one in tasks:
        one.stop()
