"""Writes the dead letters of a sink's task. They are in Kafka before the offsets of their records are committed."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.runtime.source_chain import ProducerRecord
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX
from moldau.pipeline.spark.connectors.worker.topics import Topics


class DeadLettersLost(MoldauError):
    """The broker did not accept a dead letter: its record must be read again."""


class DeadLetterWriter:
    def __init__(self, settings: Mapping[str, Any], topics: Topics, replicas: int) -> None:
        self._settings = settings
        self._topics = topics
        self._replicas = replicas
        self._producer: Producer | None = None
        self._undelivered: KafkaError | None = None

    def write(self, letter: ProducerRecord) -> None:
        if self._producer is None:
            self._topics.ensure_dead_letters(letter.topic, self._replicas)
            self._producer = Producer({**self._settings, "on_delivery": self._note_undelivered})
        self._producer.produce(letter.topic, letter.value, letter.key, headers=letter.headers or [])
        self._producer.poll(0)

    def flush(self) -> None:
        """Raises DeadLettersLost."""
        if self._producer is None:
            return
        unsent = self._producer.flush(COORDINATOR_S_MAX)
        if unsent or self._undelivered is not None:
            why = self._undelivered.str() if self._undelivered is not None else "it does not answer"
            raise DeadLettersLost(f"the broker did not accept a dead letter: {why}")

    def _note_undelivered(self, error: KafkaError, message: Message) -> None:
        self._undelivered = error
