"""One broker of a local cluster: its port and directory, which survive restarts, and its thread, which does not."""

import socket
from collections.abc import Mapping
from typing import Final

from moldau.coordination.memory import MemoryStore, MemoryTree
from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_node import BrokerNode
from moldau.testing.broker_thread import BrokerThread
from moldau.testing.faults import Faults
from moldau.testing.faulty_session import FaultySession
from moldau.testing.moved_clock import MovedClock

HOST: Final = "127.0.0.1"


class LocalBroker:
    def __init__(
        self,
        settings: Mapping[str, str],
        directory: str,
        clock: MovedClock,
        faults: Faults,
        tree: MemoryTree | None = None,
        listener: str = "PLAINTEXT",
    ) -> None:
        """`tree` is shared by the brokers of a cluster; a single broker has none. `listener` is the name of its
        listener, and its security protocol."""
        self._settings = settings
        self._clock = clock
        self._faults = faults
        self._directory = directory
        self._tree = tree
        self._listener = listener
        self._store: MemoryStore | None = None
        self._port = _reserve_port()
        self._thread: BrokerThread | None = None
        self.is_heard = True
        """Neither paused nor isolated."""

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port.getsockname()[1]}"

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    @property
    def thread(self) -> BrokerThread:
        if self._thread is None:
            raise RuntimeError("the broker is not running: start it, or restart it after a kill")
        return self._thread

    def start(self) -> None:
        self.is_heard = True
        self._thread = BrokerThread(self._make_node, self._clock)

    def end(self, *, clean: bool) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop(clean=clean)

    def pause(self) -> None:
        self.is_heard = False
        self.thread.pause()
        if self._store is not None:
            self._store.expire()

    def resume(self) -> None:
        self.is_heard = True
        self.thread.resume()
        if self._store is not None:
            self._store.reconnect()

    def isolate(self) -> None:
        """Isolates the broker from clients, from the other brokers and from the coordination store, whose session
        ends."""
        self.is_heard = False
        self.thread.call_now(self.thread.node.cut_off)
        if self._store is not None:
            self._store.expire()

    def rejoin(self) -> None:
        self.is_heard = True
        self.thread.call_now(self.thread.node.reopen)
        if self._store is not None:
            self._store.reconnect()

    def release(self) -> None:
        self._port.close()

    def _make_node(self) -> BrokerNode:
        settings = {
            "listeners": f"{self._listener}://{self.address}",
            "log.dirs": self._directory,
            **self._settings,
        }
        layers = static_layer(overrides=[f"{key}={value}" for key, value in settings.items()])
        return BrokerNode(
            layers,
            clock=self._clock,
            session=lambda broker, connection: FaultySession(broker, connection, self._faults),
            cluster_store=None if self._tree is None else self._connect,
        )

    def _connect(self) -> MemoryStore:
        assert self._tree is not None
        self._store = self._tree.connect()
        return self._store


def _reserve_port() -> socket.socket:
    """A bound socket that never listens. It keeps the port for this broker; while the broker is down, clients are
    refused."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind((HOST, 0))
    return reserved
