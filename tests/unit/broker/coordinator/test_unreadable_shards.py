"""A coordinator whose partition cannot be read leaves the others alone, and is tried again."""

import asyncio
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import KafkaException, Producer

from moldau.broker.coordinator.shards import CoordinatorShards
from moldau.broker.topics.catalog import TopicCatalog, TopicEntry, initial_entry
from moldau.broker.topics.internal_topics import java_hash
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import TopicId, TopicPartition
from moldau.node.loop_scheduler import LoopScheduler
from moldau.testing import LocalCluster

DEADLINE_S: Final = 120.0
TOPIC: Final = "__transaction_state"
PARTITIONS: Final = 4


def test_a_broker_starts_with_the_coordinators_of_the_disks_it_has(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    settings = {
        "log.dirs": f"{first},{second}",
        "transaction.state.log.num.partitions": str(PARTITIONS),
    }
    names = [f"name-{number}" for number in range(8)]
    with LocalCluster(settings=settings, data_directory=str(tmp_path / "data")) as cluster:
        init_transactions(cluster, names[0])
        shards = cluster.broker(1).transactions.shards
        assert len(list(shards)) == PARTITIONS
    second.rename(tmp_path / "away")
    second.write_text("A disk that has failed is no directory.")
    with LocalCluster(settings=settings, data_directory=str(tmp_path / "data")) as cluster:
        shards = cluster.broker(1).transactions.shards
        assert len(list(shards)) == PARTITIONS / 2
        here = [name for name in names if shards.find(name) is not None]
        assert 0 < len(here) < len(names)
        for name in here:
            init_transactions(cluster, name)
        absent = next(name for name in names if name not in here)
        with pytest.raises(KafkaException, match="NOT_COORDINATOR"):
            init_transactions(cluster, absent, 1.0)


def init_transactions(cluster: LocalCluster, name: str, timeout_s: float = DEADLINE_S) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": name})
    producer.init_transactions(timeout_s)


class Reluctant:
    """A shard that cannot be read at first."""

    def __init__(self, faults: list[StorageFault]) -> None:
        self._faults = faults
        self.is_started = False

    def load(self) -> None:
        if self._faults:
            raise self._faults.pop()

    def start(self) -> None:
        self.is_started = True

    def stop(self) -> None:
        self.is_started = False


def test_a_request_for_it_tries_again() -> None:
    asyncio.run(try_again())


async def try_again() -> None:
    scheduler = LoopScheduler(asyncio.get_running_loop(), name="test", workers_max=1)
    catalog = TopicCatalog()
    entry = TopicEntry(TOPIC, TopicId(b"0123456789abcdef"), (initial_entry((1,)),) * PARTITIONS, {})
    made: list[int] = []
    faults = {1: [StorageFault("/data", "the disk is away")]}

    async def create() -> TopicEntry:
        if catalog.find(TOPIC) is None:
            catalog.put(entry)
        return entry

    def make(topic_partition: TopicPartition) -> Reluctant:
        made.append(topic_partition.partition)
        return Reluctant(faults.get(topic_partition.partition, []))

    shards = CoordinatorShards(TOPIC, catalog, create, lambda: make, scheduler, lambda _: True)
    names = {java_hash(f"name-{n}") % PARTITIONS: f"name-{n}" for n in range(40)}
    # Those that ask at once wait for the same shards.
    await asyncio.gather(*(shards.ensure() for _ in range(5)))
    assert made == [0, 1, 2, 3]
    assert len(list(shards)) == PARTITIONS - 1
    # Whoever needs another one leaves it alone.
    await shards.ensure()
    assert (await shards.ready(names[0])).is_started
    assert made == [0, 1, 2, 3]
    with pytest.raises(ApiError):
        shards.at(1)
    assert (await shards.ready(names[1])).is_started
    assert made == [0, 1, 2, 3, 1]
    assert len(list(shards)) == PARTITIONS
    await scheduler.close()
