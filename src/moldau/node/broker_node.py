"""One broker: opens its data, starts its parts in order and stops them in reverse order. Owns their lifetimes."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from moldau.broker.broker import Broker
from moldau.broker.request.client_session import ClientConnection, ClientSession
from moldau.coordination.store import Store
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener, broker_listeners
from moldau.core.settings.quorum_notice import quorum_notice
from moldau.core.settings.resolve import BrokerLayers
from moldau.net.listener import Endpoint, Listeners
from moldau.node.assembly import assemble
from moldau.node.broker_id import with_broker_id
from moldau.node.compaction import Compaction
from moldau.node.connection_limits import BrokerConnectionLimits, check_overrides
from moldau.node.housekeeping import Housekeeping
from moldau.node.loop_scheduler import LoopScheduler
from moldau.node.opening import OpenedData, open_data
from moldau.node.os_clock import OsClock
from moldau.node.settings_report import settings_report
from moldau.node.stall_watch import StallWatch
from moldau.node.tls_identities import TlsIdentities
from moldau.storage.os_files import OsFiles

if TYPE_CHECKING:
    from moldau.node.cluster_connection import ClusterConnection

_log = logging.getLogger("moldau.node")

FILE_WORKERS: Final = 4
LOGIN_WORKERS: Final = 2


class BrokerNode:
    """One broker. `start` returns when it serves, `stop` when all its parts have ended."""

    def __init__(
        self,
        layers: BrokerLayers,
        *,
        clock: Clock | None = None,
        session: Callable[[Broker, ClientConnection], ClientSession] = ClientSession,
        cluster_store: Callable[[], Store] | None = None,
    ) -> None:
        """Tests replace `clock` and `session` to control time and connections. `cluster_store` opens the store that the
        brokers of a cluster share, in place of `zookeeper.connect`."""
        self._layers = layers
        self._clock = clock or OsClock()
        self._session = session
        self._settings = layers.settings()
        self._open_store = cluster_store or _zookeeper_store(self._settings)
        self._listeners: tuple[Listener, ...] = broker_listeners(self._settings)
        self._identities = TlsIdentities(self._listeners)
        self._bound: list[Endpoint] = []
        self._data: OpenedData | None = None
        self._cluster: ClusterConnection | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._files = LoopScheduler(loop, name="files", workers_max=FILE_WORKERS)
        self._store_thread = LoopScheduler(loop, name="store", workers_max=1)
        self._login_threads = LoopScheduler(loop, name="logins", workers_max=LOGIN_WORKERS)
        try:
            broker = await self._open(loop)
            _log.info("broker %d: %s", broker.broker_id, settings_report(broker.configs.layers))
            if notice := quorum_notice(self._layers):
                _log.warning("%s", notice)
            self._check_logins(broker)
            broker.security.watch(loop.call_soon_threadsafe)
            broker.tokens.watch(loop.call_soon_threadsafe)
            await self._files.run_in_worker(lambda: check_overrides(broker.configs.broker))
            broker.configs.check_broker = check_overrides
            await self._files.run_in_worker(lambda: self._identities.load(broker.configs.broker))
            coordinators = (broker.groups.shards, broker.transactions.shards)
            for shards in coordinators:
                await self._files.run_in_worker(shards.load)
            for shards in coordinators:
                shards.start()
            limits = BrokerConnectionLimits(
                lambda: broker.configs.broker, broker.security, broker.clock.monotonic_ms
            )
            self._net = Listeners(
                loop,
                limits.current,
                lambda connection: self._session(broker, connection),
                backlog=self._settings.socket_listen_backlog_size,
                send_buffer_bytes=self._settings.socket_send_buffer_bytes,
                identities=self._identities.by_listener,
                rates=limits,
            )
            self._stalls = StallWatch(loop)
            if self._cluster is not None:
                await self._cluster.join(broker, self._listen)
            else:
                self._listen()
        except BaseException:
            await self._abandon()
            raise
        Housekeeping(broker).start()
        self._identities.start(broker)
        self._check_changed_logins(broker)
        self._compaction = Compaction(broker)
        self._compaction.start()
        self.broker = broker

    def _check_logins(self, broker: Broker) -> None:
        """ConfigError if nobody could log in on a listener."""
        for listener in self._listeners:
            if listener.protocol.has_sasl:
                broker.logins.on(listener.name)

    def _check_changed_logins(self, broker: Broker) -> None:
        """The same before settings are changed."""
        names = [listener.name for listener in self._listeners if listener.protocol.has_sasl]
        check_others = broker.configs.check_broker

        def check(settings: BrokerSettings) -> None:
            check_others(settings)
            broker.logins.check(settings, names)

        if names:
            broker.configs.check_broker = check

    def _listen(self) -> list[Endpoint]:
        for listener in self._listeners:
            endpoint = Endpoint(listener.name, listener.host, listener.port, listener.protocol)
            self._bound.append(self._net.listen(endpoint))
        return self._bound

    async def _open(self, loop: asyncio.AbstractEventLoop) -> Broker:
        clock, open_store = self._clock, self._open_store
        if open_store is None:
            data = self._data = await self._files.run_in_worker(lambda: open_data(self._layers, clock))
            return assemble(
                self._layers,
                data,
                clock,
                self._files,
                self._store_thread,
                login_threads=self._login_threads,
            )
        from moldau.node.cluster_connection import (
            ClusterConnection,
        )  # A broker that stands alone does not load it.

        store = await self._store_thread.run_in_worker(open_store)
        try:
            number = partial(with_broker_id, self._layers, store, OsFiles())
            self._layers = await self._store_thread.run_in_worker(number)
        except BaseException:
            store.close()
            raise
        self._settings = self._layers.settings()
        self._cluster = ClusterConnection(
            loop,
            self._settings,
            self._listeners,
            store,
            self._files,
            self._store_thread,
            self._identities,
        )
        data = self._data = await self._files.run_in_worker(
            lambda: open_data(self._layers, clock, cluster_store=store)
        )
        return assemble(
            self._layers,
            data,
            clock,
            self._files,
            self._store_thread,
            self._cluster.parts,
            self._login_threads,
        )

    async def stop(self, *, clean: bool = True) -> None:
        """After a clean stop the next start needs no recovery. Otherwise the files stay as a killed process leaves
        them."""
        if self.broker.audit is not None and clean:
            await self.broker.audit.close()
        if self._cluster is not None:
            await self._cluster.leave(clean=clean)
        self._stalls.stop()
        self.broker.security.close()
        self.broker.groups.shards.stop()
        self.broker.transactions.shards.stop()
        self._net.close()
        self._compaction.cancel()
        if clean:
            await self.broker.flusher.close()
        await self._files.close()
        await self._store_thread.close()
        await self._login_threads.close()
        assert self._data is not None
        await asyncio.to_thread(self._data.close, clean=clean)

    def cut_off(self) -> None:
        """Cuts all network connections of this broker until `reopen`. For tests of network partitions."""
        self._net.suspend()
        if self._cluster is not None:
            self._cluster.cut_off()

    def reopen(self) -> None:
        for endpoint in self._bound:
            self._net.listen(endpoint)
        if self._cluster is not None:
            self._cluster.reopen()

    @property
    def endpoints(self) -> list[str]:
        """The bound listeners, in the form of the `listeners` setting."""
        return [f"{each.name}://{_bracketed(each.host)}:{each.port}" for each in self._bound]

    @property
    def port(self) -> int:
        """The bound port of the first listener, also if port 0 was configured."""
        return self._bound[0].port

    async def _abandon(self) -> None:
        await self._files.close()
        await self._store_thread.close()
        await self._login_threads.close()
        if self._data is not None:
            self._data.close(clean=True)
        elif self._cluster is not None:
            self._cluster.store.close()
        if self._bound:
            self._net.close()
            self._stalls.stop()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104


def _zookeeper_store(settings: BrokerSettings) -> Callable[[], Store] | None:
    """Opens the store of `zookeeper.connect`, blocking; None if that is not set."""
    connect = settings.zookeeper_connect
    if not connect:
        return None

    def open_store() -> Store:
        from moldau.coordination.zookeeper import ZooKeeperStore
        from moldau.node.zookeeper_access import zookeeper_protection

        return ZooKeeperStore(
            connect,
            session_timeout_ms=settings.zookeeper_session_timeout_ms,
            connection_timeout_ms=settings.zookeeper_connection_timeout_ms,
            protection=zookeeper_protection(settings),
        )

    return open_store
