"""A real ZooKeeper for tests, where Java and pyspark are there; otherwise a skip that says what is missing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.coordination.zookeeper_server import (
    ZooKeeperServer,
    find_jars,
    find_java,
    free_ports,
    local_ensemble,
    start_all,
)
from moldau.core.errors import ConfigError

PORT_TRIES_MAX = 3


def require_zookeeper() -> None:
    try:
        find_jars()
        find_java()
    except ConfigError as error:
        pytest.skip(str(error))


@contextmanager
def one_zookeeper(
    directory: Path, *, settings: Mapping[str, str] | None = None, java_options: Sequence[str] = ()
) -> Iterator[ZooKeeperServer]:
    require_zookeeper()

    def make(attempt: int) -> list[ZooKeeperServer]:
        server = ZooKeeperServer(
            directory / str(attempt), free_ports(1)[0], settings=settings or {}, java_options=java_options
        )
        return [server]

    [server] = started(make)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def three_zookeepers(directory: Path) -> Iterator[list[ZooKeeperServer]]:
    require_zookeeper()
    servers = started(lambda attempt: local_ensemble(directory / str(attempt), free_ports(3)))
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()


def started(make: Callable[[int], list[ZooKeeperServer]]) -> list[ZooKeeperServer]:
    """Another process may have taken a port that was free a moment ago: then with others."""
    for attempt in range(PORT_TRIES_MAX):
        servers = make(attempt)
        try:
            start_all(servers)
        except ConfigError:
            if attempt + 1 == PORT_TRIES_MAX:
                raise
        else:
            return servers
    raise AssertionError("not reached")
