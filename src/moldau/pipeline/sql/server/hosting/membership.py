"""Which servers share a service id, and which of them hosts the persistent queries.

The one to which Kafka's group protocol assigns the command topic's only partition. This consumer reads nothing. The
members carry their addresses as client ids, so that every server knows the others.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.pipeline.sql.server.groups import Member, members_of
from moldau.pipeline.sql.server.requests import HostStatus

POLL_S: Final = 0.1
REJOIN_S: Final = 1.0
ASK_EVERY_S: Final = 5.0

log = logging.getLogger("moldau.sql")


class Membership:
    """Calls `on_turn` when this server becomes the host, or is it no longer."""

    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        url: str,
        *,
        session_timeout_ms: int,
        heartbeat_interval_ms: int,
        on_turn: Callable[[bool], None],
    ) -> None:
        self._group = f"{topic}_hosts"
        self._client = client
        self._settings: dict[str, Any] = {
            **client,
            "client.id": url,
            "group.id": self._group,
            "session.timeout.ms": session_timeout_ms,
            "heartbeat.interval.ms": min(heartbeat_interval_ms, session_timeout_ms // 2),
            # A new server must not take the queries from the one that hosts them by joining.
            "partition.assignment.strategy": "cooperative-sticky",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "logger": log,
        }
        self._topic = topic
        self._url = url
        self._on_turn = on_turn
        self._silent_ms = session_timeout_ms
        self.is_host = False
        self._seen: dict[str, HostStatus] = {}
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="sql-membership", daemon=True),
            threading.Thread(target=self._watch, name="sql-members", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Leaves the group, so that another server takes over at once."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def hosts(self) -> tuple[HostStatus, ...]:
        """This server and those that are, or lately were, members."""
        now_ms = int(time.time() * 1000)
        own = HostStatus(_host(self._url), True, now_ms, self.is_host)
        others = [status for name, status in sorted(self._seen.items()) if name != own.host]
        return (own, *others)

    def _run(self) -> None:
        while not self._stopping.is_set():
            consumer = Consumer(self._settings)
            try:
                self._take_part(consumer)
            except KafkaException as error:
                log.warning("membership: %s; joining again", error.args[0].str())
                self._stopping.wait(REJOIN_S)
            finally:
                self._turn(is_host=False)
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
                log.warning("membership: %s", error.str())

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if partitions:
            consumer.pause(partitions)
            self._turn(is_host=True)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self._turn(is_host=False)
        consumer.incremental_unassign(partitions)

    def _turn(self, *, is_host: bool) -> None:
        if is_host != self.is_host:
            self.is_host = is_host
            log.info("this server %s the persistent queries", "hosts" if is_host else "no longer hosts")
            self._on_turn(is_host)

    def _watch(self) -> None:
        """Asks for the members now and then; a member that is gone stays known, as one that is not alive."""
        admin = AdminClient({**self._client, "log_level": 0})
        while not self._stopping.is_set():
            try:
                self._see(members_of(admin, self._group).get(self._group, []))
            except KafkaException as error:
                log.debug("the members of %s are not known: %s", self._group, error)
            self._stopping.wait(ASK_EVERY_S)

    def _see(self, members: list[Member]) -> None:
        now_ms = int(time.time() * 1000)
        seen = {name: _gone(status) for name, status in self._seen.items()}
        for member in members:
            name = _host(member.client_id)
            seen[name] = HostStatus(name, True, now_ms, hosts_queries=bool(member.topics))
        self._seen = seen


def _host(url: str) -> str:
    return url.rpartition("://")[2]


def _gone(status: HostStatus) -> HostStatus:
    return HostStatus(status.host, False, status.last_seen_ms)
