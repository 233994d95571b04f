"""The mirror: topics of one cluster, and their mirrors in another. More topics come, so that tasks are made again."""

from functools import partial
from typing import Any

from e2e.connect.kills.flow import Flow
from e2e.connect.kills.topics import PARTITIONS, CommittedReader, NumberedTopic

TOPICS_MAX = 24
PORTIONS_PER_TOPIC = 1_000
"""Then there is another topic. All have records until the end."""
ONE_REPLICA = ("replication.factor", "offset-syncs.topic.replication.factor")


class _Topic:
    """With its mirror."""

    def __init__(self, source_servers: str, servers: str, name: str) -> None:
        self.numbers = NumberedTopic(source_servers, name)
        self.found: list[list[int]] = [[] for _ in range(PARTITIONS)]
        self.reader = CommittedReader(servers, {f"a.{name}": PARTITIONS}, self._take)

    def _take(self, message: Any) -> None:
        self.found[message.partition()].append(int(message.value()))


class Mirrored(Flow):
    name = "mirror"
    tasks = 2
    step = 3_000

    def __init__(self, source_servers: str, servers: str) -> None:
        self._new_topic = partial(_Topic, source_servers, servers)
        self._topics = [self._new_topic(_name(0))]
        self._portions = 0
        self.config = {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "a",
            "source.cluster.bootstrap.servers": source_servers,
            "target.cluster.alias": "b",
            "target.cluster.bootstrap.servers": servers,
            "topics": "numbers-.*",
            "refresh.topics.interval.seconds": "1",
            "tasks.max": str(self.tasks),
            **dict.fromkeys(ONE_REPLICA, "1"),
            **dict.fromkeys(("key.converter", "value.converter", "header.converter"), "ByteArrayConverter"),
        }

    def put(self) -> None:
        self._portions += 1
        if self._portions % PORTIONS_PER_TOPIC == 0 and len(self._topics) < TOPICS_MAX:
            self._topics.append(self._new_topic(_name(len(self._topics))))
        self._topics[self._portions % len(self._topics)].numbers.put()

    def arrived(self) -> int:
        return sum(one.reader.read() for one in list(self._topics))

    def is_complete(self) -> bool:
        arrived, count = self.arrived(), self._count()
        assert arrived <= count, "there are records twice"
        return arrived == count

    def check(self) -> str:
        for one in self._topics:
            assert one.found == one.numbers.numbers
        assert self.arrived() == self._count(), "there is something behind the last record"
        return f"{self._count()} records in {len(self._topics)} topics"

    def close(self) -> None:
        for one in self._topics:
            one.reader.close()

    def _count(self) -> int:
        return sum(one.numbers.count for one in self._topics)


def _name(number: int) -> str:
    """Each comes before the others: the more are spread over tasks in another way."""
    return f"numbers-{TOPICS_MAX - number:02}"
