"""A real broker inside the test's own process: a free port, a temporary directory, gone at the end.

    with LocalCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

The broker runs on a thread with its own event loop, so synchronous and asynchronous tests use it alike.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Mapping
from typing import Final, Self

from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_node import BrokerNode
from moldau.node.main import event_loop

START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 60.0
TEST_SETTINGS: Final = {"listeners": "PLAINTEXT://127.0.0.1:0"}


class LocalCluster:
    """`settings` are Kafka's keys as in server.properties. A given `data_directory` is kept."""

    def __init__(
        self, *, settings: Mapping[str, str] | None = None, data_directory: str | None = None
    ) -> None:
        self._settings = {**TEST_SETTINGS, **(settings or {})}
        self._given_directory = data_directory
        self._directory = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._node: BrokerNode | None = None
        self._port = 0

    @property
    def bootstrap_servers(self) -> str:
        """What a client needs to know."""
        assert self._node is not None, "the cluster is not running: use it as a context manager"
        return f"127.0.0.1:{self._port}"

    @property
    def data_directory(self) -> str:
        return self._directory

    def start(self) -> Self:
        assert self._thread is None, "the cluster is running already"
        self._directory = self._given_directory or tempfile.mkdtemp(prefix="moldau-")
        settings = {"log.dirs": self._directory, **self._settings}
        self._node = BrokerNode(static_layer(overrides=[f"{key}={value}" for key, value in settings.items()]))
        self._loop = event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="moldau-cluster", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._node.start(), self._loop).result(START_TIMEOUT_S)
        except BaseException:
            self._end_thread()
            raise
        self._port = self._node.port
        return self

    def stop(self) -> None:
        """Stops cleanly; a second call does nothing."""
        if self._thread is None or self._node is None or self._loop is None:
            return
        asyncio.run_coroutine_threadsafe(self._node.stop(), self._loop).result(STOP_TIMEOUT_S)
        self._end_thread()

    def _end_thread(self) -> None:
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_TIMEOUT_S)
        self._loop.close()
        self._loop = self._thread = self._node = None
        if self._given_directory is None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)
