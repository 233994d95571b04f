"""One broker as a whole: opens its data, starts its parts in order and stops them in reverse. Owns lifetimes."""

import asyncio
from collections.abc import Callable
from typing import Final

from moldau.broker.parts import Broker
from moldau.broker.session import ClientConnection, ClientSession
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener, broker_listeners
from moldau.core.settings.resolve import BrokerLayers
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners
from moldau.node.assembly import assemble
from moldau.node.compaction import Compaction
from moldau.node.housekeeping import Housekeeping
from moldau.node.loop_scheduler import LoopScheduler
from moldau.node.opening import OpenedData, open_data
from moldau.node.os_clock import OsClock
from moldau.node.stall_watch import StallWatch

FILE_WORKERS: Final = 4


class BrokerNode:
    """One broker. `start` returns when it serves, `stop` when nothing of it is left."""

    def __init__(
        self,
        layers: BrokerLayers,
        *,
        clock: Clock | None = None,
        session: Callable[[Broker, ClientConnection], ClientSession] = ClientSession,
    ) -> None:
        """`clock` and `session` may be others where the passing of time or a client's luck is to be arranged."""
        self._layers = layers
        self._clock = clock or OsClock()
        self._session = session
        self._settings = layers.settings()
        self._listeners: tuple[Listener, ...] = broker_listeners(self._settings)
        self._bound: list[Endpoint] = []
        self._data: OpenedData | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._files = LoopScheduler(loop, name="files", workers_max=FILE_WORKERS)
        self._store_thread = LoopScheduler(loop, name="store", workers_max=1)
        clock = self._clock
        try:
            data = self._data = await self._files.run_in_worker(lambda: open_data(self._layers, clock))
            broker = assemble(self._layers, data, clock, self._files, self._store_thread)
            coordinators = (broker.groups.shards, broker.transactions.shards)
            for shards in coordinators:
                await self._files.run_in_worker(shards.load)
            for shards in coordinators:
                shards.start()
            self._net = Listeners(
                loop,
                lambda: _limits(broker.configs.broker),
                lambda connection: self._session(broker, connection),
                backlog=self._settings.socket_listen_backlog_size,
            )
            self._stalls = StallWatch(loop)
            for listener in self._listeners:
                endpoint = Endpoint(listener.name, listener.host, listener.port)
                self._bound.append(self._net.listen(endpoint))
        except BaseException:
            await self._abandon()
            raise
        Housekeeping(broker).start()
        self._compaction = Compaction(broker)
        self._compaction.start()
        self.broker = broker

    async def stop(self, *, clean: bool = True) -> None:
        """Clean: the next start needs no recovery. Otherwise the files stay as a killed process leaves them."""
        self._stalls.stop()
        self.broker.groups.shards.stop()
        self.broker.transactions.shards.stop()
        self._net.close()
        self._compaction.cancel()
        if clean:
            await self.broker.flusher.close()
        await self._files.close()
        await self._store_thread.close()
        assert self._data is not None
        await asyncio.to_thread(self._data.close, clean=clean)

    @property
    def endpoints(self) -> list[str]:
        """What it listens on, in the form of the `listeners` setting."""
        return [f"{each.name}://{_bracketed(each.host)}:{each.port}" for each in self._bound]

    @property
    def port(self) -> int:
        """Of the first listener: the real one where 0 was asked for."""
        return self._bound[0].port

    async def _abandon(self) -> None:
        await self._files.close()
        await self._store_thread.close()
        if self._data is not None:
            self._data.close(clean=True)
        if self._bound:
            self._net.close()
            self._stalls.stop()


def _limits(settings: BrokerSettings) -> ConnectionLimits:
    return ConnectionLimits(
        request_bytes_max=settings.socket_request_max_bytes,
        idle_ms_max=settings.connections_max_idle_ms,
        connections_max=settings.max_connections,
        connections_per_ip_max=settings.max_connections_per_ip,
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104
