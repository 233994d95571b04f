"""Reads a topic of MirrorMaker's own, which has one partition: first all of it, then what is added."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.connectors.mirror.cluster import made

RECORDS_PER_CALL: Final = 10_000
FIRST_S: Final = 0.2
SILENT_S_MAX: Final = 60.0


class TopicReader:
    def __init__(self, settings: Mapping[str, Any], topic: str) -> None:
        """The topic must exist."""
        self._topic = topic
        self._consumer = made(
            Consumer,
            {
                "group.id": f"mirror-{topic}",
                **settings,
                "enable.auto.commit": "false",
                "enable.partition.eof": "true",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                # The end is only seen in an answer, which must not wait for new records while there are some to read.
                "fetch.wait.max.ms": "100",
            },
        )
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._has_read_all = False

    def new(self) -> Iterator[tuple[bytes, bytes | None]]:
        """The first time, everything that is there. Raises RetriableError if the topic cannot be read."""
        deadline = time.monotonic() + SILENT_S_MAX
        while True:
            found = self._consumer.consume(RECORDS_PER_CALL, 0)
            if not found and not self._has_read_all:
                # With a number, it waits until so many are there.
                found = self._consumer.consume(1, FIRST_S)
            for message in found:
                error = message.error()
                if error is None:
                    yield message.key() or b"", message.value()
                elif error.code() == KafkaError._PARTITION_EOF:
                    self._has_read_all = True
                else:
                    raise RetriableError(f"{self._topic} cannot be read: {error.str()}") from KafkaException(
                        error
                    )
            if self._has_read_all and not found:
                return
            if not found and time.monotonic() > deadline:
                raise RetriableError(f"{self._topic} cannot be read to its end within {SILENT_S_MAX:.0f} s")

    def close(self) -> None:
        self._consumer.close()
