"""A real broker inside the test's own process: a free port, a temporary directory, gone at the end.

    with LocalCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

The broker runs on a thread with its own event loop, so synchronous and asynchronous tests use it alike.
"""

import asyncio
import logging
import socket
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Self

from moldau.broker.topic_rules import NewTopic
from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_node import BrokerNode
from moldau.testing.broker_thread import BrokerThread
from moldau.testing.faults import Faults
from moldau.testing.faulty_session import FaultySession
from moldau.testing.moved_clock import MovedClock

if TYPE_CHECKING:
    from moldau.testing.local_registry import LocalRegistry

HOST: Final = "127.0.0.1"
TEST_SETTINGS: Final[Mapping[str, str]] = {
    # The first member of a group need not wait for others to come.
    "group.initial.rebalance.delay.ms": "0",
    # Clients that live by another clock have not been idle for as long as ours may say.
    "connections.max.idle.ms": str(2**63 - 1),
    # What a test's clock has made old is gone a second later.
    "log.retention.check.interval.ms": "1000",
    # Fifty logs each, made when a test first commits an offset, are forty-nine too many.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}

# What the broker says goes to whoever listens to the log, not to the terminal of somebody's tests.
logging.getLogger("moldau").addHandler(logging.NullHandler())


class LocalCluster:
    """`settings` are Kafka's keys as in server.properties; they go before `TEST_SETTINGS`.

    With a `data_directory` the cluster opens what is there, and leaves it there at the end. The address stays the
    same however often it is killed and restarted. With `registry` there is a schema registry, too; it comes and goes
    with the cluster, and lives through `kill` and `restart` as a registry elsewhere would.
    """

    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        data_directory: str | None = None,
        registry: bool = False,
    ) -> None:
        self.settings: Mapping[str, str] = {**TEST_SETTINGS, **(settings or {})}
        self._wants_registry = registry
        self._registry: LocalRegistry | None = None
        self.clock = MovedClock()
        self.faults = Faults()
        self._given_directory = data_directory
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._port: socket.socket | None = None
        self._broker: BrokerThread | None = None

    @property
    def bootstrap_servers(self) -> str:
        """What a client needs to know."""
        return f"{HOST}:{self._running.node.port}"

    @property
    def registry_url(self) -> str:
        """What a serializer takes for `schema.registry.url` or `url`."""
        if self._registry is None:
            raise RuntimeError("the cluster has no registry: start it as LocalCluster(registry=True)")
        return self._registry.url

    @property
    def data_directory(self) -> str:
        if self._given_directory is not None:
            return self._given_directory
        if self._temporary is None:
            raise RuntimeError("the cluster has no data directory until it is started")
        return self._temporary.name

    def start(self) -> Self:
        """Returns when clients are served. After `kill`, finds what the killed broker left."""
        if self._broker is not None:
            raise RuntimeError(f"the cluster runs already, on {self.bootstrap_servers}")
        if self._given_directory is None and self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="moldau-", ignore_cleanup_errors=True)
        self._port = self._port or _reserve_port()
        try:
            self._broker = BrokerThread(self._make_node, self.clock)
            if self._wants_registry and self._registry is None:
                self._registry = self._start_registry()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Takes everything down. A second call does nothing."""
        registry, self._registry = self._registry, None
        try:
            if registry is not None:
                registry.stop()
            # Nobody will open temporary data again: it is not worth the wait for a disk.
            self._end(clean=self._given_directory is not None)
        finally:
            self._release()

    def kill(self) -> None:
        """Ends the broker as `kill -9` would: connections break, nothing is flushed, no clean mark is left."""
        self._end(clean=False)

    def restart(self, *, clean: bool = True) -> None:
        """The same broker again, at the same address with the same data; not clean is after a `kill`."""
        self._end(clean=clean)
        self.start()

    def create_topic(
        self, name: str, *, partitions: int = -1, configs: Mapping[str, str] | None = None
    ) -> str:
        """The name. -1 partitions are as many as `num.partitions` says."""
        topics = self._running.node.broker.topics
        self._running.call(topics.create(NewTopic(name, partitions, configs=[*(configs or {}).items()])))
        return name

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def _running(self) -> BrokerThread:
        if self._broker is None:
            raise RuntimeError("the cluster is not running: call start(), or use it in a with statement")
        return self._broker

    def _make_node(self) -> BrokerNode:
        assert self._port is not None
        settings = {
            "listeners": f"PLAINTEXT://{HOST}:{self._port.getsockname()[1]}",
            "log.dirs": self.data_directory,
            **self.settings,
        }
        layers = static_layer(overrides=[f"{key}={value}" for key, value in settings.items()])
        return BrokerNode(
            layers,
            clock=self.clock,
            session=lambda broker, connection: FaultySession(broker, connection, self.faults),
        )

    def _start_registry(self) -> "LocalRegistry":
        # Not above: most tests need no registry, nor the HTTP server it brings.
        from moldau.testing.local_registry import LocalRegistry

        return LocalRegistry(self.bootstrap_servers)

    def _end(self, *, clean: bool) -> None:
        broker, self._broker = self._broker, None
        if broker is not None:
            broker.stop(clean=clean)

    def _release(self) -> None:
        if self._port is not None:
            self._port.close()
            self._port = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None


def _reserve_port() -> socket.socket:
    """A bound socket that never listens: while it is open nobody else is given its port, and a client that calls
    when the broker is down is refused."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind((HOST, 0))
    return reserved
