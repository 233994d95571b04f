"""Topics of numbered records that a connector reads, and readers of topics that one writes."""

import random
from collections.abc import Callable, Mapping
from typing import Any, cast

from confluent_kafka import OFFSET_BEGINNING, Consumer, IsolationLevel, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from compat.server_process import wait_until
from e2e.connect.server.connect_process import PATIENCE_S

PARTITIONS = 3
RECORDS_PER_PORTION = 20
ABORTED = 0.1
"""The share of transactions that are given up."""
RECORDS_PER_CALL = 20_000


class NumberedTopic:
    """Each record has the next number. Numbers below zero are in transactions that were aborted."""

    def __init__(self, servers: str, name: str, value_of: Callable[[int], bytes] = b"%d".__mod__) -> None:
        self.name = name
        self.numbers: list[list[int]] = [[] for _ in range(PARTITIONS)]
        """What is committed, by partition."""
        self._value_of = value_of
        self._dice = random.Random(1874)
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()
        self._producer = Producer(
            {"bootstrap.servers": servers, "transactional.id": f"{name}-numbers", "linger.ms": 0}
        )
        self._producer.init_transactions(PATIENCE_S)

    @property
    def count(self) -> int:
        return sum(map(len, self.numbers))

    def put(self) -> None:
        """A transaction, which may be aborted."""
        if self._dice.random() < ABORTED:
            self._write([(partition, -1) for partition in range(PARTITIONS)])
            self._producer.abort_transaction(PATIENCE_S)
        count = self._dice.randrange(1, 2 * RECORDS_PER_PORTION)
        self.commit([self._dice.randrange(PARTITIONS) for _ in range(count)])

    def commit(self, partitions: list[int]) -> None:
        """A record into each of them, in order."""
        first = self.count
        pairs = [(partition, first + index) for index, partition in enumerate(partitions)]
        self._write(pairs)
        self._producer.commit_transaction(PATIENCE_S)
        for partition, number in pairs:
            self.numbers[partition].append(number)

    def _write(self, pairs: list[tuple[int, int]]) -> None:
        self._producer.begin_transaction()
        for partition, number in pairs:
            self._producer.produce(self.name, self._value_of(number), b"%d" % number, partition)
        assert self._producer.flush(PATIENCE_S) == 0


class CommittedReader:
    """Reads what is committed of topics, from their beginning. `take` gets each record."""

    def __init__(self, servers: str, topics: Mapping[str, int], take: Callable[[Any], None]) -> None:
        """`topics`: the number of partitions of each. They need not exist yet."""
        self.count = 0
        self._take = take
        self._places = [(name, number) for name, count in topics.items() for number in range(count)]
        self._ends: dict[tuple[str, int], int] = {}
        """Behind what has been read, of each partition."""
        self._admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "reader-of-everything",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )

    def read(self) -> int:
        """Takes what there is now. Answers how many records there were altogether."""
        if not self._ends and not self._begin():
            return 0
        asked = {TopicPartition(*place): OffsetSpec.latest() for place in self._places}
        answers = self._admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
        wanted = {(one.topic, one.partition): found.result().offset for one, found in answers.items()}
        wait_until(lambda: self._reads_to(wanted), "the end of the topics", PATIENCE_S)
        return self.count

    def close(self) -> None:
        self._consumer.close()

    def _begin(self) -> bool:
        """A client that waits for a topic gives up after half a minute: it begins when all are there."""
        if (
            not {name for name, _ in self._places}
            <= self._admin.list_topics(timeout=PATIENCE_S).topics.keys()
        ):
            return False
        self._consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in self._places])
        self._ends = dict.fromkeys(self._places, 0)
        return True

    def _reads_to(self, wanted: Mapping[tuple[str, int], int]) -> bool:
        for message in self._consumer.consume(RECORDS_PER_CALL, 0.1):
            error = message.error()
            place, offset = cast(tuple[str, int], (message.topic(), message.partition())), message.offset()
            if error is None:
                self._take(message)
                self.count += 1
                self._ends[place] = cast(int, offset) + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                # Behind the marker that ends a transaction, which is no record.
                self._ends[place] = cast(int, offset)
            else:
                raise AssertionError(error.str())
        return all(self._ends[place] >= end for place, end in wanted.items())
