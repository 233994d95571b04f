"""Puts the ends of transactions into the logs: commit and abort markers.

A marker in a partition of `__consumer_offsets` also settles the offsets that waited there.
"""

from typing import TYPE_CHECKING

from moldau.broker.coordinator_shards import CoordinatorShards
from moldau.broker.disks import Disks
from moldau.broker.internal_topics import OFFSETS_TOPIC
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import HostedPartitions
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import ProducerEpoch, ProducerId, TopicPartition
from moldau.core.ports import Clock
from moldau.protocol.records.control import ControlType, build_end_transaction_marker

if TYPE_CHECKING:
    from moldau.broker.group_shard import GroupShard


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
        place: TopicPartition,
        *,
        producer_id: ProducerId,
        producer_epoch: ProducerEpoch,
        coordinator_epoch: int,
        committed: bool,
    ) -> ErrorCode:
        partition = self._partitions.find(place.topic, place.partition)
        if partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        log = partition.log
        if log is None:
            return ErrorCode.KAFKA_STORAGE_ERROR
        now_ms = self._clock.now_ms()
        marker = build_end_transaction_marker(
            ControlType.COMMIT if committed else ControlType.ABORT,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp_ms=now_ms,
        )
        try:
            log.append_as_leader(
                memoryview(marker), leader_epoch=partition.leader_epoch, now_ms=now_ms, is_client=False
            )
        except ApiError as error:
            return error.code
        except StorageFault as fault:
            self._disks.fail(fault)
            return ErrorCode.KAFKA_STORAGE_ERROR
        log.advance_high_watermark(log.end_offset)
        if partition.waiters:
            self._parked_fetches.appended(partition)
        if place.topic == OFFSETS_TOPIC:
            self._group_shards.at(place.partition).transaction_ended(producer_id, committed)
        return ErrorCode.NONE
