"""The mirror: a topic of one cluster, and its mirror in another."""

from typing import Any

from e2e.connect.kills.flow import Flow
from e2e.connect.kills.topics import PARTITIONS, CommittedReader, NumberedTopic

ONE_REPLICA = ("replication.factor", "offset-syncs.topic.replication.factor")


class Mirrored(Flow):
    name = "mirror"
    tasks = 2
    step = 3_000

    def __init__(self, source_servers: str, servers: str) -> None:
        self._topic = NumberedTopic(source_servers, "numbers")
        self._found: list[list[int]] = [[] for _ in range(PARTITIONS)]
        self._reader = CommittedReader(servers, {"a.numbers": PARTITIONS}, self._take)
        self.config = {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "a",
            "source.cluster.bootstrap.servers": source_servers,
            "target.cluster.alias": "b",
            "target.cluster.bootstrap.servers": servers,
            "topics": "numbers",
            "tasks.max": str(self.tasks),
            **dict.fromkeys(ONE_REPLICA, "1"),
            **dict.fromkeys(("key.converter", "value.converter", "header.converter"), "ByteArrayConverter"),
        }

    def put(self) -> None:
        self._topic.put()

    def arrived(self) -> int:
        return self._reader.read()

    def is_complete(self) -> bool:
        arrived = self.arrived()
        assert arrived <= self._topic.count, "there are records twice"
        return arrived == self._topic.count

    def check(self) -> str:
        assert self._found == self._topic.numbers
        assert self.arrived() == self._topic.count, "there is something behind the last record"
        return f"{self._topic.count} records"

    def close(self) -> None:
        self._reader.close()

    def _take(self, message: Any) -> None:
        self._found[message.partition()].append(int(message.value()))
