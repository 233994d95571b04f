"""Puts together the group and transaction coordinators: one shard for each partition of their topics.

The code of a coordinator is imported when its first shard is loaded: a broker that coordinates nothing does not pay
for it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from moldau.broker.coordinator.log import ShardLog
from moldau.broker.coordinator.router import GroupRouter, TxnRouter
from moldau.broker.coordinator.shards import CoordinatorShards
from moldau.broker.topics.catalog_topics import CatalogTopics
from moldau.broker.topics.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, InternalTopics
from moldau.broker.transactions.marker_sender import MarkerSender
from moldau.broker.transactions.marker_writer import MarkerWriter
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicPartition
from moldau.node.shared_parts import SharedParts

if TYPE_CHECKING:
    from moldau.broker.coordinator.group_shard import GroupShard
    from moldau.broker.coordinator.txn_shard import TxnShard


class Coordinators(NamedTuple):
    groups: GroupRouter
    transactions: TxnRouter
    markers: MarkerWriter


class CoordinatorAssembly:
    def __init__(
        self, parts: SharedParts, internal_topics: InternalTopics, producer_ids: ProducerIds
    ) -> None:
        self._parts = parts
        self._internal_topics = internal_topics
        self._producer_ids = producer_ids

    def assemble(self) -> Coordinators:
        parts = self._parts
        group_shards = CoordinatorShards(
            OFFSETS_TOPIC,
            parts.catalog,
            self._internal_topics.ensure_offsets,
            self._group_loader,
            parts.scheduler,
            self._is_led_here,
            begins_at_once=parts.is_alone,
        )
        markers = MarkerWriter(parts.partitions, parts.parked_fetches, parts.disks, group_shards, parts.clock)
        sender = MarkerSender(markers, parts.catalog, parts.broker_id, parts.peers, parts.scheduler)
        txn_shards = CoordinatorShards(
            TRANSACTIONS_TOPIC,
            parts.catalog,
            self._internal_topics.ensure_transactions,
            lambda: self._txn_loader(sender),
            parts.scheduler,
            self._is_led_here,
            begins_at_once=parts.is_alone,
        )
        groups = GroupRouter(group_shards)
        parts.catalog.watch(groups.topics_changed)
        return Coordinators(groups, TxnRouter(txn_shards, self._producer_ids), markers)

    def _group_loader(self) -> Callable[[TopicPartition], "GroupShard"]:
        from moldau.broker.coordinator.group_shard import GroupShard, new_groups

        parts = self._parts
        topics = CatalogTopics(parts.catalog)
        return lambda topic_partition: GroupShard(
            new_groups(parts.configs, topics), self._log(topic_partition), parts.clock, parts.scheduler
        )

    def _txn_loader(self, sender: MarkerSender) -> Callable[[TopicPartition], "TxnShard"]:
        from moldau.broker.coordinator.txn_shard import TxnShard, new_transactions

        parts = self._parts
        return lambda topic_partition: TxnShard(
            new_transactions(parts.configs.broker, parts.catalog.leader_epoch(topic_partition)),
            self._log(topic_partition),
            sender,
            self._producer_ids,
            parts.clock,
            parts.scheduler,
        )

    def _log(self, topic_partition: TopicPartition) -> ShardLog:
        partition = self._parts.partitions.find(topic_partition.topic, topic_partition.partition)
        if partition is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{topic_partition} is not hosted here")
        return ShardLog(partition, self._parts.parked_fetches)

    def _is_led_here(self, topic_partition: TopicPartition) -> bool:
        partition = self._parts.partitions.find(topic_partition.topic, topic_partition.partition)
        return partition is not None and partition.is_leader
