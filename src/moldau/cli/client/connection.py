"""The connection to a Kafka cluster: librdkafka clients, and answers or a `Failure`.

Knows the client library, not the commands. Errors that librdkafka would log are kept and reported only when a
request gets no answer.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import Any, TypeVar

import click
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, ClusterMetadata, TopicDescription

from moldau.cli.client.addresses import require_listener
from moldau.cli.client.mismatch import mismatch
from moldau.cli.client.wire import Address, Wire
from moldau.cli.client.wire_security import Security
from moldau.cli.failures import ADVERTISED_HINT, Failure, refused, unknown_topic
from moldau.core.ids import TopicPartition

Answer = TypeVar("Answer")

POLL_S = 0.1
LOOK_AFTER_S = 0.5
"""Without an answer after so long, it is looked whether TLS and logins fit."""
AUTO_CREATE_S = 3.0
COMPLAINTS_MAX = 100
# Waiting does not help with these.
HOPELESS = {KafkaError._AUTHENTICATION, KafkaError._SSL}
_NO_ANSWER = {
    KafkaError._TIMED_OUT,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
}


class Cluster:
    def __init__(self, bootstrap_servers: str, properties: Mapping[str, str], timeout_s: float) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.timeout_s = timeout_s
        self.properties = dict(properties)
        self._complaints: deque[KafkaError] = deque(maxlen=COMPLAINTS_MAX)
        self._has_looked = False

    @cached_property
    def admin(self) -> AdminClient:
        require_listener(self.bootstrap_servers)
        return self._client(AdminClient, {})

    @cached_property
    def wire(self) -> Wire:
        return Wire(self.bootstrap_servers, Security(self.properties), self.timeout_s)

    def close(self) -> None:
        self.wire.close()

    def producer(self, settings: Mapping[str, object]) -> Producer:
        return self._client(Producer, settings)

    def consumer(self, settings: Mapping[str, object]) -> Consumer:
        return self._client(Consumer, settings)

    def _client(self, kind: Callable[[dict[str, Any]], Answer], settings: Mapping[str, object]) -> Answer:
        complete: dict[str, Any] = {
            "client.id": "moldau-cli",
            "log_level": 0,
            "socket.keepalive.enable": True,
            **settings,
            **self.properties,
            "bootstrap.servers": self.bootstrap_servers,
            "error_cb": self._complaints.append,
        }
        try:
            return kind(complete)
        except KafkaException as error:
            raise click.UsageError(
                f"The Kafka client rejects its settings: {error.args[0].str()}."
            ) from error

    def wait(self, future: "Future[Answer]", doing: str) -> Answer:
        """The answer to a request. `doing` completes the message "cannot ..."."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            self.admin.poll(0)
            try:
                return future.result(timeout=POLL_S)
            except KafkaException as error:
                raise self.failure(error.args[0], doing) from error
            except TimeoutError:
                self._give_up_if_hopeless(doing, deadline)

    def _give_up_if_hopeless(self, doing: str, deadline: float) -> None:
        self.raise_complaint(HOPELESS, doing)
        if time.monotonic() > deadline - self.timeout_s + LOOK_AFTER_S:
            self._look_at_listener(doing)
        if time.monotonic() > deadline:
            raise self.no_answer(doing)

    def raise_complaint(self, codes: Collection[int], doing: str) -> None:
        """Raises a Failure if the client has reported an error with one of the codes."""
        complaint = next((error for error in self._complaints if error.code() in codes), None)
        if complaint is not None:
            if complaint.code() in HOPELESS:
                self._look_at_listener(doing)
            raise refused(complaint, doing)

    def _look_at_listener(self, doing: str) -> None:
        """Raises a Failure, once, if TLS or logins do not fit the brokers' listener."""
        if self._has_looked:
            return
        self._has_looked = True
        address = require_listener(self.bootstrap_servers)
        found = mismatch(address, Security(self.properties), self.timeout_s)
        if found is not None:
            raise Failure(f"cannot {doing}: {found.message}", found.hint)

    def failure(self, error: KafkaError, doing: str) -> Failure:
        return self.no_answer(doing) if error.code() in _NO_ANSWER else refused(error, doing)

    def no_answer(self, doing: str) -> Failure:
        """The failure of an unanswered request, with the last error that the client reported."""
        message = f"cannot {doing}: no answer from {self.bootstrap_servers} within {self.timeout_s:g} s"
        reported = [error for error in self._complaints if error.code() != KafkaError._ALL_BROKERS_DOWN]
        if not reported:
            return Failure(
                message + ".", "Is this a Kafka broker, and is it healthy? --timeout SECONDS waits longer."
            )
        last = reported[-1].str()
        elsewhere = "/bootstrap" not in last.partition(": ")[0]
        hint = (
            ADVERTISED_HINT
            if elsewhere
            else "Is this a Kafka broker, and is security.protocol correct? --timeout SECONDS waits longer."
        )
        return Failure(f"{message}. The client reports: {last}", hint)

    def topic_names(self) -> Mapping[str, Sequence[Collection[int]]]:
        """All topics, with the replicas of each partition."""
        return {
            name: [topic.partitions[index].replicas for index in sorted(topic.partitions)]
            for name, topic in sorted(self._metadata("list topics").topics.items())
        }

    def leaders(self) -> Mapping[TopicPartition, Address]:
        """The address of the leader of each partition that has one."""
        metadata = self._metadata("find the leaders of partitions")
        return {
            TopicPartition(name, partition): Address(str(leader.host), leader.port)
            for name, topic in metadata.topics.items()
            for partition, part in topic.partitions.items()
            if (leader := metadata.brokers.get(part.leader)) is not None
        }

    def _metadata(self, doing: str, topic: str | None = None) -> ClusterMetadata:
        """The library's call cannot be interrupted, so it is retried with growing timeouts."""
        deadline = time.monotonic() + self.timeout_s
        patience_s = 5 * POLL_S
        while True:
            try:
                return self.admin.list_topics(topic, timeout=patience_s)
            except KafkaException as error:
                self.admin.poll(0)
                if error.args[0].code() not in _NO_ANSWER:
                    raise self.failure(error.args[0], doing) from error
                self._give_up_if_hopeless(doing, deadline)
                patience_s = max(POLL_S, min(patience_s * 2, deadline - time.monotonic()))

    def find_topic(self, topic: str) -> TopicDescription | None:
        return self._find_topics([topic])[topic]

    def _find_topics(self, topics: Sequence[str]) -> Mapping[str, TopicDescription | None]:
        """Describes all in one request. None for topics that do not exist."""
        try:
            futures = self.admin.describe_topics(TopicCollection(list(topics))) if topics else {}
        except ValueError as error:
            names = ", ".join(f"'{topic}'" for topic in topics)
            raise Failure(f"{names} is not a topic name: {error}.") from error
        found: dict[str, TopicDescription | None] = {}
        for topic, future in futures.items():
            try:
                found[topic] = self.wait(future, f"describe topic '{topic}'")
            except Failure as failure:
                if failure.code != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
                found[topic] = None
        return found

    def describe_topic(self, topic: str) -> TopicDescription:
        return self.describe_topics([topic])[0]

    def describe_topics(self, topics: Sequence[str]) -> Sequence[TopicDescription]:
        """In the order given. Raises Failure if a topic does not exist."""
        found = self._find_topics(list(dict.fromkeys(topics)))
        descriptions = []
        for topic in topics:
            description = found[topic]
            if description is None:
                raise self.unknown_topic(topic)
            descriptions.append(description)
        return descriptions

    def auto_create_topic(self, topic: str) -> TopicDescription | None:
        """Requests metadata like a producer, which creates the topic if the brokers allow that."""
        deadline = time.monotonic() + min(AUTO_CREATE_S, self.timeout_s)
        while time.monotonic() < deadline:
            self._metadata(f"create topic '{topic}'", topic)
            found = self.find_topic(topic)
            if found is not None and all(part.leader for part in found.partitions):
                return found
            time.sleep(POLL_S)
        return None

    def unknown_topic(self, topic: str) -> Failure:
        return unknown_topic(topic, self.bootstrap_servers, self.topic_names())
