"""One broker's life in a cluster: registers, follows the tree, takes its roles, stands for controller, and hands
over before it stops."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from moldau.broker.broker import Broker
from moldau.cluster.broker_peers import BrokerPeers
from moldau.cluster.controller.runner import ControllerRunner, ControllerSettings
from moldau.cluster.dead_brokers import remove_dead_broker
from moldau.cluster.fetcher import Remove, ReplicaFetcher
from moldau.cluster.isr_writer import StoreIsrWriter
from moldau.cluster.peer_network import PeerNetwork
from moldau.cluster.registration import (
    KnownSince,
    Registration,
    intact_since,
    read_known,
    write_known,
)
from moldau.cluster.replica_roles import ReplicaRoles
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.cluster.store_loss_guard import StoreLossGuard
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta
from moldau.coordination.image_updater import HandOver, ImageUpdater
from moldau.coordination.store import NodeExists, Store, StoreError
from moldau.coordination.tree_setup import create_folders
from moldau.core.errors import ConfigError, StorageFault
from moldau.core.ids import BrokerId
from moldau.core.ports import FileSystem, Scheduler

_log = logging.getLogger("moldau.cluster")

RETRY_MS: Final = 1000
HAND_OVER_S_MAX: Final = 15.0
"""How long a broker that stops waits for others to take over what it leads."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a member needs of the process around it."""

    scheduler: Scheduler
    store_thread: Scheduler
    """Runs its jobs one at a time, in order."""
    hand_over: HandOver
    network: PeerNetwork
    files: FileSystem
    boot_id: str
    """Of the machine's present run: another one after each start of it."""
    remove_later: Remove


class ClusterMember:
    def __init__(
        self,
        broker: Broker,
        peers: BrokerPeers,
        store: Store,
        around: Surroundings,
        registration: Callable[[], Registration],
    ) -> None:
        """`registration` is asked when the listeners are open and have their ports."""
        self._broker = broker
        self._peers = peers
        self._store = store
        self._around = around
        self._registration = registration
        self._follower = ImageUpdater(store, around.store_thread, around.hand_over)
        writer = StoreIsrWriter(store, around.store_thread)
        self._epoch = -1
        self.roles = ReplicaRoles(
            broker, writer, self._make_fetcher, around.store_thread.run_in_worker, lambda: self._epoch
        )
        settings = broker.configs.broker
        self._throttle = ReplicationThrottle(
            lambda: broker.configs.broker.follower_replication_throttled_rate,
            settings.replication_quota_window_num,
            settings.replication_quota_window_size_seconds * 1000,
        )
        self.controller = ControllerRunner(
            store,
            self._follower,
            broker.broker_id,
            broker.clock,
            around.store_thread,
            ControllerSettings(
                unclean_default=settings.unclean_leader_election_enable,
                tidying_interval_ms=settings.leader_imbalance_check_interval_seconds * 1000,
                balances_leaders=settings.auto_leader_rebalance_enable,
                imbalance_percentage=settings.leader_imbalance_per_broker_percentage,
            ),
        )
        self._doubt = StoreLossGuard(
            broker.broker_id, self.roles, store, around.store_thread, settings.zookeeper_session_timeout_ms
        )
        self._known: KnownSince | None = None
        self._is_registering = False
        self._is_stopping = False
        self._resigned: asyncio.Event | None = None
        self.joined = asyncio.Event()
        """Set once the broker's own image has it among the living: before, it would tell clients of a cluster without
        it."""

    @property
    def image(self) -> ClusterImage:
        return self._follower.image

    async def start(self) -> None:
        """Returns when the broker is one of the cluster. ConfigError when it cannot be."""
        in_order = self._around.store_thread.run_in_worker

        def load() -> None:
            create_folders(self._store)
            self._follower.load()

        await in_order(load)
        self._follower.subscribe(self.roles)
        self.roles.start(self._follower.image)
        directories = self._broker.disks.directories
        was_clean = all(directory.was_clean for directory in directories)
        known = await in_order(lambda: read_known(self._around.files, directories[0].path))
        since = intact_since(known, self._around.boot_id, was_clean=was_clean)
        registration = self._registration()
        await in_order(lambda: self._register(registration, since))
        self._follower.subscribe(self)
        self._look_for_myself(self._follower.image)
        self.controller.start()

    async def stop(self, *, is_controlled: bool) -> None:
        """Controlled: what we lead is led by others before we go, so that clients hardly notice."""
        self._is_stopping = True
        if is_controlled:
            await self._hand_over_leaderships()
        self._doubt.stop()
        await self.controller.stop()
        self._follower.close()
        self.roles.close()
        self._peers.close()

    # --- ImageListener

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        for broker_id in delta.brokers:
            self._peers.forget(broker_id)
        self._look_for_myself(image)
        if self._broker.broker_id in delta.brokers and self._broker.broker_id not in image.brokers:
            self._register_again()
        if self._resigned is not None and not self._leads_what_others_could(image):
            self._resigned.set()

    def _look_for_myself(self, image: ClusterImage) -> None:
        me = image.brokers.get(self._broker.broker_id)
        if me is not None and me.epoch == self._epoch:
            self.joined.set()

    def disconnected(self) -> None:
        _log.warning("the coordination store is out of reach")
        self._doubt.disconnected()

    def connected(self, *, new_session: bool) -> None:
        _log.info("the coordination store is reached again%s", ", in a new session" if new_session else "")
        self._doubt.connected()
        if new_session:
            self._register_again()

    # --- registration

    def _register(self, registration: Registration, since: int | None) -> None:
        self._epoch = registration.register(since)
        directory = self._broker.disks.directories[0].path
        self._known = KnownSince(self._around.boot_id, self._epoch if since is None else since)
        write_known(self._around.files, directory, self._known)

    def _register_again(self) -> None:
        if not self._is_registering and not self._is_stopping:
            self._is_registering = True
            self._around.scheduler.spawn(self._insist_on_registration())

    async def _insist_on_registration(self) -> None:
        """The process has been alive all the time: its logs lost nothing."""
        registration = self._registration()
        since = None if self._known is None else self._known.intact_since
        try:
            await self._around.store_thread.run_in_worker(lambda: self._register(registration, since))
        except (StorageFault, StoreError, ConfigError) as problem:
            _log.error("the broker could not be registered again, trying on: %s", problem)
            self._is_registering = False
            self._around.scheduler.call_later(RETRY_MS, self._register_again)
        else:
            self._is_registering = False

    # --- the end

    async def _hand_over_leaderships(self) -> None:
        if not self._leads_what_others_could(self._follower.image):
            return
        self._resigned = asyncio.Event()
        path = layout.shutdown_path(self._broker.broker_id)

        def announce() -> None:
            try:
                self._store.create(path, ephemeral=True)
            except NodeExists:
                return

        try:
            await self._around.store_thread.run_in_worker(announce)
            async with asyncio.timeout(HAND_OVER_S_MAX):
                await self._resigned.wait()
        except TimeoutError:
            _log.warning("not everything this broker leads was taken over; stopping all the same")
        except (StorageFault, StoreError) as problem:
            _log.warning("the cluster could not be told that this broker stops: %s", problem)

    def _leads_what_others_could(self, image: ClusterImage) -> bool:
        me = self._broker.broker_id
        return any(
            state.leader == me and any(each != me and each in image.brokers for each in state.isr)
            for topic in image.topics.values()
            for _, state in topic.states()
        )

    def _make_fetcher(self, leader: BrokerId) -> ReplicaFetcher:
        broker = self._broker
        return ReplicaFetcher(
            broker.broker_id,
            leader,
            self._around.network,
            clock=broker.clock,
            scheduler=broker.scheduler,
            disks=broker.disks,
            flusher=broker.flusher,
            parked_fetches=broker.parked_fetches,
            settings=lambda: broker.configs.broker,
            throttle=self._throttle,
            remove_later=self._around.remove_later,
            broker_epoch=lambda: self._epoch,
            on_gone=self._declare_dead,
        )

    def _declare_dead(self, broker_id: BrokerId) -> None:
        registered = self._follower.image.brokers.get(broker_id)
        if registered is not None and not self._is_stopping:
            self._around.store_thread.spawn(self._write_obituary(broker_id, registered.epoch))

    async def _write_obituary(self, broker_id: BrokerId, epoch: int) -> None:
        try:
            job = partial(remove_dead_broker, self._store, broker_id, epoch)
            if await self._around.store_thread.run_in_worker(job):
                _log.warning("nobody listens where broker %d should: it is taken for dead", broker_id)
        except (StorageFault, StoreError) as problem:
            _log.info("broker %d could not be declared dead: %s", broker_id, problem)
