"""Writes what a leader sent to the logs of the partitions that follow it: appends, truncates, starts over, flushes.

Batches are stored byte for byte as the leader stored them. What to do with an answer is decided by
`replication.follower_step`.
"""

import asyncio
import logging
from collections.abc import Sequence

from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.flusher import Flusher
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.environment import RemoveLater
from moldau.cluster.replication.follower_step import LogEnd, Retry, StartOver, Step, Truncate, decide_step
from moldau.cluster.replication.throttle import ReplicationThrottle, is_throttled
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId
from moldau.core.ports import Clock, Scheduler
from moldau.protocol.messages.log.fetch import PartitionData
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.segments.segment import RetiredSegment

_log = logging.getLogger("moldau.replication")


class FollowerLogs:
    def __init__(
        self,
        broker_id: BrokerId,
        *,
        clock: Clock,
        scheduler: Scheduler,
        disks: Disks,
        flusher: Flusher,
        parked_fetches: ParkedFetches,
        throttle: ReplicationThrottle,
        remove_later: RemoveLater,
    ) -> None:
        self._broker_id = broker_id
        self._clock = clock
        self._scheduler = scheduler
        self._disks = disks
        self._flusher = flusher
        self._parked_fetches = parked_fetches
        self._throttle = throttle
        self._remove_later = remove_later

    async def take(self, partition: Partition, log: PartitionLog, data: PartitionData) -> Step:
        """Does with the leader's answer what the returned step says. StorageFault; ApiError when the leader's batches
        are invalid."""
        step = decide_step(
            LogEnd(log.end_offset, log.end_offset_for_epoch),
            ErrorCode(data.error_code),
            data.diverging_epoch.epoch,
            data.diverging_epoch.end_offset,
            data.log_start_offset,
        )
        match step:
            case Truncate(offset):
                _log.info(
                    "%s: truncating from offset %d to %d, where it diverges from its leader's log, in epoch %d",
                    log.topic_partition, log.end_offset, offset, partition.leader_epoch,
                )  # fmt: skip
                await self._retire(log, log.truncate_to(offset, now_ms=self._clock.now_ms()))
            case StartOver(offset):
                _log.warning(
                    "%s: the leader's log starts at offset %d, after the end of this one: starting over there",
                    log.topic_partition, offset,
                )  # fmt: skip
                await self._retire(log, log.truncate_fully_and_start_at(offset, now_ms=self._clock.now_ms()))
            case Retry():
                pass
            case _:
                self._store(partition, log, data)
        return step

    async def flush(self, logs: Sequence[PartitionLog]) -> None:
        """A fetch from an offset tells the leader that everything before it is stored: on disk, if the topic's
        settings ask for that."""
        done = asyncio.Event()
        self._flusher.after_flush(logs, lambda _: done.set())
        await done.wait()

    def _store(self, partition: Partition, log: PartitionLog, data: PartitionData) -> None:
        if data.records:
            log.append_as_follower(memoryview(data.records), now_ms=self._clock.now_ms())
            if is_throttled(log.config.follower_throttled_replicas, partition.index, self._broker_id):
                self._throttle.record(len(data.records), self._clock.monotonic_ms())
        if data.high_watermark > log.high_watermark:
            log.advance_high_watermark(data.high_watermark)
            if partition.waiters:
                self._parked_fetches.appended(partition)
        if log.start_offset < data.log_start_offset <= log.high_watermark:
            log.delete_records_before(data.log_start_offset)

    async def _retire(self, log: PartitionLog, retired: Sequence[RetiredSegment]) -> None:
        """Writes the checkpoints before anything is appended again: they must not vouch for truncated records."""
        for segment in retired:
            self._remove_later(segment, log.config.file_delete_delay_ms)
        for directory in self._disks.online():
            if directory.logs.get(log.topic_partition) is log:
                await self._scheduler.run_in_worker(directory.begin_checkpoints().run)
