"""A slot against a real broker, without Spark: batches run once, run again, taken over; and the views they feed."""

import pickle
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)
from pyspark.cloudpickle import dumps
from starlette.testclient import TestClient

from moldau.pipeline.spark.driver.failures import BatchFailed
from moldau.pipeline.spark.orders import Application, SlotOrder, SlotReport, TaskId, TaskOrder
from moldau.pipeline.spark.positions import OffsetRange
from moldau.pipeline.spark.worker import slots
from moldau.pipeline.spark.worker.sink import NotCommitted
from moldau.pipeline.streams import JSON, LONG, STRING, StreamsBuilder, Topology, tumbling
from moldau.pipeline.views.http import view_server
from moldau.pipeline.views.view_host import ViewHost
from moldau.testing import LocalCluster

PATIENCE_S = 120


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(settings={"log.retention.ms": "-1"}) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def no_slot_is_left() -> Iterator[None]:
    yield
    while slots._slots:
        slots._slots.popitem()[1].close()


def counting(name: str) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    grouped = builder.stream(f"{name}-in").group_by_key()
    grouped.count(store="counts").to_stream().to(f"{name}-out", value=LONG)
    return builder.build()


class Host:
    """Orders as the driver would give them, for one partition."""

    def __init__(
        self,
        cluster: LocalCluster,
        name: str,
        folder: Path,
        topology: Topology,
        *,
        record_cache: bool = False,
    ) -> None:
        self.name = name
        self._holder = ""
        self.servers = cluster.bootstrap_servers
        self.topology = topology
        for topic in ("in", "out"):
            cluster.create_topic(f"{name}-{topic}", partitions=1)
        cluster.create_topic(f"{name}-dlq", partitions=1)
        changelogs = {store: spec.changelog_topic(name) for store, spec in topology.stores.items()}
        for topic in changelogs.values():
            cluster.create_topic(topic, partitions=1, configs={"cleanup.policy": "compact"})
        content = dumps(topology)  # type: ignore[no-untyped-call]
        assert pickle.loads(content)
        self.application = Application(
            name,
            "check",
            self.servers,
            {},
            exactly_once=True,
            dead_letter_topic=f"{name}-dlq",
            state_folder=str(folder),
            topology=content,
            changelogs=changelogs,
            run_id="run",
            record_cache=record_cache,
        )

    def send(self, *records: tuple[str, str, int]) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for key, value, timestamp_ms in records:
            producer.produce(f"{self.name}-in", value, key, timestamp=timestamp_ms)
        assert producer.flush(PATIENCE_S) == 0

    def send_at_any_time(self, *records: tuple[str, str, int]) -> None:
        """Though the topic's limits would not take them."""
        self._limit(f"{self.name}-in", str(2**63 - 1))
        self.send(*records)

    def _limit(self, topic: str, after_ms: str) -> None:
        entry = ConfigEntry(
            "message.timestamp.after.max.ms", after_ms, incremental_operation=AlterConfigOpType.SET
        )
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        admin = AdminClient({"bootstrap.servers": self.servers})
        for future in admin.incremental_alter_configs([resource]).values():
            future.result(PATIENCE_S)

    def run(self, batch_id: int, start: int, end: int) -> SlotReport:
        ranges = (OffsetRange(f"{self.name}-in", 0, start, end),)
        tasks = (TaskOrder(TaskId(0, 0), ranges),)
        report = slots.run_slot(SlotOrder(self.application, 0, batch_id, tasks, holder=self._holder))
        self._holder = report.holder
        if report.error is not None:
            raise BatchFailed(report.error)
        return report

    def out(self, topic: str = "out") -> list[tuple[bytes | None, bytes | None, int]]:
        """What a reader of committed records sees, to the end."""
        settings = {"group.id": "reader", "isolation.level": "read_committed", "enable.partition.eof": True}
        consumer = Consumer({"bootstrap.servers": self.servers, **settings})
        consumer.assign([TopicPartition(f"{self.name}-{topic}", 0, 0)])
        found = []
        try:
            while (message := consumer.poll(PATIENCE_S)) is not None and message.error() is None:
                found.append((message.key(), message.value(), message.timestamp()[1]))
        finally:
            consumer.close()
        assert message is not None
        return found  # type: ignore[return-value]


def another_process() -> None:
    """Drops what a worker process keeps without closing it, as a kill does."""
    slots._slots.clear()


def long(value: int) -> bytes:
    return value.to_bytes(8)


def test_a_batch_is_committed_once_however_often_it_is_run(cluster: LocalCluster, tmp_path: Path) -> None:
    host = Host(cluster, "once", tmp_path, counting("once"))
    host.send(("a", "x", 1), ("a", "y", 2), ("b", "z", 3))
    assert host.run(0, 0, 2).records_out == 2
    another_process()
    again = host.run(0, 0, 2)
    assert (again.tasks_skipped, again.records_out) == (1, 0)
    # The state of the batch that was left out is there all the same.
    assert host.run(1, 2, 3).records_out == 1
    host.send(("a", "w", 9))
    assert host.run(2, 3, 4).records_out == 1
    assert host.out() == [(b"a", long(1), 1), (b"a", long(2), 2), (b"b", long(1), 3), (b"a", long(3), 9)]


def test_a_slot_that_comes_back_goes_on_from_what_others_did(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where Spark gives each batch to any of its workers."""
    host = Host(cluster, "roaming", tmp_path, counting("roaming"))
    host.send(*(("a", "x", number) for number in range(1, 7)))
    processes: dict[str, dict[tuple[str, int], slots.Slot]] = {"one": {}, "two": {}}
    for batch_id, process in enumerate(["one", "two", "one", "one", "two", "two"]):
        monkeypatch.setattr(slots, "_slots", processes[process])
        monkeypatch.setattr(slots, "this_process", lambda process=process: process)
        assert host.run(batch_id, batch_id, batch_id + 1).records_out == 1
    assert host.out() == [(b"a", long(number), number) for number in range(1, 7)]


def test_an_unfinished_batch_leaves_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    """The worker is lost after it has written output and state, before it commits."""
    host = Host(cluster, "torn", tmp_path, counting("torn"))
    host.send(("a", "x", 1), ("a", "y", 2))
    assert host.run(0, 0, 1).records_out == 1
    worker = slots._slots["run", 0]
    lost = worker._sink
    commit, lost.commit = lost.commit, lambda *_: None  # type: ignore[method-assign]
    host.run(1, 1, 2)
    another_process()
    assert host.run(1, 1, 2).records_out == 1
    # The one that was believed dead comes too late.
    from moldau.pipeline.spark.marker import Marker

    with pytest.raises(KafkaException):
        commit([OffsetRange("torn-in", 0, 1, 2)], Marker("check", 1))
    assert host.out() == [(b"a", long(1), 1), (b"a", long(2), 2)]


def test_a_commit_that_is_never_answered_ends_the_batch(cluster: LocalCluster, tmp_path: Path) -> None:
    """The client's call may not come back: its producer is left alone, and a new one takes the batch over."""
    host = Host(cluster, "stuck", tmp_path, counting("stuck"))
    host.send(("a", "x", 1), ("a", "y", 2))
    assert host.run(0, 0, 1).records_out == 1
    worker = slots._slots.pop(("run", 0))
    worker._sink.begin()
    never = threading.Event()
    with pytest.raises(NotCommitted, match="did not accept the offsets"):
        worker._sink._answered(lambda: [never.wait()].clear(), 0.05)
    worker.close()
    never.set()
    assert host.run(1, 1, 2).records_out == 1
    assert host.out() == [(b"a", long(1), 1), (b"a", long(2), 2)]


def test_a_failure_gives_up_what_was_kept(cluster: LocalCluster, tmp_path: Path) -> None:
    host = Host(cluster, "lost-input", tmp_path, counting("lost-input"))
    host.send(("a", "x", 1))
    assert host.run(0, 0, 1).records_out == 1
    with pytest.raises(Exception, match="no longer has the next records"):
        host.run(1, 500, 501)
    assert ("run", 0) not in slots._slots
    host.send(("a", "y", 2))
    assert host.run(1, 1, 2).records_out == 1
    assert host.out()[-1] == (b"a", long(2), 2)


def test_transactions_of_others_do_not_hold_up_a_range(cluster: LocalCluster, tmp_path: Path) -> None:
    """A range may end with the marker of a transaction, or hold nothing but an aborted one."""
    host = Host(cluster, "gaps", tmp_path, counting("gaps"))
    writer = Producer({"bootstrap.servers": host.servers, "transactional.id": "gaps-writer"})
    writer.init_transactions(PATIENCE_S)
    for ends_well in (True, False):
        writer.begin_transaction()
        writer.produce("gaps-in", "x", "a", timestamp=1)
        writer.flush(PATIENCE_S)
        (writer.commit_transaction if ends_well else writer.abort_transaction)(PATIENCE_S)
    assert host.run(0, 0, 2).records_in == 1
    assert host.run(1, 2, 4).records_in == 0
    host.send(("a", "y", 5))
    assert host.run(2, 4, 5).records_in == 1
    assert host.out() == [(b"a", long(1), 1), (b"a", long(2), 5)]


def test_with_its_record_cache_a_batch_tells_the_last_change_of_a_key(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    """A record that breaks what its aggregate tells goes to the dead letters and is not counted. The batch that meets
    one is done record by record, and tells every change."""
    builder = StreamsBuilder("cached", key=STRING, value=STRING)

    def check(count: int) -> int:
        if count == 3:
            raise ValueError("three is bad luck")
        return count

    counts = builder.stream("cached-in").group_by_key().count(store="counts")
    counts.to_stream().map_values(check).to("cached-out", value=LONG)
    host = Host(cluster, "cached", tmp_path, builder.build(), record_cache=True)
    host.send(("a", "1", 5), ("b", "2", 6), ("a", "3", 7), ("c", "4", 8), ("c", "5", 9), ("c", "6", 10))
    report = host.run(0, 0, 6)
    assert (report.records_in, report.records_dead) == (6, 1)
    assert dict((key, value) for key, value, _ in host.out()) == {b"a": long(2), b"b": long(1), b"c": long(2)}
    assert host.out("dlq") == [(b"c", b"6", 10)]
    told = len(host.out())
    host.send(("b", "8", 12), ("b", "9", 13), ("a", "1", 14))
    another_process()
    # The third of each is bad luck again.
    report = host.run(1, 6, 8)
    assert (report.records_in, report.records_dead) == (2, 1)
    assert host.out()[told:] == [(b"b", long(2), 12)]


def test_without_failures_a_batch_tells_the_last_change_of_a_key(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    host = Host(cluster, "collapsed", tmp_path, counting("collapsed"), record_cache=True)
    host.send(("a", "1", 5), ("b", "2", 6), ("a", "3", 7))
    assert host.run(0, 0, 3).records_out == 2
    assert sorted(host.out()) == [(b"a", long(2), 7), (b"b", long(1), 6)]


def test_a_record_the_broker_refuses_goes_to_the_dead_letters(cluster: LocalCluster, tmp_path: Path) -> None:
    """Its time lies in the future: the topic it is for does not take it, whatever is tried."""
    host = Host(cluster, "future", tmp_path, counting("future"))
    ahead = int(time.time() * 1000) + 30 * 86_400_000
    host.send(("a", "x", 1), ("b", "y", 2))
    host.send_at_any_time(("a", "ahead", ahead))
    host.send(("a", "z", 3))
    report = host.run(0, 0, 4)
    assert (report.records_in, report.records_dead) == (4, 1)
    counted = {key: value for key, value, _ in host.out()}
    assert counted == {b"a": long(2), b"b": long(1)}
    assert host.out("dlq")[0][:2] == (b"a", b"ahead")


def test_views_follow_the_committed_changelog(cluster: LocalCluster, tmp_path: Path) -> None:
    builder = StreamsBuilder("viewed", key=STRING, value=JSON)
    grouped = builder.stream("viewed-in").group_by_key()
    grouped.count(store="counts")
    grouped.windowed_by(tumbling(10)).count(store="by-time", retention_ms=1_000)
    host = Host(cluster, "viewed", tmp_path, builder.build())
    host.send(("a", "1", 1), ("b", "2", 2), ("a", "3", 12), ("a", "no json", 13))
    assert host.run(0, 0, 4).records_dead == 1
    assert host.out("dlq") == [(b"a", b"no json", 13)]

    views = ViewHost(host.topology, "viewed", {"bootstrap.servers": host.servers})
    views.start()
    assert views.wait_ready(PATIENCE_S)
    assert views["counts"].get("a") == 2
    assert views["counts"].range("a", "b") == [("a", 2), ("b", 1)]
    assert [(key.start_ms, value) for key, value in views["by-time"].fetch("a")] == [(0, 1), (10, 1)]
    with TestClient(view_server(views)) as http:
        assert {one["store"]: one["entries"] for one in http.get("/views").json()} == {
            "counts": 2,
            "by-time": 3,
        }
        assert http.get("/views/counts/keys/a").json() == {"key": "a", "value": 2}
        assert http.get("/views/counts/keys/nobody").status_code == 404
        assert http.get("/views/nothing/keys/a").status_code == 404
        assert http.get("/views/counts?low=b").json() == [{"key": "b", "value": 1}]
        assert http.get("/views/counts/windows/a").status_code == 400
        assert http.get("/views/by-time/windows/a?from=5").json() == [
            {"key": "a", "window_start_ms": 10, "window_end_ms": 20, "value": 1}
        ]
        assert http.get("/views/by-time/windows/a?from=soon").status_code == 400
    views.stop()


def test_a_function_that_does_not_return_has_failed(cluster: LocalCluster, tmp_path: Path) -> None:
    """Its record is a dead letter; those before and after it are counted."""

    def waits_for_ever(value: str) -> str:
        while value == "hang":
            pass
        return value

    builder = StreamsBuilder("hanging", key=STRING, value=STRING)
    mapped = builder.stream("hanging-in").map_values(waits_for_ever)
    mapped.group_by_key().count(store="counts").to_stream().to("hanging-out", value=LONG)
    host = Host(cluster, "hanging", tmp_path, builder.build())
    host.application = replace(host.application, record_ms_max=400)
    host.send(("a", "x", 1), ("a", "hang", 2), ("a", "y", 3))
    report = host.run(0, 0, 3)
    assert (report.records_in, report.records_dead) == (3, 1)
    assert host.out()[-1] == (b"a", long(2), 3)
    assert host.out("dlq") == [(b"a", b"hang", 2)]


def test_keys_are_spread_as_the_topic_is_said_to_want(cluster: LocalCluster, tmp_path: Path) -> None:
    host = Host(cluster, "spread", tmp_path, counting("spread"))
    cluster.create_topic("spread-wide", partitions=4)
    builder = StreamsBuilder("spread", key=STRING, value=STRING)
    builder.stream("spread-in").to("spread-wide")
    topology = dumps(builder.build())  # type: ignore[no-untyped-call]
    wanted = {"spread-wide": ("consistent_random", 4)}
    host.application = replace(host.application, topology=topology, partitioners=wanted, changelogs={})
    host.send(*((f"key-{number}", "x", number + 1) for number in range(12)))
    assert host.run(0, 0, 12).records_out == 12
    settings = {"group.id": "reader", "isolation.level": "read_committed", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": host.servers, **settings})
    consumer.assign([TopicPartition("spread-wide", partition, 0) for partition in range(4)])
    found: dict[bytes, int] = {}
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < 12 and time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            found[message.key()] = message.partition()  # type: ignore[index, assignment]
    consumer.close()
    assert found == {b"key-%d" % n: zlib.crc32(b"key-%d" % n) % 4 for n in range(12)}


def test_a_record_of_time_0_is_written_with_1_and_not_with_the_current_time(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    builder = StreamsBuilder("epoch", key=STRING, value=JSON)
    builder.stream("epoch-in", timestamp="at").to("epoch-out")
    host = Host(cluster, "epoch", tmp_path, builder.build())
    host.send(("a", '{"at":0}', 5_000), ("b", '{"at":2}', 6_000))
    host.run(0, 0, 2)
    assert [(key, at_ms) for key, _, at_ms in host.out()] == [(b"a", 1), (b"b", 2)]
