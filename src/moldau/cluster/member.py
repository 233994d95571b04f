"""One broker as a member of a cluster: creates its parts, starts them in order and stops them in order.

It registers, follows the cluster's image, takes its roles, stands for election as controller, and hands its
leaderships over before it stops.
"""

import logging
from collections.abc import Callable

from moldau.broker.broker import Broker
from moldau.cluster.broker_peers import BrokerPeers
from moldau.cluster.controlled_shutdown import ControlledShutdown
from moldau.cluster.controller.runner import ControllerRunner, ControllerSettings
from moldau.cluster.dead_brokers import DeadBrokers
from moldau.cluster.environment import Environment
from moldau.cluster.fetch_plan import FetchPlan
from moldau.cluster.fetcher import ReplicaFetcher
from moldau.cluster.follower_logs import FollowerLogs
from moldau.cluster.image_applier import ImageApplier
from moldau.cluster.isr_writer import StoreIsrWriter
from moldau.cluster.local_coordinators import LocalCoordinators
from moldau.cluster.registrar import Registrar
from moldau.cluster.registration import Registration
from moldau.cluster.replica_hosting import ReplicaHosting
from moldau.cluster.replica_roles import ReplicaRoles
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.cluster.store_loss_guard import StoreLossGuard
from moldau.coordination.image import ClusterImage, ImageDelta
from moldau.coordination.image_updater import ImageUpdater
from moldau.coordination.store import Store
from moldau.coordination.tree_setup import create_folders
from moldau.core.ids import BrokerId
from moldau.core.settings.broker_keys import BrokerSettings

_log = logging.getLogger("moldau.cluster")


class ClusterMember:
    def __init__(
        self,
        broker: Broker,
        peers: BrokerPeers,
        store: Store,
        environment: Environment,
        registration: Callable[[], Registration],
    ) -> None:
        """`registration` is called once the listeners are open and their ports known."""
        settings = broker.configs.broker
        store_thread = environment.store_thread
        self._broker = broker
        self._peers = peers
        self._store = store
        self._environment = environment
        self._registrar = Registrar(broker, environment, registration)
        self._images = ImageUpdater(store, store_thread, environment.hand_over)
        self._dead_brokers = DeadBrokers(store, store_thread, lambda: self.image)
        self._shutdown = ControlledShutdown(broker.broker_id, store, store_thread)
        self._throttle = ReplicationThrottle(
            lambda: broker.configs.broker.follower_replication_throttled_rate,
            settings.replication_quota_window_num,
            settings.replication_quota_window_size_seconds * 1000,
        )
        self._follower_logs = FollowerLogs(
            broker.broker_id,
            clock=broker.clock,
            scheduler=broker.scheduler,
            disks=broker.disks,
            flusher=broker.flusher,
            parked_fetches=broker.parked_fetches,
            throttle=self._throttle,
            remove_later=environment.remove_later,
        )
        self._coordinators = LocalCoordinators(broker)
        roles = ReplicaRoles(
            broker,
            self._coordinators,
            StoreIsrWriter(store, store_thread),
            self._make_fetcher,
            lambda: self._registrar.epoch,
        )
        hosting = ReplicaHosting(broker, roles, store_thread.run_in_worker)
        self.applier = ImageApplier(broker, hosting, roles)
        self._store_loss = StoreLossGuard(
            broker.broker_id, self._coordinators, store, store_thread, settings.zookeeper_session_timeout_ms
        )
        self._controller = ControllerRunner(
            store, self._images, broker.broker_id, broker.clock, store_thread, _controller_settings(settings)
        )

    @property
    def image(self) -> ClusterImage:
        return self._images.image

    async def start(self) -> None:
        """Returns when the broker is registered. ConfigError when its ID belongs to another broker."""

        def load() -> None:
            create_folders(self._store)
            self._images.load()

        await self._environment.store_thread.run_in_worker(load)
        self._images.subscribe(self.applier)
        self.applier.start(self.image)
        await self._registrar.register()
        self._images.subscribe(self)
        self._registrar.look_for_own_registration(self.image)
        self._controller.start()

    async def joined(self) -> None:
        """Returns when this broker's own image shows it as a member."""
        await self._registrar.joined.wait()

    async def stop(self, *, is_controlled: bool) -> None:
        """Controlled: other brokers lead what this one led before it goes, so that clients hardly notice."""
        self._registrar.close()
        self._dead_brokers.close()
        if is_controlled:
            await self._shutdown.run(self.image)
        self._store_loss.stop()
        await self._controller.stop()
        self._images.close()
        self._coordinators.close()
        self.applier.close()
        self._peers.close()

    # --- ImageListener

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        for broker_id in delta.brokers:
            self._peers.forget(broker_id)
        self._registrar.image_changed(image, delta)
        self._shutdown.image_changed(image)

    def disconnected(self) -> None:
        _log.warning("the connection to the coordination store was lost")
        self._store_loss.disconnected()

    def connected(self, *, new_session: bool) -> None:
        _log.info("connected to the coordination store again%s", ", in a new session" if new_session else "")
        self._store_loss.connected()
        if new_session:
            self._registrar.register_again()

    def _make_fetcher(self, leader: BrokerId) -> ReplicaFetcher:
        broker = self._broker
        return ReplicaFetcher(
            broker.broker_id,
            leader,
            self._environment.network,
            FetchPlan(broker.broker_id, broker.clock, self._throttle),
            self._follower_logs,
            clock=broker.clock,
            scheduler=broker.scheduler,
            disks=broker.disks,
            settings=lambda: broker.configs.broker,
            broker_epoch=lambda: self._registrar.epoch,
            on_refused=self._dead_brokers.refused_connection,
        )


def _controller_settings(settings: BrokerSettings) -> ControllerSettings:
    return ControllerSettings(
        unclean_default=settings.unclean_leader_election_enable,
        tidying_interval_ms=settings.leader_imbalance_check_interval_seconds * 1000,
        balances_leaders=settings.auto_leader_rebalance_enable,
        imbalance_percentage=settings.leader_imbalance_per_broker_percentage,
    )
