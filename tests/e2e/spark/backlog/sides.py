"""The two that are compared: Kafka Streams on a broker, and ours on Spark; each with all cases in one application.

A run has a name. It reads the topics of its `inputs`, which several runs may share, and writes to topics of its own.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from compat.streams.cases import Case
from compat.streams.described import Described
from compat.streams.oracle import java_command
from e2e.spark.backlog.cases import BacklogRecord
from e2e.spark.backlog.reference import Result, final_result
from e2e.spark.kit import PATIENCE_S
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.streams import STRING, StreamsBuilder


def as_run(case: Case, inputs: str, run: str) -> Case:
    """The case with the topics of a run."""
    prefixes = {"stream": inputs, "table": inputs, "to": run}
    ops = [
        {**op, "topic": f"{prefixes[op['op']]}-{op['topic']}"} if op["op"] in prefixes else op
        for op in case["ops"]
    ]
    return {**case, "ops": ops}


def topology_of(application_id: str, cases: Iterable[Case], inputs: str) -> Topology:
    builder = StreamsBuilder(application_id, key=STRING, value=STRING)
    for case in cases:
        Described(as_run(case, inputs, application_id), builder)
    return builder.build()


def create_inputs(servers: str, inputs: str, cases: Iterable[Case]) -> None:
    _create(servers, inputs, cases, ("stream", "table"))


def create_outputs(servers: str, run: str, cases: Iterable[Case]) -> None:
    _create(servers, run, cases, ("to",))


def _create(servers: str, prefix: str, cases: Iterable[Case], kinds: Sequence[str]) -> None:
    topics = {
        f"{prefix}-{op['topic']}": case["partitions"]
        for case in cases
        for op in case["ops"]
        if op["op"] in kinds
    }
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(*one) for one in topics.items()]).values():
        future.result(PATIENCE_S)


def send_records(
    servers: str, inputs: str, records: Iterable[BacklogRecord], *, one_by_one: bool = False
) -> None:
    """`one_by_one`: each is there before the next is sent, whatever partition it goes to."""
    settings = {"linger.ms": 0 if one_by_one else 20, "enable.idempotence": True}
    producer = Producer({"bootstrap.servers": servers, **settings})
    for one in records:
        producer.produce(
            f"{inputs}-{one.topic}", one.value, one.key, partition=one.partition, timestamp=one.timestamp_ms
        )
        if one_by_one:
            assert producer.flush(PATIENCE_S) == 0
    assert producer.flush(PATIENCE_S) == 0


def results(servers: str, run: str, cases: Iterable[Case]) -> dict[str, Result]:
    """By the prefix of the case."""
    cases = list(cases)
    topics = {f"{run}-{case['prefix']}-out": case for case in cases}
    rows = committed_rows(servers, {topic: case["partitions"] for topic, case in topics.items()})
    return {case["prefix"]: final_result(case["result"], rows[topic]) for topic, case in topics.items()}


def committed_rows(servers: str, topics: dict[str, int]) -> dict[str, list[tuple[Any, Any, int]]]:
    """All records of topics with so many partitions each, as (key, value, timestamp), with one consumer."""
    settings = {"group.id": "results", "enable.partition.eof": True, "isolation.level": "read_committed"}
    consumer = Consumer({"bootstrap.servers": servers, "enable.auto.commit": False, **settings})
    unread = {(topic, partition) for topic, count in topics.items() for partition in range(count)}
    consumer.assign([TopicPartition(*place, 0) for place in unread])
    found: dict[str, list[tuple[Any, Any, int]]] = {topic: [] for topic in topics}
    try:
        while unread:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"not read to the end: {sorted(unread)[:5]}"
            place = message.topic(), message.partition()
            if message.error() is None:
                row = _text(message.key()), _text(message.value()), message.timestamp()[1]
                found[place[0]].append(row)
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                unread.discard(place)
    finally:
        consumer.close()
    return found


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode()


class KafkaStreams:
    """One JVM for any number of applications; raises KafkaJarsUnavailable when there can be none."""

    def __init__(self, servers: str, folder: Path) -> None:
        self._servers = servers
        self._folder = folder
        self._log_path = folder / "kafka-streams.log"
        command = java_command("RealStreams", "-Xmx768m", f"-Djava.io.tmpdir={folder}")
        with self._log_path.open("wb") as log:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def run(self, application: str, cases: Iterable[Case], inputs: str) -> dict[str, Any]:
        """Processes all input records. Returns how many records were dropped."""
        assert self._child.stdin is not None and self._child.stdout is not None
        described = [{"ops": as_run(case, inputs, application)["ops"]} for case in cases]
        order = {
            "application": application,
            "servers": self._servers,
            "folder": str(self._folder / application),
            "cases": described,
        }
        self._child.stdin.write(json.dumps(order) + "\n")
        self._child.stdin.flush()
        answer: dict[str, Any] = json.loads(self._child.stdout.readline() or '{"error": "the JVM has ended"}')
        assert "error" not in answer, f"{answer['error']}\n{self._log_path.read_text()[-4000:]}"
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.communicate()
