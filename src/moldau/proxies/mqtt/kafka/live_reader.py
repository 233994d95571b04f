"""Reads all topics at their end, once for all who are subscribed. Runs only while somebody is."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaException, Message

from moldau.proxies.mqtt.kafka.partitions import PartitionReader
from moldau.proxies.mqtt.session.messages import Partition

REFRESH_S: Final = 1.0
RETRY_S: Final = 0.5

log = logging.getLogger("moldau.mqtt")


class LiveReader:
    """`next` is the owner's word on how far has been read: the handler updates it, record by record."""

    def __init__(
        self,
        client: Mapping[str, str],
        pattern: Any,
        proxy_id: str,
        handle: Callable[[list[Message]], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._client = client
        self._pattern = pattern
        self._proxy_id = proxy_id
        self._handle = handle
        self._on_failure = on_failure
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Event = asyncio.Event()
        self.next: dict[Partition, int] = {}
        """The offset after the last record that was handed out, of every partition."""

    @property
    def is_running(self) -> bool:
        return self._task is not None

    async def ensure(self) -> None:
        """Returns when records that are written from now on are read."""
        if self._task is None:
            self._ready.clear()
            self._task = asyncio.create_task(self._run(), name="mqtt-live")
            self._task.add_done_callback(self._ended)
        await self._ready.wait()

    async def stop(self) -> None:
        """Positions are unknown after that."""
        task, self._task = self._task, None
        self.next = {}
        self._ready = asyncio.Event()
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        failure = None if task.cancelled() else task.exception()
        if failure is not None:
            self._on_failure(failure)

    async def _run(self) -> None:
        reader = PartitionReader(self._client, f"{self._proxy_id}-live")
        try:
            ready = self._ready
            await self._start(reader)
            ready.set()
            refresh_at = time.monotonic() + REFRESH_S
            while True:
                messages = await reader.on_thread(reader.take)
                if messages:
                    self._handle(messages)
                if time.monotonic() >= refresh_at:
                    await self._find_new(reader)
                    refresh_at = time.monotonic() + REFRESH_S
        finally:
            reader.close_later()

    async def _start(self, reader: PartitionReader) -> None:
        while True:
            try:
                self.next = await reader.on_thread(self._ends, reader)
                break
            except KafkaException as error:
                log.warning("finding the ends of topics: %s; trying again", error.args[0].str())
                await asyncio.sleep(RETRY_S)
        if self.next:
            await reader.on_thread(reader.assign, dict(self.next))

    def _ends(self, reader: PartitionReader) -> dict[Partition, int]:
        return {partition: reader.end_of(partition) for partition in reader.partitions(self._pattern)}

    async def _find_new(self, reader: PartitionReader) -> None:
        """A partition that was not there when the reader started is read from its beginning."""
        try:
            found = await reader.on_thread(reader.partitions, self._pattern)
        except KafkaException as error:
            log.warning("looking for new topics: %s; trying again", error.args[0].str())
            return
        new = {partition: 0 for partition in found if partition not in self.next}
        if new:
            self.next.update(new)
            await reader.on_thread(reader.assign, new)
