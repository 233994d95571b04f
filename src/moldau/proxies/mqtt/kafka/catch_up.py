"""Reads what one session has missed, until it is where the live reader is."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from confluent_kafka import Message

from moldau.proxies.mqtt.kafka.partitions import PartitionReader
from moldau.proxies.mqtt.session.messages import Partition

AT_ONCE_MAX: Final = 8
"""Each has a consumer with threads of its own."""

log = logging.getLogger("moldau.mqtt")


class MissedRecords:
    """Records of some partitions from given offsets on."""

    def __init__(self, reader: PartitionReader) -> None:
        self._reader = reader

    async def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The offset after the last committed record, of each."""
        return {one: await self._reader.on_thread(self._reader.end_of, one) for one in partitions}

    async def begin(self, starts: Mapping[Partition, int]) -> None:
        """Reads from these offsets on."""
        await self._reader.on_thread(self._reader.assign, dict(starts))

    async def take(self) -> list[Message]:
        """What has come, after a short wait at most; errors among them, the ends of partitions too."""
        return await self._reader.on_thread(self._reader.take)


class CatchUp:
    """Lends consumers to sessions that are behind; so many at once that the machine bears it."""

    def __init__(self, client: Mapping[str, str], proxy_id: str) -> None:
        self._client = client
        self._proxy_id = proxy_id
        self._free = asyncio.Semaphore(AT_ONCE_MAX)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[MissedRecords]:
        """Waits for its turn."""
        async with self._free:
            reader = PartitionReader(self._client, f"{self._proxy_id}-missed")
            try:
                yield MissedRecords(reader)
            finally:
                reader.close_later()
