"""Connects a broker to its cluster, using the event loop, threads and sockets of this process."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.members import Members
from moldau.cluster.broker_peers import BrokerPeers
from moldau.cluster.controller.cluster_partition_admin import ClusterPartitionAdmin
from moldau.cluster.environment import Environment
from moldau.cluster.member import ClusterMember
from moldau.cluster.registration import Registration
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage
from moldau.coordination.store import Store
from moldau.core.ids import BrokerId
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener, advertised_endpoints
from moldau.net.listener import Endpoint
from moldau.node.loop_scheduler import LoopScheduler
from moldau.node.peer_links import PeerLinks, inter_broker_listener, reachable_host
from moldau.node.removal import remove_later
from moldau.node.shared_parts import ClusterParts, advertised_listeners
from moldau.node.tls_identities import TlsIdentities
from moldau.storage.os_files import OsFiles

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class ClusterConnection:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: BrokerSettings,
        listeners: tuple[Listener, ...],
        store: Store,
        files: LoopScheduler,
        store_thread: LoopScheduler,
        identities: TlsIdentities,
    ) -> None:
        broker_id = BrokerId(settings.node_id)
        self.store = store
        members = Members(broker_id, settings.broker_rack, advertised_listeners(settings))
        self._links = PeerLinks(members, inter_broker_listener(settings, listeners), settings, identities)
        self._peers = BrokerPeers(self._links, f"broker-{broker_id}")
        self._loop = loop
        self._settings = settings
        self._listeners = listeners
        self._files = files
        self._store_thread = store_thread
        self._member: ClusterMember | None = None
        partition_admin = ClusterPartitionAdmin(store, self._image, store_thread.run_in_worker)
        self.parts = ClusterParts(members, self._peers, partition_admin)

    def _image(self) -> ClusterImage:
        return ClusterImage() if self._member is None else self._member.image

    async def join(self, broker: Broker, listen: Callable[[], Sequence[Endpoint]]) -> None:
        """Calls `listen` once the cluster's image is loaded: a client that connected earlier would see a cluster
        without topics."""
        self._links.settings = lambda: broker.configs.broker
        environment = Environment(
            scheduler=self._files,
            store_thread=self._store_thread,
            hand_over=self._loop.call_soon_threadsafe,
            network=self._links,
            files=OsFiles(),
            boot_id=_boot_id(),
            remove_later=lambda segment, delay_ms: remove_later(self._files, segment, delay_ms),
        )
        registration = cache(lambda: self._registration(broker, listen()))
        self._member = ClusterMember(broker, self._peers, self.store, environment, registration)
        await self._member.start()
        await self._member.joined()

    async def leave(self, *, clean: bool) -> None:
        if self._member is not None:
            is_controlled = clean and self._settings.controlled_shutdown_enable
            await self._member.stop(is_controlled=is_controlled)

    def cut_off(self) -> None:
        self._links.is_cut = True
        self._links.close_all()

    def reopen(self) -> None:
        self._links.is_cut = False

    def _registration(self, broker: Broker, bound: Sequence[Endpoint]) -> Registration:
        advertised = advertised_endpoints(self._settings)
        endpoints = tuple(
            layout.Endpoint(each.name, *advertised.get(each.name, (reachable_host(each.host), each.port)))
            for each in bound
        )
        return Registration(
            store=self.store,
            broker_id=broker.broker_id,
            directory_id=broker.disks.directories[0].directory_id,
            endpoints=endpoints,
            security={each.name: each.protocol.value for each in self._listeners},
            rack=self._settings.broker_rack,
            wait_ms=self._settings.zookeeper_session_timeout_ms,
            now_ms=broker.clock.now_ms,
        )


def _boot_id() -> str:
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""
