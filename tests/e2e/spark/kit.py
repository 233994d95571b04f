"""What the Spark tests share: records in, committed records out, an application and the processes it consists of."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from e2e.process_facts import children
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.topic_offsets import end_offsets, topic_facts

LOOK_EVERY_S = 0.3
PATIENCE_S = 600
"""For anything that must happen on a machine that may be busy with other things."""

Headers = list[tuple[str, bytes]]


class Sent(NamedTuple):
    key: str | None
    value: str | bytes | None
    partition: int = -1
    timestamp_ms: int = 0


class Read(NamedTuple):
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]


def create_topics(servers: str, **partitions: int) -> None:
    """Names are written with underscores for dashes."""
    admin = AdminClient(shared(servers, {}))
    new = [NewTopic(name.replace("_", "-"), count) for name, count in partitions.items()]
    for future in admin.create_topics(new).values():
        try:
            future.result(PATIENCE_S)
        except KafkaException as failure:
            # A client that got no answer in time asks again, and its first request may have been done.
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def send(servers: str, topic: str, records: Sequence[Sent]) -> None:
    producer = Producer({**shared(servers, {}), "linger.ms": 5, "enable.idempotence": True})
    for record in records:
        value = record.value.encode() if isinstance(record.value, str) else record.value
        producer.produce(
            topic, value=value, key=record.key, partition=record.partition, timestamp=record.timestamp_ms
        )
    assert producer.flush(PATIENCE_S) == 0


def committed(servers: str, topic: str, *, isolation: str = "read_committed") -> list[Read]:
    """All records of a topic, by partition and offset."""
    admin = AdminClient(shared(servers, {}))
    ends = end_offsets(admin, {topic: topic_facts(admin, [topic])[topic].partitions})[topic]
    settings = {"group.id": "reader", "enable.partition.eof": True, "isolation.level": isolation}
    consumer = Consumer({**shared(servers, {}), **settings})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
    found: list[Read] = []
    unread = set(ends)
    try:
        while unread:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{topic} was not read to its end"
            partition, offset = message.partition(), message.offset()
            assert partition is not None and offset is not None
            if message.error() is not None:
                unread.discard(partition)
                continue
            headers = {name: value for name, value in message.headers() or []}  # type: ignore[str-unpack]
            found.append(
                Read(partition, offset, message.timestamp()[1], message.key(), message.value(), headers)  # type: ignore[arg-type]
            )
    finally:
        consumer.close()
    return sorted(found)


def last_values(records: Sequence[Read]) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in records}


@contextlib.contextmanager
def running(topology: Topology, servers: str, folder: Path, **settings: object) -> Iterator[PipelineApp]:
    """Without its record cache, unless asked for: a change that is lost or written twice can then be seen."""
    wanted = {"record_cache": False, **settings}
    app = PipelineApp(
        topology,
        AppSettings(topology.application_id, servers, str(folder), **wanted),  # type: ignore[arg-type]
    )
    app.start()
    try:
        yield app
    finally:
        app.stop()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Looks now and then: what is waited for needs the processor more."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(LOOK_EVERY_S)


def wait_caught_up(app: PipelineApp, *, restarts_max: float = float("inf")) -> None:
    """Until all that its topics hold is processed: the group's committed offsets are at the ends."""
    servers = app.settings.bootstrap_servers
    deadline = time.monotonic() + PATIENCE_S
    with offsets_of(app.topology, servers) as is_caught_up:
        while not is_caught_up():
            assert app.state is not PipelineState.FAILED, app.metrics.last_error
            assert app.metrics.restarts <= restarts_max, app.metrics.last_error
            assert time.monotonic() < deadline, f"not caught up: {app.metrics}"
            time.sleep(LOOK_EVERY_S)


def wait_processed(topology: Topology, servers: str) -> None:
    """As wait_caught_up, of an application in another process, which may be killed meanwhile."""
    with offsets_of(topology, servers) as is_caught_up:
        wait_for(is_caught_up, f"{topology.application_id} has processed all there is")


@contextlib.contextmanager
def offsets_of(topology: Topology, servers: str) -> Iterator[Callable[[], bool]]:
    """Gives the question whether the application's group is at the ends of its topics."""
    topics = {topic for part in topology.sub_topologies for topic in part.source_topics}
    admin = AdminClient(shared(servers, {}))
    consumer = Consumer({**shared(servers, {}), "group.id": topology.application_id})
    try:
        yield lambda: _is_caught_up(admin, consumer, topics)
    finally:
        consumer.close()


def _is_caught_up(admin: AdminClient, consumer: Consumer, topics: set[str]) -> bool:
    facts = topic_facts(admin, topics)
    if topics - facts.keys():
        return False
    places = [
        TopicPartition(topic, number) for topic, one in facts.items() for number in range(one.partitions)
    ]
    reached = {
        (one.topic, one.partition): one.offset for one in consumer.committed(places, timeout=PATIENCE_S)
    }
    # Asked after the commits: what a batch has written in between to a topic of its own is not yet processed.
    ends = end_offsets(admin, {topic: one.partitions for topic, one in facts.items()})
    return all(
        max(reached[topic, partition], 0) >= end for topic in ends for partition, end in ends[topic].items()
    )


def worker_pids() -> list[int]:
    """The Python processes in which Spark runs tasks of this test, recognised by their environment."""
    found = []
    todo = children(os.getpid())
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError):
            if b"MOLDAU_LANE=" in Path("/proc", str(pid), "environ").read_bytes():
                found.append(pid)
        todo += children(pid)
    return found


def some_worker() -> int:
    """One of them; waits until there is one."""
    found: list[int] = []

    def look() -> bool:
        found[:] = worker_pids()
        return bool(found)

    wait_for(look, "workers run")
    return random.choice(found)


def kill9(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
