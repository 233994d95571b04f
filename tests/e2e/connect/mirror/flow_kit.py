"""Runs the connectors of a flow as a worker of the target would, on the test's own thread, turn by turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from confluent_kafka import Consumer, Producer, TopicPartition

from connect_kit import StoredOffsets, eventually
from moldau.pipeline.connect.api import SourceConnector, SourceTask
from moldau.pipeline.connect.connectors.mirror.source import (
    MirrorCheckpointConnector,
    MirrorHeartbeatConnector,
    MirrorSourceConnector,
)
from moldau.pipeline.connect.data.records import SourceRecord

ANSWER_S = 60.0
EAGER = {
    "refresh.topics.interval.seconds": "0",
    "refresh.groups.interval.seconds": "0",
    "sync.topic.configs.interval.seconds": "0",
    "sync.topic.acls.interval.seconds": "0",
    "emit.checkpoints.interval.seconds": "0",
    "sync.group.offsets.interval.seconds": "0",
    "emit.heartbeats.interval.seconds": "0",
}


class Reachable(Protocol):
    """Any cluster."""

    @property
    def bootstrap_servers(self) -> str: ...


class Running:
    """One connector with its tasks."""

    def __init__(
        self, kind: type[SourceConnector], config: Mapping[str, str], servers: str, tasks_max: int = 2
    ) -> None:
        self._connector = kind()
        self._tasks_max = tasks_max
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "transactional.id": f"{kind.__name__}-{config['source.cluster.alias']}",
            }
        )
        self._producer.init_transactions(ANSWER_S)
        self.offsets = StoredOffsets()
        self._connector.start(config)
        self.tasks: list[SourceTask] = []
        self.start_tasks()

    def turn(self) -> int:
        """One poll of each task. Answers how many records were written."""
        if self._connector.changed():
            self.stop_tasks()
            self.start_tasks()
        return sum(map(self._turn_of, self.tasks))

    def start_tasks(self) -> None:
        for config in self._connector.task_configs(self._tasks_max):
            task = self._connector.task_class()
            task.start(config, self.offsets)
            self.tasks.append(task)

    def stop_tasks(self) -> None:
        for task in self.tasks:
            task.stop()
        self.tasks = []

    def stop(self) -> None:
        self.stop_tasks()
        self._connector.stop()

    def _turn_of(self, task: SourceTask) -> int:
        records = task.poll()
        if not records:
            return 0
        self._producer.begin_transaction()
        for one in records:
            self._write(one)
        self._producer.commit_transaction(ANSWER_S)
        self.offsets.store(records)
        task.committed()
        return len(records)

    def _write(self, one: SourceRecord) -> None:
        headers = [(header.key, header.value) for header in one.headers]
        partition = -1 if one.partition is None else one.partition
        assert one.timestamp_ms is not None
        self._producer.produce(
            one.topic, one.value, one.key, partition, timestamp=one.timestamp_ms, headers=headers
        )


class Flow:
    """All three connectors from one cluster to another."""

    def __init__(
        self, source: tuple[str, str], target: tuple[str, str], more: Mapping[str, str] | None = None
    ) -> None:
        """`source` and `target`: alias and bootstrap servers."""
        self.config = {
            **EAGER,
            "source.cluster.alias": source[0],
            "source.cluster.bootstrap.servers": source[1],
            "target.cluster.alias": target[0],
            "target.cluster.bootstrap.servers": target[1],
            **(more or {}),
        }
        self.copying = Running(MirrorSourceConnector, self.config, target[1])
        self.checkpoints = Running(MirrorCheckpointConnector, self.config, target[1])
        self.heartbeats = Running(MirrorHeartbeatConnector, self.config, target[1])

    def turn(self) -> int:
        return sum(one.turn() for one in (self.copying, self.checkpoints, self.heartbeats))

    def stop(self) -> None:
        for one in (self.copying, self.checkpoints, self.heartbeats):
            one.stop()


def until(flows: Iterable[Flow], is_true: Callable[[], Any], what: str) -> Any:
    """Runs the flows until it is true."""
    running = list(flows)

    def turned() -> Any:
        for flow in running:
            flow.turn()
        return is_true()

    return eventually(turned, what)


def produced(cluster: Reachable, topic: str, values: Sequence[bytes], **more: Any) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in values:
        producer.produce(topic, value, **more)
    assert producer.flush(ANSWER_S) == 0


def reader(servers: str, group: str = "reader", **more: Any) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
            **more,
        }
    )


def read_values(servers: str, topic: str, partition: int = 0) -> list[bytes | None]:
    return [message.value() for message in read_messages(servers, topic, partition)]


def read_messages(servers: str, topic: str, partition: int = 0) -> list[Any]:
    """What a partition has now, committed."""
    at_end_too: dict[str, Any] = {"enable.partition.eof": True}
    with_eof = reader(servers, **at_end_too)
    with_eof.assign([TopicPartition(topic, partition, 0)])
    found: list[Any] = []

    def at_end() -> bool:
        message = with_eof.poll(1)
        while message is not None and message.error() is None:
            found.append(message)
            message = with_eof.poll(1)
        return message is not None

    eventually(at_end, f"the end of {topic}-{partition}")
    with_eof.close()
    return found
