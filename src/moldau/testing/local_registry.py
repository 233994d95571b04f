"""A real schema registry inside the test's own process, on a free port, for any Kafka cluster.

with LocalRegistry(cluster.bootstrap_servers) as registry:
    client = SchemaRegistryClient({"url": registry.url})
"""

import logging
from collections.abc import Mapping
from typing import Final, Self

from moldau.registry.server import RegistryServer
from moldau.registry.settings import Configuration

HOST: Final = "127.0.0.1"
TEST_SETTINGS: Final[Mapping[str, str]] = {
    "listeners": f"http://{HOST}:0",
    # The shortest a broker allows, so that a killed primary is replaced soon.
    "kafkagroup.session.timeout.ms": "6000",
    "kafkagroup.heartbeat.interval.ms": "500",
}

logging.getLogger("moldau").addHandler(logging.NullHandler())


class LocalRegistry:
    """Runs from its creation until `stop`. `settings` are Confluent's keys."""

    def __init__(self, bootstrap_servers: str, settings: Mapping[str, str] | None = None) -> None:
        self._server = RegistryServer(
            Configuration(
                {"kafkastore.bootstrap.servers": bootstrap_servers, **TEST_SETTINGS, **(settings or {})}
            )
        )
        self._server.start_thread()
        self._is_running = True

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def is_primary(self) -> bool:
        return self._server.registry.is_primary

    def stop(self) -> None:
        """A second call does nothing."""
        if self._is_running:
            self._is_running = False
            self._server.stop_thread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
