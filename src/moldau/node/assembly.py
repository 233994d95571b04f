"""Puts a broker's parts together: who is handed what. Starts nothing."""

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from moldau.broker.broker import Broker
from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.coordinator.log import ShardLog
from moldau.broker.coordinator.router import GroupRouter, TxnRouter
from moldau.broker.coordinator.shards import CoordinatorShards
from moldau.broker.fetch.fetch_sessions import FetchSessions
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.handlers import HANDLERS
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.flusher import Flusher
from moldau.broker.hosting.hosted_partitions import HostedPartitions
from moldau.broker.hosting.log_host import HostedLogs, LogsByRole
from moldau.broker.members import Members
from moldau.broker.peers import NoPeers, Peers
from moldau.broker.request.advertised_listeners import Address, AdvertisedListeners
from moldau.broker.request.answer_cache import AnswerCache
from moldau.broker.request.api_table import ApiTable
from moldau.broker.topics.catalog_topics import CatalogTopics
from moldau.broker.topics.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, InternalTopics
from moldau.broker.topics.partition_admin import LonePartitions, PartitionAdmin
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.broker.transactions.marker_sender import MarkerSender
from moldau.broker.transactions.marker_writer import MarkerWriter
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import BrokerId, TopicPartition
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import advertised_endpoints
from moldau.core.settings.resolve import BrokerLayers
from moldau.node.opening import OpenedData

if TYPE_CHECKING:
    from moldau.broker.coordinator.group_shard import GroupShard
    from moldau.broker.coordinator.txn_shard import TxnShard

FETCH_SESSION_EVICTION_MS: Final = 120_000


def assemble(
    layers: BrokerLayers,
    data: OpenedData,
    clock: Clock,
    scheduler: Scheduler,
    store_thread: Scheduler,
    *,
    members: Members | None = None,
    peers: Peers | None = None,
    partition_admin: PartitionAdmin | None = None,
) -> Broker:
    """`store_thread` runs its jobs one at a time, in order: what the coordination store needs. `members` and
    `peers` are those of a cluster; without them the broker stands alone, and all that is on its disks is its own."""
    settings = layers.settings()
    broker_id = BrokerId(settings.node_id)
    in_order = store_thread.run_in_worker
    is_alone = members is None or peers is None
    listeners = advertised_listeners(settings)
    members = members or Members(broker_id, settings.broker_rack, listeners)
    peers = peers or NoPeers()
    disks = Disks(data.directories, data.offline)
    partitions = HostedPartitions()
    parked_fetches = ParkedFetches(scheduler)
    logs = HostedLogs(broker_id, clock, disks, partitions, parked_fetches)
    configs = ConfigStore(data.store, data.catalog, layers, broker_id, in_order, logs)
    if is_alone:
        for entry in data.catalog.topics():
            logs.serve(entry, 0)
    topics = TopicAdmin(
        data.store,
        data.catalog,
        configs,
        logs if is_alone else LogsByRole(),
        in_order,
        lambda: sorted(members.alive),
        racks=lambda: {each.broker_id: each.rack for each in members if each.rack},
        is_alone=is_alone,
    )
    internal_topics = InternalTopics(data.catalog, configs, topics, is_alone=is_alone)
    producer_ids = ProducerIds(data.store, store_thread, broker_id)

    def shard_log(place: TopicPartition) -> ShardLog:
        partition = partitions.find(place.topic, place.partition)
        if partition is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{place} is not hosted here")
        return ShardLog(partition, parked_fetches)

    def is_led_here(place: TopicPartition) -> bool:
        partition = partitions.find(place.topic, place.partition)
        return partition is not None and partition.is_leader

    def load_groups() -> Callable[[TopicPartition], "GroupShard"]:
        from moldau.broker.coordinator.group_shard import GroupShard, new_groups

        view = CatalogTopics(data.catalog)
        return lambda place: GroupShard(new_groups(configs, view), shard_log(place), clock, scheduler)

    group_shards = CoordinatorShards(
        OFFSETS_TOPIC,
        data.catalog,
        internal_topics.ensure_offsets,
        load_groups,
        scheduler,
        is_led_here,
        begins_at_once=is_alone,
    )
    markers = MarkerWriter(partitions, parked_fetches, disks, group_shards, clock)
    marker_sender = MarkerSender(markers, data.catalog, broker_id, peers, scheduler)

    def load_transactions() -> Callable[[TopicPartition], "TxnShard"]:
        from moldau.broker.coordinator.txn_shard import TxnShard, new_transactions

        return lambda place: TxnShard(
            new_transactions(configs.broker, data.catalog.leader_epoch(place)),
            shard_log(place),
            marker_sender,
            producer_ids,
            clock,
            scheduler,
        )

    txn_shards = CoordinatorShards(
        TRANSACTIONS_TOPIC,
        data.catalog,
        internal_topics.ensure_transactions,
        load_transactions,
        scheduler,
        is_led_here,
        begins_at_once=is_alone,
    )
    groups = GroupRouter(group_shards)
    data.catalog.watch(groups.topics_changed)
    return Broker(
        broker_id=broker_id,
        cluster_id=data.cluster_id,
        rack=settings.broker_rack,
        clock=clock,
        scheduler=scheduler,
        table=ApiTable(HANDLERS),
        answers=AnswerCache(lambda: data.catalog.epoch + members.epoch),
        listeners=listeners,
        members=members,
        peers=peers,
        catalog=data.catalog,
        configs=configs,
        topics=topics,
        partitions=partitions,
        partition_admin=partition_admin or LonePartitions(data.catalog, broker_id),
        disks=disks,
        flusher=Flusher(scheduler, clock, disks),
        parked_fetches=parked_fetches,
        fetch_sessions=FetchSessions(
            slots_max=settings.max_incremental_fetch_session_cache_slots,
            eviction_ms_min=FETCH_SESSION_EVICTION_MS,
            new_id=lambda: secrets.randbits(31),
        ),
        producer_ids=producer_ids,
        groups=groups,
        transactions=TxnRouter(txn_shards, producer_ids),
        markers=markers,
        selects_replicas=bool(settings.replica_selector_class),
    )


def advertised_listeners(settings: BrokerSettings) -> AdvertisedListeners:
    return AdvertisedListeners(
        {name: Address(*endpoint) for name, endpoint in advertised_endpoints(settings).items()}
    )
