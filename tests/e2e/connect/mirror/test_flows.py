"""Flows between two Moldau brokers: records as they are, settings, partitions, cycles, fan-out and aggregation."""

import time
from collections.abc import Iterator
from functools import partial

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions

from e2e.connect.mirror.flow_kit import ANSWER_S, Flow, produced, read_messages, read_values, until
from moldau.testing import LocalCluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[LocalCluster, LocalCluster, LocalCluster]]:
    with LocalCluster() as first, LocalCluster() as second, LocalCluster() as third:
        yield first, second, third


def flow(source: tuple[str, LocalCluster], target: tuple[str, LocalCluster], **more: str) -> Flow:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return Flow((source[0], source[1].bootstrap_servers), (target[0], target[1].bootstrap_servers), settings)


def settings_of(cluster: LocalCluster, topic: str) -> dict[str, str]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    (future,) = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]).values()
    return {name: entry.value for name, entry in future.result(ANSWER_S).items()}


def alter(cluster: LocalCluster, topic: str, **settings: str | None) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    entries = [
        ConfigEntry(
            name.replace("_", "."),
            value,
            incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
        )
        for name, value in settings.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(ANSWER_S)


def test_records_arrive_as_they_are(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    here, there, _ = clusters
    here.create_topic("exact", partitions=3)
    began_ms = time.time_ns() // 1_000_000 - 60_000
    producer = Producer({"bootstrap.servers": here.bootstrap_servers})
    for partition in range(3):
        producer.produce(
            "exact",
            b"\x00\xff",
            b"\xfe",
            partition,
            timestamp=began_ms + partition,
            headers=[("h", b"\x80"), ("h", None)],
        )
        producer.produce("exact", None, b"gone", partition, timestamp=began_ms)
        producer.produce("exact", b"", None, partition, timestamp=began_ms)
    assert producer.flush(ANSWER_S) == 0
    mirror = flow(("a", here), ("b", there), topics="exact")
    servers = there.bootstrap_servers
    until(
        [mirror], lambda: all(len(read_values(servers, "a.exact", one)) == 3 for one in range(3)), "mirrored"
    )
    mirror.stop()
    for partition in range(3):
        first, second, third = read_messages(servers, "a.exact", partition)
        assert (first.key(), first.value()) == (b"\xfe", b"\x00\xff")
        assert first.timestamp()[1] == began_ms + partition
        assert first.headers() == [("h", b"\x80"), ("h", None)]
        assert (second.key(), second.value(), second.headers()) == (b"gone", None, None)
        assert (third.key(), third.value()) == (None, b"")


def test_each_record_once_over_restarts(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    here, there, _ = clusters
    here.create_topic("once")
    mirror = flow(("a", here), ("b", there), topics="once")
    for round_ in range(3):
        produced(here, "once", [b"%d" % (round_ * 10 + one) for one in range(10)])
        expected = [b"%d" % one for one in range((round_ + 1) * 10)]
        arrived = partial(_values_are, there, "a.once", expected)
        until([mirror], arrived, "the round")
        mirror.copying.stop_tasks()
        mirror.copying.start_tasks()
    mirror.turn()
    assert read_values(there.bootstrap_servers, "a.once") == expected
    stored = mirror.copying.offsets.offset({"cluster": "a", "topic": "once", "partition": 0})
    assert stored == {"offset": 29}
    mirror.stop()


def test_names_may_stay_the_same(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    here, there, _ = clusters
    here.create_topic("same")
    produced(here, "same", [b"x"])
    mirror = flow(
        ("a", here),
        ("b", there),
        topics="same",
        replication_policy_class="org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    )
    until([mirror], lambda: read_values(there.bootstrap_servers, "same") == [b"x"], "mirrored")
    mirror.stop()


def test_settings_follow_their_source(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    here, there, _ = clusters
    here.create_topic("set", configs={"retention.ms": "7200000", "min.insync.replicas": "1"})
    mirror = flow(("a", here), ("b", there), topics="set", sync_topic_acls_enabled="true")
    assert settings_of(there, "a.set")["retention.ms"] == "7200000"
    alter(here, "set", retention_ms="3600000", cleanup_policy="compact")
    alter(there, "a.set", min_insync_replicas="1")
    until([mirror], lambda: settings_of(there, "a.set")["retention.ms"] == "3600000", "a changed setting")
    assert settings_of(there, "a.set")["cleanup.policy"] == "compact"
    alter(here, "set", cleanup_policy=None)
    until([mirror], lambda: settings_of(there, "a.set")["cleanup.policy"] == "delete", "a setting taken back")
    mirror.stop()


def test_new_topics_and_partitions_are_found(
    clusters: tuple[LocalCluster, LocalCluster, LocalCluster],
) -> None:
    here, there, _ = clusters
    mirror = flow(("a", here), ("b", there), topics="late.*", topics_exclude="late-not")
    here.create_topic("late-one")
    here.create_topic("late-not")
    produced(here, "late-one", [b"1"])
    servers = there.bootstrap_servers
    mirrored = AdminClient({"bootstrap.servers": servers})
    until([mirror], lambda: "a.late-one" in mirrored.list_topics(timeout=ANSWER_S).topics, "a new topic")
    admin = AdminClient({"bootstrap.servers": here.bootstrap_servers})
    for future in admin.create_partitions([NewPartitions("late-one", 2)]).values():
        future.result(ANSWER_S)
    produced(here, "late-one", [b"2"], partition=1)

    def partitions() -> int:
        return len(mirrored.list_topics(timeout=ANSWER_S).topics["a.late-one"].partitions)

    until([mirror], lambda: partitions() == 2, "a new partition")
    until([mirror], lambda: read_values(servers, "a.late-one", 1) == [b"2"], "its record")
    assert read_values(servers, "a.late-one") == [b"1"]
    assert "a.late-not" not in mirrored.list_topics(timeout=ANSWER_S).topics
    mirror.stop()


def test_both_ways_without_a_loop(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    here, there, _ = clusters
    for cluster in (here, there):
        cluster.create_topic("both")
    produced(here, "both", [b"from a"])
    produced(there, "both", [b"from b"])
    names = {"topics": ".*both", "heartbeats_replication_enabled": "false"}
    flows = [flow(("a", here), ("b", there), **names), flow(("b", there), ("a", here), **names)]
    until(flows, lambda: read_values(there.bootstrap_servers, "a.both") == [b"from a"], "a at b")
    until(flows, lambda: read_values(here.bootstrap_servers, "b.both") == [b"from b"], "b at a")
    for one in (*flows, *flows, *flows):
        one.turn()
    for cluster in (here, there):
        topics = (
            AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(timeout=ANSWER_S).topics
        )
        assert not {name for name in topics if name.endswith("both")} - {"both", "a.both", "b.both"}
    for one in flows:
        one.stop()


def test_fan_out_and_aggregation(clusters: tuple[LocalCluster, LocalCluster, LocalCluster]) -> None:
    first, second, third = clusters
    first.create_topic("fan")
    second.create_topic("fan")
    produced(first, "fan", [b"1"])
    produced(second, "fan", [b"2"])
    flows = [
        flow(("a", first), ("b", second), topics="fan"),
        flow(("a", first), ("c", third), topics="fan"),
        flow(("b", second), ("c", third), topics="fan,a.fan"),
    ]
    until(flows, lambda: read_values(second.bootstrap_servers, "a.fan") == [b"1"], "fan-out to b")
    until(flows, lambda: read_values(third.bootstrap_servers, "a.fan") == [b"1"], "fan-out to c")
    until(flows, lambda: read_values(third.bootstrap_servers, "b.fan") == [b"2"], "aggregation at c")
    admin = AdminClient({"bootstrap.servers": third.bootstrap_servers})
    until(flows, lambda: "b.a.fan" in admin.list_topics(timeout=ANSWER_S).topics, "a mirror of a mirror")
    until(flows, lambda: read_values(third.bootstrap_servers, "b.a.fan") == [b"1"], "its record")
    for one in flows:
        one.stop()


def _values_are(there: LocalCluster, topic: str, expected: list[bytes]) -> bool:
    return read_values(there.bootstrap_servers, topic) == expected
