"""The parts of a broker that most other parts are built on."""

from dataclasses import dataclass
from typing import NamedTuple

from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.hosted_partitions import HostedPartitions
from moldau.broker.hosting.log_host import HostedLogs
from moldau.broker.members import Members
from moldau.broker.peers import NoPeers, Peers
from moldau.broker.request.advertised_listeners import Address, AdvertisedListeners
from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.topics.partition_admin import PartitionAdmin
from moldau.coordination.store import Store
from moldau.core.ids import BrokerId
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import advertised_endpoints
from moldau.core.settings.resolve import BrokerLayers
from moldau.node.opening import OpenedData


class ClusterParts(NamedTuple):
    """What a broker of a cluster has in place of the parts of a broker that stands alone."""

    members: Members
    peers: Peers
    partition_admin: PartitionAdmin | None = None


@dataclass(frozen=True, slots=True)
class SharedParts:
    broker_id: BrokerId
    is_alone: bool
    settings: BrokerSettings
    clock: Clock
    scheduler: Scheduler
    store_thread: Scheduler
    """Runs its jobs one at a time, in order, as the coordination store needs it."""
    store: Store
    catalog: TopicCatalog
    configs: ConfigStore
    listeners: AdvertisedListeners
    members: Members
    peers: Peers
    disks: Disks
    partitions: HostedPartitions
    parked_fetches: ParkedFetches
    logs: HostedLogs


def assemble_shared_parts(
    layers: BrokerLayers,
    data: OpenedData,
    clock: Clock,
    scheduler: Scheduler,
    store_thread: Scheduler,
    cluster: ClusterParts | None,
) -> SharedParts:
    settings = layers.settings()
    broker_id = BrokerId(settings.node_id)
    listeners = advertised_listeners(settings)
    disks = Disks(data.directories, data.offline)
    partitions = HostedPartitions()
    parked_fetches = ParkedFetches(scheduler)
    logs = HostedLogs(broker_id, clock, disks, partitions, parked_fetches)
    configs = ConfigStore(data.store, data.catalog, layers, broker_id, store_thread.run_in_worker, logs)
    return SharedParts(
        broker_id=broker_id,
        is_alone=cluster is None,
        settings=settings,
        clock=clock,
        scheduler=scheduler,
        store_thread=store_thread,
        store=data.store,
        catalog=data.catalog,
        configs=configs,
        listeners=listeners,
        members=cluster.members if cluster else Members(broker_id, settings.broker_rack, listeners),
        peers=cluster.peers if cluster else NoPeers(),
        disks=disks,
        partitions=partitions,
        parked_fetches=parked_fetches,
        logs=logs,
    )


def advertised_listeners(settings: BrokerSettings) -> AdvertisedListeners:
    return AdvertisedListeners(
        {name: Address(*endpoint) for name, endpoint in advertised_endpoints(settings).items()}
    )
