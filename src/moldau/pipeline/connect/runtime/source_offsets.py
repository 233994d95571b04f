"""The offsets of source connectors in Kafka Connect's format: key `["NAME",{partition}]`, value `{offset}`, as JSON.

A compacted topic keeps the last offset of each partition of a source. Tasks write it in the transaction of their
records. Two keys with the same content but another order of fields, as another writer may produce, are one partition
here: a new offset is written under the key that was found.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

import orjson
from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.api import Offset

PARTITIONS: Final = 25
ANSWER_S_MAX: Final = 30.0
SILENT_S_MAX: Final = 90.0
MESSAGES_PER_CALL: Final = 10_000


class OffsetsUnreadable(MoldauError):
    """The offsets topic could not be read to its end."""


class Stored(NamedTuple):
    key: bytes
    """As it was written."""
    offset: Offset


class SourceOffsets:
    """Of one connector."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stored: dict[bytes, Stored] = {}
        self._keys: dict[bytes, bytes] = {}

    def take(self, key: bytes, value: bytes | None) -> None:
        """Replays a record of the topic. Those of other connectors, and what nobody can read, are skipped."""
        partition = partition_in(key, self._name)
        if partition is None:
            return
        canonical = _canonical(partition)
        self._keys[canonical] = key
        offset = _object(value)
        if offset is None:
            self._stored.pop(canonical, None)
        else:
            self._stored[canonical] = Stored(key, offset)

    def of(self, partition: Mapping[str, Any]) -> Offset | None:
        found = self._stored.get(_canonical(partition))
        return None if found is None else found.offset

    def record(self, partition: Mapping[str, Any], offset: Offset | None) -> tuple[bytes, bytes | None]:
        """Key and value to write. None as the offset deletes it."""
        key = self._keys.get(_canonical(partition)) or orjson.dumps([self._name, partition])
        return key, None if offset is None else orjson.dumps(offset)

    def all(self) -> list[tuple[Mapping[str, Any], Offset]]:
        """Partition and offset, in the order of the keys."""
        found = [(partition_in(one.key, self._name), one.offset) for one in self._stored.values()]
        return sorted(
            ((partition, offset) for partition, offset in found if partition is not None),
            key=lambda one: _canonical(one[0]),
        )


def partition_in(key: bytes | None, name: str) -> Mapping[str, Any] | None:
    """The partition of the source, if the key belongs to this connector."""
    try:
        found = orjson.loads(key or b"")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(found, list) or len(found) != 2 or found[0] != name or not isinstance(found[1], dict):
        return None
    return cast(Mapping[str, Any], found[1])


def _canonical(partition: Mapping[str, Any]) -> bytes:
    return orjson.dumps(partition, option=orjson.OPT_SORT_KEYS)


def _object(value: bytes | None) -> Offset | None:
    if value is None:
        return None
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def read_offsets(
    clients: Mapping[str, Any],
    topic: str,
    name: str,
    *,
    silent_s_max: float = SILENT_S_MAX,
    stopping: Callable[[], bool] = lambda: False,
) -> SourceOffsets:
    """What is committed now. Waits for open transactions in the topic: one of them may be this connector's. `clients`
    are librdkafka's settings, with `bootstrap.servers`. A topic that does not exist has no offsets. Raises
    OffsetsUnreadable, also when it is to stop."""
    found = SourceOffsets(name)
    ends = _ends(AdminClient(dict(clients)), topic)
    unread = {partition for partition, end in ends.items() if end > 0}
    if not unread:
        return found
    consumer = Consumer(
        {
            **clients,
            "group.id": f"connect-{name}-offsets",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": "50",
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in sorted(unread)])
        deadline = time.monotonic() + silent_s_max
        while unread:
            _read(consumer, found, ends, unread)
            if unread and (stopping() or time.monotonic() > deadline):
                raise OffsetsUnreadable(
                    f"the offsets in {topic} cannot be read to their end: a transaction in partition "
                    f"{min(unread)} stays open. Find it with `moldau transactions`, and abort it"
                )
    finally:
        consumer.close()
    return found


def _read(consumer: Consumer, found: SourceOffsets, ends: Mapping[int, int], unread: set[int]) -> None:
    for message in consumer.consume(MESSAGES_PER_CALL, 0.2):
        error = message.error()
        partition, offset = cast(int, message.partition()), cast(int, message.offset())
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is None:
            found.take(cast(bytes, message.key()), message.value())
            offset += 1
        # The end of a partition is also reported before an open transaction, and again when that has ended.
        if offset >= ends[partition]:
            unread.discard(partition)


def _ends(admin: AdminClient, topic: str) -> dict[int, int]:
    """With what open transactions have written, which a reader of committed records must wait for."""
    known = admin.list_topics(topic, timeout=ANSWER_S_MAX).topics.get(topic)
    if known is None or not known.partitions:
        return {}
    asked = {TopicPartition(topic, partition): OffsetSpec.latest() for partition in known.partitions}
    answers = admin.list_offsets(
        asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=ANSWER_S_MAX
    )
    return {place.partition: future.result(ANSWER_S_MAX).offset for place, future in answers.items()}


def ensure_offsets_topic(admin: AdminClient, topic: str, *, partitions: int = PARTITIONS) -> None:
    """Creates the topic if it does not exist, compacted, with as many replicas as the broker gives by default."""
    if _exists(admin, topic):
        return
    new = NewTopic(topic, partitions, -1, config={"cleanup.policy": "compact"})
    for future in admin.create_topics([new], request_timeout=ANSWER_S_MAX).values():
        try:
            future.result(ANSWER_S_MAX)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def _exists(admin: AdminClient, topic: str) -> bool:
    return topic in admin.list_topics(timeout=ANSWER_S_MAX).topics


def offsets_records(
    stored: SourceOffsets, changes: Iterable[tuple[Mapping[str, Any], Offset | None]]
) -> list[tuple[bytes, bytes | None]]:
    """Keys and values for changed offsets, for the worker's API."""
    return [stored.record(partition, offset) for partition, offset in changes]
