"""The status topic and the board it gives. Each worker writes the states of what it runs, without transactions."""

import logging
from collections.abc import Mapping
from typing import Final, Protocol

from confluent_kafka import KafkaError, Message, Producer

from moldau.pipeline.connect.server.state.config_records import Record
from moldau.pipeline.connect.server.state.status_board import StatusBoard
from moldau.pipeline.connect.server.topics.compacted_topic import CompactedTopic

FLUSH_S: Final = 10.0

log = logging.getLogger("moldau.connect")


class StatusStore(Protocol):
    @property
    def board(self) -> StatusBoard: ...

    @property
    def problem(self) -> str | None: ...

    def write(self, record: Record) -> None: ...

    def close(self) -> None: ...


class StatusLog:
    def __init__(self, client: Mapping[str, str], topic: str, group: str) -> None:
        self._name = topic
        self.board = StatusBoard()
        self._topic = CompactedTopic(client, topic, f"{group}-status", self.board.replay)
        self._producer = Producer(
            {
                **client,
                "enable.idempotence": True,
                # As Java's default partitioner: another worker's records of a key are in the same partition.
                "partitioner": "murmur2_random",
                "linger.ms": 0,
                "logger": log,
            }
        )

    def open(self, deadline: float) -> None:
        """Returns when everything has been replayed. Raises ConfigError."""
        self._topic.open(deadline)

    def close(self) -> None:
        self._producer.flush(FLUSH_S)
        self._topic.close()

    @property
    def problem(self) -> str | None:
        return self._topic.failure

    def write(self, record: Record) -> None:
        """Returns at once. A state that could not be written is written again when it changes."""
        key, value = record
        self._producer.produce(self._name, value, key, on_delivery=self._delivered)
        self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            log.warning("a state could not be written to %s: %s", self._name, error.str())


class LocalStatuses:
    """States in memory, for a standalone worker."""

    problem = None

    def __init__(self) -> None:
        self.board = StatusBoard()

    def write(self, record: Record) -> None:
        key, value = record
        self.board.replay(key, value, 0)

    def close(self) -> None:
        pass
