"""A broker's periodic tasks: retention, flushing, checkpoints, expiry of idle producers.

Walks the partitions in slices on the owner's thread and hands file work to workers, so that requests are not delayed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from moldau.broker.broker import Broker
from moldau.core.errors import StorageFault
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.node.removal import remove_later
from moldau.storage.log.partition_log import PartitionLog

_log = logging.getLogger("moldau.housekeeping")

LOGS_PER_SLICE: Final = 200
FLUSH_CHECK_MS: Final = 1000
"""How often logs are checked for `flush.ms` and for rolled segments; Kafka's own interval defaults to never."""

Task = Callable[[], Awaitable[None]]


class Housekeeping:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def start(self) -> None:
        settings = self._settings
        delay_ms = settings.log_initial_task_delay_ms
        self._repeat(self._apply_retention, lambda: self._settings.log_retention_check_interval_ms, delay_ms)
        self._repeat(self._flush_due, lambda: FLUSH_CHECK_MS, FLUSH_CHECK_MS)
        self._repeat(
            self._write_checkpoints, lambda: self._settings.log_flush_offset_checkpoint_interval_ms, delay_ms
        )
        self._repeat(
            self._expire_producers, lambda: self._settings.producer_id_expiration_check_interval_ms, delay_ms
        )

    @property
    def _settings(self) -> BrokerSettings:
        return self._broker.configs.broker

    def _repeat(self, task: Task, interval_ms: Callable[[], int], delay_ms: int) -> None:
        async def repeat() -> None:
            await asyncio.sleep(min(delay_ms, interval_ms()) / 1000)
            while True:
                try:
                    await task()
                except StorageFault as fault:
                    self._broker.disks.fail(fault)
                await asyncio.sleep(interval_ms() / 1000)

        self._broker.scheduler.spawn(repeat())

    async def _logs(self) -> AsyncIterator[PartitionLog]:
        for count, partition in enumerate(list(self._broker.partitions), 1):
            if partition.log is not None:
                yield partition.log
            if count % LOGS_PER_SLICE == 0:
                await asyncio.sleep(0)

    async def _apply_retention(self) -> None:
        now_ms = self._broker.clock.now_ms()
        async for log in self._logs():
            for segment in log.apply_retention(now_ms):
                _log.info(
                    "%s: deleting the segment at offset %d %s",
                    log.topic_partition,
                    segment.base_offset,
                    segment.reason,
                )
                remove_later(self._broker.scheduler, segment, log.config.file_delete_delay_ms)

    async def _flush_due(self) -> None:
        now_ms = self._broker.clock.now_ms()
        async for log in self._logs():
            if log.flush_due(now_ms):
                self._broker.flusher.flush(log)
            elif log.flush_state.has_rolled:
                self._broker.flusher.flush_rolled(log)

    async def _write_checkpoints(self) -> None:
        for directory in self._broker.disks.online():
            job = directory.begin_checkpoints()
            await self._broker.scheduler.run_in_worker(job.run)

    async def _expire_producers(self) -> None:
        now_ms = self._broker.clock.now_ms()
        async for log in self._logs():
            log.expire_producers(now_ms)
