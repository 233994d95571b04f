"""Transactional producers, step by step, with confluent-kafka and with the Java client.

librdkafka speaks the first version of the transaction protocol, the Java client the second (KIP-890). Failures are
ClientFailure with Kafka's name of the error, or the library's own.
"""

import base64
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from compat.client import ClientFailure
from compat.confluent_client import failure_of, librdkafka_settings
from compat.groups.confluent_member import ConfluentMember
from compat.groups.java_member import JavaMember, offsets_written
from compat.groups.java_pipe import JavaPipe
from compat.groups.member import Committed, Member, Place
from compat.groups.waiting import TIMEOUT_S

SETTINGS = {"linger.ms": "0", "retry.backoff.ms": "50"}
FENCED = {"PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "_FENCED"}
"""What a producer is told when a younger one with its transactional id is there."""

_serial = itertools.count()


class Transactional(Protocol):
    def begin(self) -> None: ...

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        """Returns when all are acknowledged."""

    def send_offsets(self, offsets: Mapping[Place, Committed], member: Member) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None:
        """Without a word to the coordinator."""


class ConfluentTransactional:
    def __init__(self, bootstrap: str, transactional_id: str, settings: Mapping[str, str]) -> None:
        identity = {"transactional.id": transactional_id}
        self._producer = Producer(librdkafka_settings(bootstrap, SETTINGS | identity | dict(settings)))
        _checked(lambda: self._producer.init_transactions(TIMEOUT_S))

    def begin(self) -> None:
        _checked(self._producer.begin_transaction)

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        failures: list[KafkaError] = []
        for value in values:
            self._producer.produce(
                topic,
                value=value,
                partition=partition,
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        _checked(lambda: self._producer.flush(TIMEOUT_S))
        if failures:
            raise failure_of(failures[0])

    def send_offsets(self, offsets: Mapping[Place, Committed], member: Member) -> None:
        assert isinstance(member, ConfluentMember)
        places = [
            TopicPartition(topic, partition, offset, metadata)
            for (topic, partition), (offset, metadata) in offsets.items()
        ]
        membership = member.group_metadata()
        _checked(lambda: self._producer.send_offsets_to_transaction(places, membership, TIMEOUT_S))

    def commit(self) -> None:
        _checked(lambda: self._producer.commit_transaction(TIMEOUT_S))

    def abort(self) -> None:
        _checked(lambda: self._producer.abort_transaction(TIMEOUT_S))

    def close(self) -> None:
        del self._producer


class JavaTransactional:
    def __init__(
        self, pipe: JavaPipe, bootstrap: str, transactional_id: str, settings: Mapping[str, str]
    ) -> None:
        self._pipe = pipe
        self._handle = f"{transactional_id}/{next(_serial)}"
        identity = {"transactional.id": transactional_id, "max.block.ms": "20000"}
        self._call("txn_open", bootstrap=bootstrap, settings=SETTINGS | identity | dict(settings))

    def begin(self) -> None:
        self._call("txn_begin")

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        encoded = [base64.b64encode(value).decode() for value in values]
        self._call("txn_send", topic=topic, partition=partition, values=encoded)

    def send_offsets(self, offsets: Mapping[Place, Committed], member: Member) -> None:
        assert isinstance(member, JavaMember)
        self._call("txn_send_offsets", offsets=offsets_written(offsets), member=member.handle)

    def send_offsets_of(
        self, offsets: Mapping[Place, Committed], group: str, generation: int, member_id: str
    ) -> None:
        """As if of a member that need not be one."""
        identity = [group, generation, member_id]
        self._call("txn_send_offsets", offsets=offsets_written(offsets), group=identity)

    def commit(self) -> None:
        self._call("txn_commit")

    def abort(self) -> None:
        self._call("txn_abort")

    def close(self) -> None:
        self._call("txn_close")

    def _call(self, operation: str, **arguments: Any) -> None:
        self._pipe.call(self._handle, operation, producer=self._handle, **arguments)


def _checked(action: Callable[[], object]) -> None:
    try:
        action()
    except KafkaException as failure:
        raise failure_of(failure.args[0]) from None


def refusal_of(action: Callable[[], object]) -> str:
    """The name of the error with which it fails."""
    try:
        action()
    except ClientFailure as failure:
        return failure.code
    raise AssertionError("it was not refused")
