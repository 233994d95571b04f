"""Log compaction: one log at a time in each log directory, on a worker thread."""

import asyncio
import logging

from moldau.broker.broker import Broker
from moldau.core.errors import StorageFault
from moldau.node.removal import remove_later
from moldau.storage.cleaner.job import CleanerSettings, CleanJob
from moldau.storage.cleaner.log_cleaner import LogCleaner
from moldau.storage.os_files import OsFiles

_log = logging.getLogger("moldau.cleaner")


class Compaction:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cleaners = [
            LogCleaner(OsFiles(), directory, self._cleaner_settings())
            for directory in broker.disks.directories
        ]

    def start(self) -> None:
        if self._broker.configs.broker.log_cleaner_enable:
            for cleaner in self._cleaners:
                self._broker.scheduler.spawn(self._keep_clean(cleaner))

    def cancel(self) -> None:
        """Running compactions end soon; what they wrote is removed at the next start."""
        for cleaner in self._cleaners:
            cleaner.cancel_all()

    async def _keep_clean(self, cleaner: LogCleaner) -> None:
        while True:
            await asyncio.sleep(self._broker.configs.broker.log_cleaner_backoff_ms / 1000)
            try:
                cleaner.settings = self._cleaner_settings()
                while (job := cleaner.begin(self._broker.clock.now_ms())) is not None:
                    await self._clean(cleaner, job)
            except StorageFault as fault:
                self._broker.disks.fail(fault)
                return
            except OSError as error:
                _log.error(
                    "the progress of a compaction could not be saved, so it will be repeated: %s", error
                )

    async def _clean(self, cleaner: LogCleaner, job: CleanJob) -> None:
        run_in_worker = self._broker.scheduler.run_in_worker
        await run_in_worker(job.run)
        finished = cleaner.finish(job, self._broker.clock.now_ms())
        for segment in finished.retired:
            remove_later(self._broker.scheduler, segment, job.task.config.file_delete_delay_ms)
        if finished.settle is not None:
            await run_in_worker(finished.settle.run)

    def _cleaner_settings(self) -> CleanerSettings:
        """Each directory gets its share of the memory, since all may compact at the same time."""
        settings = self._broker.configs.broker
        return CleanerSettings(
            dedupe_buffer_bytes=settings.log_cleaner_dedupe_buffer_size
            // len(self._broker.disks.directories),
            load_factor=settings.log_cleaner_io_buffer_load_factor,
            io_buffer_bytes=settings.log_cleaner_io_buffer_size,
            io_bytes_per_second_max=settings.log_cleaner_io_max_bytes_per_second,
        )
