"""The composition root: puts a broker's parts together, starts them in order and stops them in reverse.

Owns lifetimes, no state of its own. Everything is created here once and handed to whoever needs it.
"""

import asyncio
import logging
import secrets
from typing import Final

from moldau.broker.answer_cache import AnswerCache
from moldau.broker.api_table import ApiTable
from moldau.broker.configs import ConfigStore
from moldau.broker.disks import Disks
from moldau.broker.fetch_sessions import FetchSessions
from moldau.broker.flusher import Flusher
from moldau.broker.group_coordinator import GroupCoordinator
from moldau.broker.handlers import HANDLERS
from moldau.broker.internal_topics import InternalTopics
from moldau.broker.listeners import Address, AdvertisedListeners
from moldau.broker.log_host import HostedLogs
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import HostedPartitions
from moldau.broker.parts import Broker
from moldau.broker.producer_ids import ProducerIds
from moldau.broker.session import ClientSession
from moldau.broker.topic_admin import TopicAdmin
from moldau.core.ids import BrokerId
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener, advertised_endpoints, broker_listeners
from moldau.core.settings.resolve import BrokerLayers
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners
from moldau.node.compaction import Compaction
from moldau.node.housekeeping import Housekeeping
from moldau.node.loop_scheduler import LoopScheduler
from moldau.node.opening import OpenedData, open_data
from moldau.node.os_clock import OsClock
from moldau.node.stall_watch import StallWatch

_log = logging.getLogger("moldau.node")

FILE_WORKERS: Final = 4
FETCH_SESSION_EVICTION_MS: Final = 120_000


class BrokerNode:
    """One broker. `start` returns when it serves, `stop` when nothing of it is left."""

    def __init__(self, layers: BrokerLayers) -> None:
        self._layers = layers
        self._settings = layers.settings()
        self._listeners: tuple[Listener, ...] = broker_listeners(self._settings)
        self._advertised = advertised_endpoints(self._settings)
        self._bound: list[Endpoint] = []
        self._data: OpenedData | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._files = LoopScheduler(loop, name="files", workers_max=FILE_WORKERS)
        self._store_thread = LoopScheduler(loop, name="store", workers_max=1)
        clock = OsClock()
        try:
            data = self._data = await self._files.run_in_worker(lambda: open_data(self._layers, clock))
            broker = self._assemble(data, clock)
            await self._files.run_in_worker(broker.groups.load)
            broker.groups.start()
            self._net = Listeners(
                loop,
                lambda: _limits(broker.configs.broker),
                lambda connection: ClientSession(broker, connection),
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

    async def stop(self) -> None:
        """Clean: the next start needs no recovery."""
        self._stalls.stop()
        self.broker.groups.stop()
        self._net.close()
        self._compaction.cancel()
        await self._files.close()
        await self._store_thread.close()
        assert self._data is not None
        await asyncio.to_thread(self._data.close, clean=True)

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

    def _assemble(self, data: OpenedData, clock: OsClock) -> Broker:
        broker_id = BrokerId(self._settings.node_id)
        scheduler = self._files
        in_order = self._store_thread.run_in_worker
        disks = Disks(data.directories, data.offline)
        partitions = HostedPartitions()
        parked_fetches = ParkedFetches(scheduler)
        logs = HostedLogs(broker_id, clock, disks, partitions, parked_fetches)
        configs = ConfigStore(data.store, data.catalog, self._layers, broker_id, in_order, logs)
        for entry in data.catalog.topics():
            logs.serve(entry, 0)
        topics = TopicAdmin(data.store, data.catalog, configs, logs, in_order, lambda: [broker_id])
        groups = GroupCoordinator(
            data.catalog,
            configs,
            partitions,
            parked_fetches,
            InternalTopics(data.catalog, configs, topics),
            clock,
            scheduler,
        )
        advertised = {name: Address(*endpoint) for name, endpoint in self._advertised.items()}
        return Broker(
            broker_id=broker_id,
            cluster_id=data.cluster_id,
            rack=self._settings.broker_rack,
            clock=clock,
            scheduler=scheduler,
            table=ApiTable(HANDLERS),
            answers=AnswerCache(lambda: data.catalog.epoch),
            listeners=AdvertisedListeners(advertised),
            catalog=data.catalog,
            configs=configs,
            topics=topics,
            partitions=partitions,
            disks=disks,
            flusher=Flusher(scheduler, clock, disks),
            parked_fetches=parked_fetches,
            fetch_sessions=FetchSessions(
                slots_max=self._settings.max_incremental_fetch_session_cache_slots,
                eviction_ms_min=FETCH_SESSION_EVICTION_MS,
                new_id=lambda: secrets.randbits(31),
            ),
            producer_ids=ProducerIds(data.store, self._store_thread, broker_id),
            groups=groups,
        )


def _limits(settings: BrokerSettings) -> ConnectionLimits:
    return ConnectionLimits(
        request_bytes_max=settings.socket_request_max_bytes,
        idle_ms_max=settings.connections_max_idle_ms,
        connections_max=settings.max_connections,
        connections_per_ip_max=settings.max_connections_per_ip,
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"  # noqa: S104
