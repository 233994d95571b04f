"""Elects the primary: the instance to which Kafka's group protocol assigns the topic's only partition.

This consumer reads nothing. An elected instance becomes the primary only when its writer has fenced the others. An
instance of Confluent's registry uses the same group with another protocol type, which Kafka does not mix: the two
cannot both lead.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

POLL_S: Final = 0.1
REJOIN_S: Final = 1.0

log = logging.getLogger("moldau.registry")


class Election:
    """Calls `on_turn` about ten times a second, with whether this instance is elected."""

    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        group_id: str,
        *,
        session_timeout_ms: int,
        heartbeat_interval_ms: int,
        on_turn: Callable[[bool], None],
    ) -> None:
        self._settings: dict[str, Any] = {
            **client,
            "group.id": group_id,
            "session.timeout.ms": session_timeout_ms,
            "heartbeat.interval.ms": min(heartbeat_interval_ms, session_timeout_ms // 2),
            # A new instance must not take the partition from the primary by joining.
            "partition.assignment.strategy": "cooperative-sticky",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "logger": log,
        }
        self._topic = topic
        self._on_turn = on_turn
        self._is_elected = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="registry-election", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Leaves the group, so that another instance is elected at once."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            consumer = Consumer(self._settings)
            try:
                self._take_part(consumer)
            except KafkaException as error:
                log.warning("election: %s; joining again", error.args[0].str())
                self._stopping.wait(REJOIN_S)
            finally:
                self._is_elected = False
                self._on_turn(False)
                consumer.close()

    def _take_part(self, consumer: Consumer) -> None:
        consumer.subscribe(
            [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        while not self._stopping.is_set():
            message = consumer.poll(POLL_S)
            error = message.error() if message is not None else None
            if error is not None:
                if error.fatal():
                    raise KafkaException(error)
                self._complain(error)
            self._on_turn(self._is_elected)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if partitions:
            consumer.pause(partitions)
            self._is_elected = True

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self._is_elected = False
            self._on_turn(False)
        consumer.incremental_unassign(partitions)

    def _complain(self, error: KafkaError) -> None:
        if error.code() == KafkaError.INCONSISTENT_GROUP_PROTOCOL:
            log.error(
                "another kind of registry leads the group %s: stop it first, or set another schema.registry.group.id "
                "and kafkastore.topic",
                self._settings["group.id"],
            )
        else:
            log.warning("election: %s", error.str())
