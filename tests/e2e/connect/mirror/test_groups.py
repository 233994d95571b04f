"""A consumer group moves to the other cluster, and goes on where it was: neither missing a record nor far behind."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient

from connect_kit import eventually
from e2e.connect.mirror.flow_kit import (
    ANSWER_S,
    Flow,
    Reachable,
    produced,
    read_messages,
    read_values,
    reader,
    until,
)
from moldau.pipeline.connect.connectors.mirror.formats import Checkpoint, Heartbeat, OffsetSync
from moldau.testing import LocalCluster

pytestmark = pytest.mark.slow

Clusters = tuple[LocalCluster, LocalCluster]
SYNCED = {"sync.group.offsets.enabled": "true"}


@pytest.fixture(scope="module")
def clusters() -> Iterator[Clusters]:
    with LocalCluster() as here, LocalCluster() as there:
        yield here, there


def flow(clusters: Clusters, topics: str, more: Mapping[str, str] | None = None) -> Flow:
    here, there = clusters
    settings = {"topics": topics, "groups": f"{topics}-.*", **(more or {})}
    return Flow(("a", here.bootstrap_servers), ("b", there.bootstrap_servers), settings)


def read_and_commit(cluster: Reachable, group: str, topic: str, count: int) -> list[bytes]:
    consumer = reader(cluster.bootstrap_servers, group)
    consumer.subscribe([topic])
    found: list[bytes] = []

    def are_there() -> bool:
        messages = consumer.consume(count - len(found), 0.1)
        found.extend(message.value() or b"" for message in messages)
        if messages:
            consumer.commit(message=messages[-1], asynchronous=False)
        return len(found) >= count

    eventually(are_there, f"{count} records for {group}")
    consumer.close()
    return found


def committed(cluster: Reachable, group: str, topic: str) -> int | None:
    """Of partition 0."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    (future,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    offsets = {one.topic: one.offset for one in future.result(ANSWER_S).topic_partitions}
    return offsets.get(topic)


def test_a_group_moves_to_the_end(clusters: Clusters) -> None:
    """What it has read, it does not read again: offsets are translated exactly where the mirror is the only writer."""
    here, there = clusters
    here.create_topic("end")
    produced(here, "end", [b"%d" % one for one in range(250)])
    mirror = flow(clusters, "end", SYNCED)
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.end")) == 250, "mirrored")
    assert len(read_and_commit(here, "end-group", "end", 250)) == 250
    last = read_messages(there.bootstrap_servers, "a.end")[-1].offset()
    until([mirror], lambda: committed(there, "end-group", "a.end") == last + 1, "the translated offset")
    produced(here, "end", [b"next"])
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.end")) == 251, "the next record")
    assert read_and_commit(there, "end-group", "a.end", 1) == [b"next"]
    mirror.stop()


def test_a_group_in_the_middle_misses_nothing(clusters: Clusters) -> None:
    here, there = clusters
    here.create_topic("middle")
    mirror = flow(clusters, "middle", {**SYNCED, "offset.lag.max": "10"})
    for first in range(0, 100, 20):
        produced(here, "middle", [b"%d" % one for one in range(first, first + 20)])
        until([mirror], partial(_has_values, there, "a.middle", first + 20), "mirrored")
    read_and_commit(here, "middle-group", "middle", 70)
    until([mirror], lambda: committed(there, "middle-group", "a.middle") is not None, "a translated offset")
    found = [int(value) for value in read_and_commit(there, "middle-group", "a.middle", 30)]
    assert found == list(range(found[0], found[0] + 30))
    assert 40 < found[0] <= 70
    mirror.stop()


def test_offsets_behind_transactions_are_translated(clusters: Clusters) -> None:
    """Markers and aborted records take offsets in the source that the mirror does not have."""
    here, there = clusters
    here.create_topic("gaps")
    producer = Producer({"bootstrap.servers": here.bootstrap_servers, "transactional.id": "gaps"})
    producer.init_transactions(ANSWER_S)
    for number in range(10):
        producer.begin_transaction()
        producer.produce("gaps", b"%d" % number)
        if number % 2:
            assert producer.flush(ANSWER_S) == 0
            producer.abort_transaction(ANSWER_S)
        else:
            producer.commit_transaction(ANSWER_S)
    mirror = flow(clusters, "gaps", SYNCED)
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.gaps")) == 5, "mirrored")
    read_and_commit(here, "gaps-group", "gaps", 5)
    last = read_messages(there.bootstrap_servers, "a.gaps")[-1].offset()
    until([mirror], lambda: committed(there, "gaps-group", "a.gaps") == last + 1, "the translated offset")
    produced(here, "gaps", [b"after"])
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.gaps")) == 6, "the next record")
    assert read_and_commit(there, "gaps-group", "a.gaps", 1) == [b"after"]
    mirror.stop()


def test_a_group_in_use_keeps_its_offsets(clusters: Clusters) -> None:
    here, there = clusters
    here.create_topic("used")
    produced(here, "used", [b"1", b"2"])
    mirror = flow(clusters, "used", SYNCED)
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.used")) == 2, "mirrored")
    with_member = reader(there.bootstrap_servers, "used-group")
    with_member.subscribe(["a.used"])
    first = eventually(lambda: polled(with_member), "a record")
    with_member.commit(message=first, asynchronous=False)
    read_and_commit(here, "used-group", "used", 2)
    last = read_messages(there.bootstrap_servers, "a.used")[-1].offset()
    until([mirror], lambda: checkpoints_of(there, "used-group")[-1:] == [(2, last + 1)], "a checkpoint")
    for _ in range(3):
        mirror.turn()
    assert committed(there, "used-group", "a.used") == first.offset() + 1
    with_member.close()
    until(
        [mirror], lambda: committed(there, "used-group", "a.used") == last + 1, "the offset of a free group"
    )
    mirror.stop()


def test_checkpoints_outlive_their_task(clusters: Clusters) -> None:
    here, there = clusters
    here.create_topic("again")
    produced(here, "again", [b"1", b"2"])
    mirror = flow(clusters, "again")
    until([mirror], lambda: len(read_values(there.bootstrap_servers, "a.again")) == 2, "mirrored")
    read_and_commit(here, "again-group", "again", 2)
    until([mirror], lambda: checkpoints_of(there, "again-group"), "a checkpoint")
    until([mirror], lambda: checkpoints_of(there, "again-group")[-1][0] == 2, "the last checkpoint")
    before = checkpoints_of(there, "again-group")
    mirror.checkpoints.stop_tasks()
    mirror.checkpoints.start_tasks()
    for _ in range(3):
        mirror.turn()
    assert checkpoints_of(there, "again-group") == before
    mirror.stop()


def test_own_topics_have_the_names_and_records_of_mirrormaker(clusters: Clusters) -> None:
    here, there = clusters
    here.create_topic("named")
    produced(here, "named", [b"1"])
    mirror = flow(clusters, "named")
    until([mirror], lambda: syncs_of(here, "named"), "an offset sync")
    (first,) = read_messages(there.bootstrap_servers, "a.named")
    assert syncs_of(here, "named")[0] == OffsetSync("named", 0, 0, first.offset())
    beat = read_messages(there.bootstrap_servers, "heartbeats")[0]
    assert Heartbeat.of(beat.key(), beat.value()) == Heartbeat("a", "b", beat.timestamp()[1])
    mirror.stop()


def test_offset_syncs_may_be_in_the_target(clusters: Clusters) -> None:
    here, there = clusters
    here.create_topic("placed")
    produced(here, "placed", [b"1"])
    mirror = flow(clusters, "placed", {"offset-syncs.topic.location": "target"})
    until([mirror], lambda: syncs_of(there, "placed", "mm2-offset-syncs.a.internal"), "an offset sync")
    read_and_commit(here, "placed-group", "placed", 1)
    until([mirror], lambda: checkpoints_of(there, "placed-group"), "a checkpoint")
    assert not syncs_of(here, "placed")
    mirror.stop()


def polled(consumer: Consumer) -> Any:
    message = consumer.poll(0.05)
    return message if message is not None and message.error() is None else None


def checkpoints_of(cluster: LocalCluster, group: str) -> list[tuple[int, int]]:
    """Upstream and downstream offsets."""
    messages = read_messages(cluster.bootstrap_servers, "a.checkpoints.internal")
    found = [Checkpoint.of(one.key(), one.value()) for one in messages]
    return [(one.upstream, one.downstream) for one in found if one.group == group]


def syncs_of(
    cluster: LocalCluster, topic: str, syncs: str = "mm2-offset-syncs.b.internal"
) -> list[OffsetSync]:
    found = [OffsetSync.of(one.key(), one.value()) for one in read_messages(cluster.bootstrap_servers, syncs)]
    return [one for one in found if one.topic == topic]


def _has_values(cluster: LocalCluster, topic: str, count: int) -> bool:
    return len(read_values(cluster.bootstrap_servers, topic)) == count
