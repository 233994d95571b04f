"""Writes transaction markers, commit or abort, to the logs led here.

A marker in a partition of `__consumer_offsets` also settles the pending offsets of the transaction. A marker
counts once it is committed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from moldau.broker.coordinator.shards import CoordinatorShards
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.hosted_partitions import HostedPartitions, Partition
from moldau.broker.topics.internal_topics import OFFSETS_TOPIC
from moldau.broker.txn.states import EPOCH_BUMP_VERSION
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import ProducerEpoch, ProducerId, TopicPartition
from moldau.core.ports import Clock
from moldau.protocol.records.control import ControlType, build_end_transaction_marker
from moldau.storage.log.partition_log import PartitionLog

Done = Callable[[ErrorCode], None]

if TYPE_CHECKING:
    from moldau.broker.coordinator.group_shard import GroupShard


class MarkerWriter:
    def __init__(
        self,
        partitions: HostedPartitions,
        parked_fetches: ParkedFetches,
        disks: Disks,
        group_shards: "CoordinatorShards[GroupShard]",
        clock: Clock,
    ) -> None:
        self._partitions = partitions
        self._parked_fetches = parked_fetches
        self._disks = disks
        self._group_shards = group_shards
        self._clock = clock

    def write(
        self,
        topic_partition: TopicPartition,
        done: Done,
        *,
        producer_id: ProducerId,
        producer_epoch: ProducerEpoch,
        coordinator_epoch: int,
        committed: bool,
        transaction_version: int,
    ) -> None:
        """Calls `done` when the marker is committed (at once where there is one replica), or with the
        error."""
        partition = self._partitions.find(topic_partition.topic, topic_partition.partition)
        if partition is None:
            done(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return
        if transaction_version >= EPOCH_BUMP_VERSION and _is_ended(partition, producer_id, producer_epoch):
            self._tell_ended(partition, done)
            return
        now_ms = self._clock.now_ms()
        marker = build_end_transaction_marker(
            ControlType.COMMIT if committed else ControlType.ABORT,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp_ms=now_ms,
        )

        def settle(code: ErrorCode) -> None:
            if code is ErrorCode.NONE and topic_partition.topic == OFFSETS_TOPIC:
                try:
                    self._group_shards.at(topic_partition.partition).transaction_ended(producer_id, committed)
                except ApiError as error:  # The new leader reads the marker from the log.
                    code = error.code
            done(code)

        try:
            if topic_partition.topic == OFFSETS_TOPIC:
                self._group_shards.at(topic_partition.partition)
            log = self._append(partition, memoryview(marker), now_ms)
            partition.verifying.transaction_ended(producer_id)
        except ApiError as error:
            done(error.code)
            return
        except StorageFault as fault:
            self._disks.fail(fault)
            done(ErrorCode.KAFKA_STORAGE_ERROR)
            return
        if partition.leading is None:
            settle(ErrorCode.NONE)
        else:
            partition.leading.when_committed(log.end_offset, settle)

    def _tell_ended(self, partition: Partition, done: Done) -> None:
        """The marker is there already but may not be committed yet: the coordinator must not learn of it
        before."""
        log, leading = partition.log, partition.leading
        if leading is None or log is None:
            done(ErrorCode.INVALID_PRODUCER_EPOCH)
            return
        leading.when_committed(
            log.end_offset,
            lambda code: done(ErrorCode.INVALID_PRODUCER_EPOCH if code is ErrorCode.NONE else code),
        )

    def _append(self, partition: Partition, marker: memoryview, now_ms: int) -> PartitionLog:
        log, leading = partition.log, partition.leading
        if log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        if not partition.is_leader:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if leading is not None and leading.is_short:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
        log.append_as_leader(marker, leader_epoch=partition.leader_epoch, now_ms=now_ms, is_client=False)
        if leading is not None:
            leading.appended()
        else:
            log.advance_high_watermark(log.end_offset)
            if partition.waiters:
                self._parked_fetches.appended(partition)
        return log


def _is_ended(partition: Partition, producer_id: int, producer_epoch: int) -> bool:
    """The end of a transaction raises the epoch. A marker whose epoch is not higher is a late duplicate and
    must not end the transaction that is open now (KIP-1228)."""
    log = partition.log
    return (
        log is not None
        and partition.is_leader
        and log.producers.has_reached_epoch(producer_id, producer_epoch)
    )
