"""A real ZooKeeper for tests, where Java and pyspark are there; otherwise a skip that says what is missing."""

from collections.abc import Iterator
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


def require_zookeeper() -> None:
    try:
        find_jars()
        find_java()
    except ConfigError as error:
        pytest.skip(str(error))


@contextmanager
def one_zookeeper(directory: Path) -> Iterator[ZooKeeperServer]:
    require_zookeeper()
    server = ZooKeeperServer(directory, free_ports(1)[0])
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def three_zookeepers(directory: Path) -> Iterator[list[ZooKeeperServer]]:
    require_zookeeper()
    servers = local_ensemble(directory, free_ports(3))
    start_all(servers)
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()
