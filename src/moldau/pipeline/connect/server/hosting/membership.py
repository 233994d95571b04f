"""Shares the work among the workers of a group: Kafka's group protocol assigns the partitions of the offsets topic.

This consumer reads nothing. A partition that moves is revoked first: its work has ended here before another worker
begins it.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from moldau.pipeline.connect.server.hosting.shares import Shares

POLL_S: Final = 0.1
REJOIN_S: Final = 1.0

log = logging.getLogger("moldau.connect")

OnShares = Callable[[Shares, bool], None]
"""The shares of this worker from now on. If the flag is set, returns only when everything else has ended."""


class Membership:
    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        group: str,
        worker_id: str,
        *,
        session_timeout_ms: int,
        heartbeat_interval_ms: int,
        on_shares: OnShares,
    ) -> None:
        self._settings: dict[str, Any] = {
            **client,
            "client.id": worker_id,
            "group.id": group,
            "session.timeout.ms": session_timeout_ms,
            "heartbeat.interval.ms": min(heartbeat_interval_ms, session_timeout_ms // 2),
            # A worker that joins must not move work it need not move.
            "partition.assignment.strategy": "cooperative-sticky",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "logger": log,
        }
        self._topic = topic
        self._group = group
        self._on_shares = on_shares
        self._count = 1
        self._owned: frozenset[int] = frozenset()
        self.has_joined = threading.Event()
        """Set once this worker has had an answer from the group."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connect-membership", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the work, then leaves the group, so that other workers take over at once."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            consumer = Consumer(self._settings)
            try:
                self._take_part(consumer)
            except KafkaException as error:
                log.warning("membership of %s: %s; joining again", self._group, error.args[0].str())
                self._stopping.wait(REJOIN_S)
            finally:
                self._own(frozenset(), waits=self._stopping.is_set())
                consumer.close()

    def _take_part(self, consumer: Consumer) -> None:
        self._count = len(consumer.list_topics(self._topic, timeout=10).topics[self._topic].partitions)
        consumer.subscribe(
            [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        while not self._stopping.is_set():
            message = consumer.poll(POLL_S)
            error = message.error() if message is not None else None
            if error is not None:
                if error.fatal():
                    raise KafkaException(error)
                log.warning("membership of %s: %s", self._group, error.str())

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if partitions:
            consumer.pause(partitions)
        self._own(self._owned | _numbers(partitions), waits=False)
        self.has_joined.set()

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._own(self._owned - _numbers(partitions), waits=True)
        consumer.incremental_unassign(partitions)

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Other workers have them already: there is nothing to wait for."""
        self._own(self._owned - _numbers(partitions), waits=False)
        consumer.incremental_unassign(partitions)

    def _own(self, owned: frozenset[int], *, waits: bool) -> None:
        if owned != self._owned:
            self._owned = owned
            log.info("this worker has %d of %d shares of %s", len(owned), self._count, self._group)
            self._on_shares(Shares(self._count, owned), waits)


def _numbers(partitions: list[TopicPartition]) -> frozenset[int]:
    return frozenset(partition.partition for partition in partitions)
