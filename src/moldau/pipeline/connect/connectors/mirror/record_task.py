"""The task of the source connector: reads partitions of the source, and says at which offsets their records arrived.

Records go through as bytes, in columns. The worker writes them and their source offsets in one transaction, so each is
mirrored exactly once. Offset syncs are written after the transaction, by a producer of the task.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from moldau.pipeline.connect.api import ConnectError, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.mirror.client_settings import client_settings
from moldau.pipeline.connect.connectors.mirror.cluster import Cluster, Place, made
from moldau.pipeline.connect.connectors.mirror.formats import OffsetSync
from moldau.pipeline.connect.connectors.mirror.replication_policy import ReplicationPolicy, policy_of
from moldau.pipeline.connect.connectors.mirror.settings import PARTITIONS, SOURCE, parse
from moldau.pipeline.connect.connectors.mirror.sync_schedule import SyncSchedule
from moldau.pipeline.connect.data.records import SourceBytes, SourceParts, SourceRecord
from moldau.pipeline.connect.declarations import Texts

log = logging.getLogger(__name__)

CLUSTER: Final = "cluster"
TOPIC: Final = "topic"
PARTITION: Final = "partition"
OFFSET: Final = "offset"
WAIT_S_MAX: Final = 0.1
MEASURE_S: Final = 0.2
"""How often the ends of the target's partitions are looked up while there are more records than a poll takes."""
SYNCED_S_MAX: Final = 10.0
_GONE: Final = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC}
)
_FORBIDDEN: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError._AUTHENTICATION,
    }
)
_MESSAGE: Final[Any] = Message
_READER: Final = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "isolation.level": "read_committed",
    # Prefetched records, within limits.
    "queued.min.messages": "200000",
    "queued.max.messages.kbytes": "32768",
    "fetch.message.max.bytes": str(8 << 20),
    "fetch.queue.backoff.ms": "10",
    "fetch.wait.max.ms": "50",
}


class MirrorSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = parse(SOURCE, config, of="MirrorSourceConnector")
        self._alias: str = values["source.cluster.alias"]
        self._policy = policy_of(values)
        self._count_max: int = values["poll.records.max"]
        self._wait_s: float = min(WAIT_S_MAX, values["consumer.poll.timeout.ms"] / 1_000)
        self._remotes: dict[Place, str] = {}
        self._syncs = (
            OffsetSyncs(config, values, self._policy) if values["emit.offset-syncs.enabled"] else None
        )
        self._consumer = self._reader(config)
        self._consumer.assign([self._position(place, config, context) for place in _assigned(config)])

    def poll(self) -> Sequence[SourceRecord]:
        if self._syncs is not None:
            self._syncs.write_due()
        messages = self._messages()
        if any(map(_MESSAGE.error, messages)):
            messages = self._without_errors(messages)
        if not messages:
            return ()
        places = self._by_place(messages)
        offsets = {place: list(map(_MESSAGE.offset, found)) for place, found in places.items()}
        if self._syncs is not None:
            remotes = {place: (self._remotes[place], place[1]) for place in places}
            self._syncs.polled(offsets, remotes, is_last=len(messages) < self._count_max)
        return SourceParts([self._part(place, found, offsets[place]) for place, found in places.items()])

    def committed(self) -> None:
        if self._syncs is not None:
            self._syncs.committed()

    def next_poll_ms(self) -> int:
        # The poll itself waits for records.
        return 1

    def stop(self) -> None:
        if hasattr(self, "_consumer"):
            self._consumer.close()
        if getattr(self, "_syncs", None) is not None:
            assert self._syncs is not None
            self._syncs.close()

    def _reader(self, config: Texts) -> Consumer:
        settings: dict[str, Any] = {**_READER, **client_settings(config, "source", "consumer")}
        settings.setdefault(
            "group.id", f"mirror-{self._alias}-{config.get('target.cluster.alias', 'target')}"
        )
        self._reset = settings.pop("auto.offset.reset")
        # Behind what retention has deleted, the mirror goes on at what there is.
        return made(Consumer, {**settings, "auto.offset.reset": "earliest"})

    def _position(self, place: Place, config: Texts, context: SourceContext) -> TopicPartition:
        topic, partition = place
        self._remotes[place] = self._policy.remote_topic(self._alias, topic)
        stored = context.offset(self._source_partition(place))
        if stored is not None:
            return TopicPartition(topic, partition, offset_in(stored) + 1)
        return TopicPartition(topic, partition, OFFSET_END if self._reset == "latest" else OFFSET_BEGINNING)

    def _messages(self) -> list[Any]:
        consume = self._consumer.consume
        found: list[Any] = consume(self._count_max, 0)
        if found:
            return found
        # With a number, it waits until so many are there. One wakes it up.
        found = consume(1, self._wait_s)
        return found + consume(self._count_max - 1, 0) if found and self._count_max > 1 else found

    def _by_place(self, messages: list[Any]) -> dict[Place, list[Any]]:
        if len(self._remotes) == 1:
            return {next(iter(self._remotes)): messages}
        places: dict[Place, list[Any]] = defaultdict(list)
        kept = zip(map(_MESSAGE.topic, messages), map(_MESSAGE.partition, messages), strict=True)
        for place, message in zip(kept, messages, strict=True):
            places[place].append(message)
        return places

    def _part(self, place: Place, messages: Sequence[Any], offsets: Sequence[int]) -> SourceBytes:
        # Methods of the class, and `map`, take two thirds of the time that calls in a comprehension do.
        headers = list(map(_MESSAGE.headers, messages))
        return SourceBytes(
            self._remotes[place],
            place[1],
            list(map(_MESSAGE.key, messages)),
            list(map(_MESSAGE.value, messages)),
            [time_ms for _, time_ms in map(_MESSAGE.timestamp, messages)],
            headers if any(headers) else None,
            self._source_partition(place),
            lambda index: {OFFSET: offsets[index]},
        )

    def _source_partition(self, place: Place) -> dict[str, Any]:
        return {CLUSTER: self._alias, PARTITION: place[1], TOPIC: place[0]}

    def _without_errors(self, messages: Sequence[Any]) -> list[Any]:
        kept = []
        for message in messages:
            error = message.error()
            if error is None:
                kept.append(message)
            else:
                self._note(error)
        return kept

    def _note(self, error: KafkaError) -> None:
        if error.code() in _FORBIDDEN:
            raise ConnectError(f"{self._alias} does not let the mirror read: {error.str()}")
        if error.code() in _GONE:
            log.warning("a mirrored topic of %s is not there any more: %s", self._alias, error.str())
        else:
            log.warning("reading from %s: %s", self._alias, error.str())


class OffsetSyncs:
    """What the task knows of the offsets in the target, and writes to the topic of offset syncs."""

    def __init__(self, config: Texts, values: Mapping[str, Any], policy: ReplicationPolicy) -> None:
        self._target = Cluster(config, "target", values["admin.timeout.ms"])
        self._topic, side = syncs_topic(values, policy)
        self._producer = made(Producer, client_settings(config, side, "producer"))
        is_countable = (
            not config.get("transforms") and config.get("errors.tolerance", "none").lower() == "none"
        )
        self._schedule = SyncSchedule(values["offset.lag.max"], is_countable=is_countable)
        self._pending: dict[Place, list[int]] = {}
        self._began: dict[Place, int] = {}
        self._measured_s = float("-inf")

    def polled(
        self, offsets: Mapping[Place, list[int]], remotes: Mapping[Place, Place], *, is_last: bool
    ) -> None:
        """Before the records are written. `is_last`: there are no more for now."""
        now_s = time.monotonic()
        if is_last or now_s - self._measured_s > MEASURE_S:
            self._measured_s = now_s
            self._measure({place: remote for place, remote in remotes.items() if place not in self._began})
        for place, found in offsets.items():
            # A transaction may have the records of several polls.
            if place in self._began:
                self._pending.setdefault(place, []).extend(found)

    def committed(self) -> None:
        self._schedule.wrote(self._pending, self._began, _now_ms())
        self._pending, self._began = {}, {}
        self.write_due()

    def write_due(self) -> None:
        for sync in self._schedule.take_due(_now_ms()):
            self._write(sync)
        self._producer.poll(0)

    def close(self) -> None:
        self._producer.flush(SYNCED_S_MAX)

    def _measure(self, remotes: Mapping[Place, Place]) -> None:
        try:
            ends = self._target.ends(remotes.values())
        except (KafkaException, TimeoutError) as failure:
            log.warning("the ends of partitions in %s are not known: %s", self._target.alias, failure)
            return
        self._began |= {place: ends[remote] for place, remote in remotes.items() if remote in ends}

    def _write(self, sync: OffsetSync) -> None:
        """One that is lost is followed by others."""
        try:
            self._producer.produce(self._topic, sync.value(), sync.key(), 0)
        except (BufferError, KafkaException) as failure:
            log.warning("an offset sync could not be written to %s: %s", self._topic, failure)


def syncs_topic(values: Mapping[str, Any], policy: ReplicationPolicy) -> tuple[str, Any]:
    """Its name, and the side that has it."""
    side = values["offset-syncs.topic.location"]
    other = "target" if side == "source" else "source"
    return policy.offset_syncs_topic(values[f"{other}.cluster.alias"]), side


def offset_in(stored: Mapping[str, Any]) -> int:
    """The offset of the last mirrored record. Raises ConnectError for what is no offset of this connector."""
    offset = stored.get(OFFSET)
    if type(offset) is not int or offset < 0:
        raise ConnectError(
            f"A source offset is {{'{OFFSET}': n}} here, the offset of a record, not {dict(stored)}"
        )
    return offset


def _assigned(config: Texts) -> list[Place]:
    places = []
    for text in filter(None, config.get(PARTITIONS, "").split(",")):
        topic, _, partition = text.rpartition("-")
        places.append((topic, int(partition)))
    return places


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
