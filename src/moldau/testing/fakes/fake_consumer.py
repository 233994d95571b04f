"""confluent_kafka.Consumer without a broker. Rebalances, automatic commits and callbacks happen in poll()."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import (
    OFFSET_INVALID,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import ClusterMetadata

from moldau.testing.fakes.fake_group import FakeGroupMetadata, FakeMember
from moldau.testing.fakes.fake_log import PartitionKey
from moldau.testing.fakes.fake_positions import FakePositions, partition_keys_of

if TYPE_CHECKING:
    from moldau.testing.fakes.fake_kafka import FakeKafka

Rebalanced = Callable[["FakeConsumer", list[TopicPartition]], object]
MESSAGES_MAX = 1_000_000


class FakeConsumer:
    """Mirrors confluent_kafka.Consumer, method by method."""

    def __init__(self, kafka: "FakeKafka", config: Mapping[str, Any]) -> None:
        if not config.get("group.id"):
            raise ValueError("Failed to create consumer: group.id must be set")
        self._kafka = kafka
        self._group = kafka.group(str(config["group.id"]))
        self._commits = _is_on(config.get("enable.auto.commit", True))
        self._stores = _is_on(config.get("enable.auto.offset.store", True))
        self._on_commit = config.get("on_commit")
        self._is_cooperative = "cooperative" in str(config.get("partition.assignment.strategy", ""))
        self._positions = FakePositions(kafka, self._group, config)
        self._member: FakeMember | None = None
        self._callbacks: dict[str, Rebalanced | None] = {}
        self._committed: deque[tuple[KafkaError | None, list[TopicPartition]]] = deque()
        self._has_assigned = False
        self._is_leaving = False
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Subscription and assignment.

    def subscribe(
        self,
        topics: Sequence[str],
        on_assign: Rebalanced | None = None,
        on_revoke: Rebalanced | None = None,
        on_lost: Rebalanced | None = None,
    ) -> None:
        self._check_open()
        if isinstance(topics, str):
            raise TypeError("expected list of topic unicode strings")
        if not topics:
            words = "Failed to set subscription: Local: Invalid argument or configuration"
            raise KafkaException(KafkaError(KafkaError._INVALID_ARG, words))
        with self._kafka.changed:
            self._kafka.raise_failure("subscribe")
            self._callbacks = {"assign": on_assign, "revoke": on_revoke, "lost": on_lost}
            self._is_leaving = False
            if self._member is None:
                self._positions.clear()
                self._member = self._group.join(list(topics), self._is_cooperative)
            else:
                self._member.topics = list(topics)
                self._group.rebalance()

    def unsubscribe(self) -> None:
        """Its partitions are revoked in the next poll, or in close()."""
        self._check_open()
        self._is_leaving = self._member is not None

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        with self._open():
            self._has_assigned = True
            self._positions.assign(partitions)

    def unassign(self) -> None:
        with self._open():
            self._has_assigned = True
            self._positions.clear()

    def incremental_assign(self, partitions: Sequence[TopicPartition]) -> None:
        with self._open():
            self._has_assigned = True
            self._positions.add(partitions)

    def incremental_unassign(self, partitions: Sequence[TopicPartition]) -> None:
        with self._open():
            self._has_assigned = True
            self._positions.remove(partition_keys_of(partitions))

    def assignment(self) -> list[TopicPartition]:
        with self._open():
            return [TopicPartition(*partition_key) for partition_key in self._positions.assigned]

    def pause(self, partitions: Sequence[TopicPartition]) -> None:
        with self._open():
            self._positions.paused |= set(partition_keys_of(partitions))

    def resume(self, partitions: Sequence[TopicPartition]) -> None:
        with self._open():
            self._positions.paused -= set(partition_keys_of(partitions))

    def seek(self, partition: TopicPartition) -> None:
        with self._open():
            self._kafka.raise_failure("seek")
            self._positions.seek(partition)

    # Reading.

    def poll(self, timeout: float | None = None) -> Message | None:
        found = self._take(1, timeout, "poll")
        return found[0] if found else None

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        if not 0 <= num_messages <= MESSAGES_MAX:
            raise ValueError("num_messages must be between 0 and 1000000 (1M)")
        return self._take(num_messages, timeout, "consume")

    def _take(self, count: int, timeout: float | None, call: str) -> list[Message]:
        # Imported here, because that module imports this one.
        from moldau.testing.fakes.fake_kafka import WAIT_S_MAX

        wait_s = WAIT_S_MAX if timeout is None or timeout < 0 else min(timeout, WAIT_S_MAX)
        deadline = time.monotonic() + wait_s
        with self._open():
            failure = self._kafka.failure(call)
            if failure is not None:
                return [Message(error=failure)]
            if self._commits:
                self._commit_quietly()
            while True:
                self._rebalance()
                self._serve_commits()
                found: list[Message] = []
                while (
                    len(found) < count and (message := self._positions.next_message(self._stores)) is not None
                ):
                    found.append(message)
                rest_s = deadline - time.monotonic()
                if found or not count or rest_s <= 0:
                    return found
                self._kafka.changed.wait(rest_s)

    # Offsets.

    def commit(
        self,
        message: Message | None = None,
        offsets: Sequence[TopicPartition] | None = None,
        asynchronous: bool = True,
    ) -> list[TopicPartition] | None:
        if message is not None and offsets is not None:
            raise ValueError("message and offsets are mutually exclusive")
        with self._open():
            error = self._kafka.failure("commit")
            if error is None and self._member is not None and self._member.is_expelled:
                error = KafkaError(KafkaError.UNKNOWN_MEMBER_ID)
            wanted = self._to_commit(message, offsets)
            if error is None and not wanted:
                error = KafkaError(KafkaError._NO_OFFSET, "Commit failed: Local: No offset stored")
            if error is None:
                self._group.commit(wanted)
            told = offsets is None and message is None
            partition_keys = self._positions.assigned if told else list(wanted)
            result = [
                TopicPartition(*partition_key, wanted.get(partition_key, OFFSET_INVALID))
                for partition_key in partition_keys
            ]
            if asynchronous:
                self._committed.append((error, result))
                return None
            if error is not None:
                raise KafkaException(error)
            return result

    def _to_commit(
        self, message: Message | None, offsets: Sequence[TopicPartition] | None
    ) -> dict[PartitionKey, int]:
        if message is not None:
            return {(str(message.topic()), message.partition() or 0): (message.offset() or 0) + 1}
        if offsets is not None:
            return {(each.topic, each.partition): each.offset for each in offsets if each.offset >= 0}
        return dict(self._positions.stored)

    def store_offsets(
        self, message: Message | None = None, offsets: Sequence[TopicPartition] | None = None
    ) -> None:
        if (message is None) == (offsets is None):
            raise ValueError("expected either message or offsets")
        with self._open():
            wanted = self._to_commit(message, offsets)
            if self._stores:
                words = "StoreOffsets failed: Local: Invalid argument or configuration"
                raise KafkaException(KafkaError(KafkaError._INVALID_ARG, words))
            if not set(wanted) <= set(self._positions.assigned):
                words = "StoreOffsets failed: Local: Erroneous state"
                raise KafkaException(KafkaError(KafkaError._STATE, words))
            self._positions.stored.update(wanted)

    def committed(
        self, partitions: Sequence[TopicPartition], timeout: float | None = None
    ) -> list[TopicPartition]:
        with self._open():
            self._kafka.raise_failure("committed")
            offsets = self._group.offsets
            return [
                TopicPartition(*partition_key, offsets.get(partition_key, OFFSET_INVALID))
                for partition_key in partition_keys_of(partitions)
            ]

    def position(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        with self._open():
            read = self._positions.read
            return [
                TopicPartition(*partition_key, read.get(partition_key, OFFSET_INVALID))
                for partition_key in partition_keys_of(partitions)
            ]

    def offsets_for_times(
        self, partitions: Sequence[TopicPartition], timeout: float | None = None
    ) -> list[TopicPartition]:
        with self._open():
            self._kafka.raise_failure("offsets_for_times")
            return [self._positions.at_time(each) for each in partitions]

    def get_watermark_offsets(
        self, partition: TopicPartition, timeout: float | None = None, cached: bool = False
    ) -> tuple[int, int]:
        with self._open():
            self._kafka.raise_failure("get_watermark_offsets")
            return self._positions.watermarks(partition)

    # Group and cluster.

    def consumer_group_metadata(self) -> FakeGroupMetadata:
        self._check_open()
        member_id = self._member.member_id if self._member is not None else None
        return FakeGroupMetadata(self._group.name, member_id, self._group.generation)

    def memberid(self) -> str | None:
        self._check_open()
        is_known = self._member is not None and self._member.seen_generation >= 0
        return self._member.member_id if is_known and self._member is not None else None

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> ClusterMetadata:
        with self._open():
            self._kafka.raise_failure("list_topics")
            return self._kafka.cluster_metadata(topic)

    def cluster_id(self, timeout: float = -1) -> str:
        return "fake"

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """There is no broker to log in to."""

    def close(self) -> None:
        """Commits pending offsets, gives its partitions back and leaves the group."""
        if self._is_closed:
            return
        with self._kafka.changed:
            if self._commits:
                self._commit_quietly()
            self._leave()
            self._serve_commits()
            self._positions.clear()
            self._is_closed = True

    # What happens in poll().

    def expelled(self) -> None:
        """Called by the cluster."""
        if self._member is not None:
            self._group.leave(self._member)
            self._member.is_expelled = True

    def _rebalance(self) -> None:
        if self._is_leaving:
            self._leave()
        member = self._member
        if member is None:
            return
        if member.is_expelled:
            self._take_away(member, member.owned, "lost")
            self._member = member = self._group.join(member.topics, self._is_cooperative)
        lost = self._group.losses(member)
        if lost:
            if self._commits:
                self._commit_quietly()
            self._take_away(member, lost, "revoke")
        member.seen_generation = self._group.generation
        gained = self._group.gains(member)
        if gained is not None:
            self._give(member, gained)

    def _take_away(self, member: FakeMember, partition_keys: Iterable[PartitionKey], event: str) -> None:
        gone = sorted(partition_keys)
        self._call_back(event, gone)
        if not self._has_assigned:
            self._positions.remove(gone)
        member.owned -= set(gone)

    def _give(self, member: FakeMember, partition_keys: Iterable[PartitionKey]) -> None:
        new = sorted(partition_keys)
        member.is_granted = True
        member.owned |= set(new)
        self._call_back("assign", new)
        if not self._has_assigned:
            self._positions.add([TopicPartition(*partition_key) for partition_key in new])

    def _call_back(self, event: str, partition_keys: Sequence[PartitionKey]) -> None:
        """A callback that calls assign() replaces the automatic assignment."""
        self._has_assigned = False
        callback = self._callbacks.get(event)
        if callback is None and event == "lost":
            callback = self._callbacks.get("revoke")
        if callback is not None:
            callback(self, [TopicPartition(*partition_key) for partition_key in partition_keys])

    def _leave(self) -> None:
        self._is_leaving = False
        member, self._member = self._member, None
        if member is not None:
            if member.owned:
                self._take_away(member, set(member.owned), "revoke")
            self._group.leave(member)

    def _commit_quietly(self) -> None:
        """Does in each poll what enable.auto.commit does every few seconds, for the records of earlier polls."""
        if self._positions.stored and not (self._member is not None and self._member.is_expelled):
            self._group.commit(self._positions.stored)

    def _serve_commits(self) -> None:
        while self._committed:
            error, partitions = self._committed.popleft()
            if self._on_commit is not None:
                self._on_commit(error, partitions)

    def _open(self) -> Any:
        self._check_open()
        return self._kafka.changed

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("Consumer closed")


def _is_on(value: object) -> bool:
    return str(value).lower() in ("true", "1")
