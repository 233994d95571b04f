"""The coordinators this broker runs: one for each partition of the coordinators' topics that it leads."""

import logging
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.coordinator.shards import CoordinatorShards, Shard
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.broker.topics.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from moldau.core.errors import ApiError, StorageFault

_log = logging.getLogger("moldau.coordinator")

RETRY_MS: Final = 1000


class LocalCoordinators:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._is_closed = False

    def partitions(self) -> list[Partition]:
        """The partitions led here whose records are the state of a coordinator."""
        return [
            each for each in self._broker.partitions if each.is_leader and self._shards_of(each) is not None
        ]

    def elect(self, partition: Partition) -> None:
        """Loads the coordinator of a partition that is led here; does nothing for any other partition."""
        if partition.is_leader and not self._is_closed and self._shards_of(partition) is not None:
            self._broker.scheduler.spawn(self._load(partition, partition.leader_epoch))

    def resign(self, partition: Partition) -> None:
        shards = self._shards_of(partition)
        if shards is not None:
            shards.resign(partition.index)

    def resign_all(self) -> None:
        for partition in self.partitions():
            self.resign(partition)

    def close(self) -> None:
        """No coordinator is loaded from now on."""
        self._is_closed = True

    async def _load(self, partition: Partition, leader_epoch: int) -> None:
        shards = self._shards_of(partition)
        if shards is None or not partition.is_leader or partition.leader_epoch != leader_epoch:
            return
        try:
            await shards.elect(partition.index, self._broker.scheduler.run_in_worker)
        except (ApiError, StorageFault) as problem:
            _log.error("%s cannot be loaded; retrying in %d ms: %s", partition, RETRY_MS, problem)
            self._broker.scheduler.call_later(
                RETRY_MS, lambda: self._broker.scheduler.spawn(self._load(partition, leader_epoch))
            )

    def _shards_of(self, partition: Partition) -> "CoordinatorShards[Shard] | None":
        found: object = None
        if partition.topic == OFFSETS_TOPIC:
            found = self._broker.groups.shards
        elif partition.topic == TRANSACTIONS_TOPIC:
            found = self._broker.transactions.shards
        return found  # type: ignore[return-value] # Of either kind: only `elect` and `resign` are used here.
