"""Follows the topic with retained messages: those of this proxy, and those of the others that share it."""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.kafka.partitions import PartitionReader
from moldau.proxies.mqtt.mapping.records import message_of, topic_of
from moldau.proxies.mqtt.session.messages import Partition
from moldau.proxies.mqtt.session.retained import RetainedMessages

FETCH_WAIT_MS: Final = 1_000
"""It reads all the time, and mostly nothing comes."""

LOOK_S: Final = 1.0
"""Between looks for writes whose records have been compacted away before they were read."""

log = logging.getLogger("moldau.mqtt")


class RetainedLog:
    """`load` once, then `run`; on the event loop."""

    def __init__(
        self, client: Mapping[str, str], topic: str, proxy_id: str, retained: RetainedMessages
    ) -> None:
        self._topic = topic
        self._retained = retained
        self._look_at = 0.0
        self._reader = PartitionReader(client, f"{proxy_id}-retained", fetch_wait_ms=FETCH_WAIT_MS)

    async def load(self, timeout_s: float) -> None:
        """Returns when all that is there has been read. Raises ConfigError."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._reader.on_thread(self._reader.assign, {Partition(self._topic, 0): 0})
                while not await self._take():
                    pass
        except TimeoutError:
            raise ConfigError(
                f"cannot read the topic {self._topic} to its end in time (start.timeout.ms)"
            ) from None
        except KafkaException as error:
            raise ConfigError(f"cannot read the topic {self._topic}: {error.args[0].str()}") from None

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._take()

    def close(self) -> None:
        """When it has ended."""
        self._reader.close_later()

    async def _take(self) -> bool:
        """Whether the end was reached."""
        is_end = False
        for record in await self._reader.on_thread(self._reader.take):
            error, offset = record.error(), record.offset() or 0
            if error is None:
                topic, value = topic_of("", record.key(), None), record.value()
                _, timestamp_ms = record.timestamp()
                message = None
                if value:
                    message = message_of("", None, value, record.headers(), timestamp_ms, topic)
                if topic:
                    self._retained.take(topic, message, offset)
            elif error.code() == KafkaError._PARTITION_EOF:
                is_end = True
                if time.monotonic() >= self._look_at:
                    self._look_at = time.monotonic() + LOOK_S
                    self._retained.take_end(offset)
            else:
                log.warning("reading the topic %s: %s", self._topic, error.str())
        return is_end
