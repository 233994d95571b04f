"""A small simulated cluster to tell stories with: three brokers, one client, and nothing happens but what is told."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from random import Random
from typing import Any

from moldau.broker.broker import Broker
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.broker.topics.topic_rules import NewTopic
from moldau.cluster.fetch_plan import FetchPlan
from moldau.cluster.fetcher import ReplicaFetcher
from moldau.cluster.follower_logs import FollowerLogs
from moldau.cluster.peer_network import PeerNetwork
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.coordination import tree_layout as layout
from moldau.coordination.memory import MemoryTree
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import BrokerId
from moldau.protocol.messages.log.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from moldau.testing.simulation.sim_loop import SimLoop, run_simulated
from moldau.testing.simulation.sim_network import SimNetwork
from sim.invariants import Invariants
from sim.producers import produce
from sim.sim_broker import SimBroker
from sim.sim_client import TROUBLE, SimClient

TOPIC = "orders"
FETCH_VERSION = 16
PATIENCE_S = 30.0


class Story:
    """Three brokers that all have `orders`, of which each leads one partition."""

    def __init__(self, loop: SimLoop) -> None:
        random = Random(1)
        self.loop = loop
        self.network = SimNetwork(loop, random)
        self._tree = MemoryTree()
        self.brokers = {each: SimBroker(each, loop, self.network, self._tree, random) for each in (1, 2, 3)}
        self.client = SimClient("client", self.network, [each.host for each in self.brokers.values()], random)
        self._invariants = Invariants()

    async def begin(self, configs: Mapping[str, str]) -> None:
        for each in self.brokers.values():
            await each.start()
        deadline = self.loop.time() + PATIENCE_S
        while True:
            broker = self.brokers[1].broker
            assert broker is not None
            try:
                await broker.topics.create(NewTopic(TOPIC, 3, 3, configs=tuple(configs.items())))
            except ApiError as refused:  # Not everybody has been heard of yet.
                assert self.loop.time() < deadline, f"{TOPIC} was not created: {refused}"
                await asyncio.sleep(0.1)
            else:
                break
        await self.until(lambda: self.leader() is not None)

    def partition(self, broker_id: int) -> Partition | None:
        broker = self.brokers[broker_id].broker
        return None if broker is None else broker.partitions.find(TOPIC, 0)

    def leader(self) -> int | None:
        """The one that leads in the latest epoch."""
        led = [
            (part.leader_epoch, broker_id)
            for broker_id in self.brokers
            if (part := self.partition(broker_id)) is not None and part.is_leader
        ]
        return max(led)[1] if led else None

    def high_watermark(self, broker_id: int) -> int:
        part = self.partition(broker_id)
        return -1 if part is None or part.log is None else part.log.high_watermark

    def isr(self, leader: int) -> tuple[int, ...]:
        """As the leader knows it."""
        broker = self.brokers[leader].broker
        entry = None if broker is None else broker.catalog.find(TOPIC)
        return () if entry is None else tuple(entry.partitions[0].isr)

    def set_broker(self, **settings: str) -> None:
        """Of every broker, also of those that are down."""
        store = self._tree.connect()
        for each in self.brokers:
            store.create(f"{layout.CONFIGS}/brokers/{each}", layout.encode_configs(settings))

    async def produce(self, value: bytes) -> None:
        deadline = self.loop.time() + PATIENCE_S
        while self.loop.time() < deadline:
            try:
                code, _ = await produce(self.client, (TOPIC, 0), [value])
            except TROUBLE:
                code = ErrorCode.REQUEST_TIMED_OUT
            if code is ErrorCode.NONE:
                return
            self.client.forget(TOPIC, 0)
            await self.client.pause()
        raise AssertionError(f"{value!r} could not be written")

    async def until(self, condition: Callable[[], bool]) -> None:
        deadline = self.loop.time() + PATIENCE_S
        while not condition():
            assert self.loop.time() < deadline, "waited in vain"
            self._invariants.check(self.brokers.values())
            await asyncio.sleep(0.02)

    async def fetch_as(
        self, replica: int, broker_epoch: int, leader: int, leader_epoch: int, offset: int, last_epoch: int
    ) -> PartitionData:
        """What the leader says to a follower that claims all before `offset`."""
        part = self.partition(leader)
        assert part is not None
        wanted = FetchPartition(
            partition=0,
            current_leader_epoch=leader_epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            partition_max_bytes=1000,
        )
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=replica, replica_epoch=broker_epoch),
            max_wait_ms=0,
            min_bytes=0,
            topics=[FetchTopic(topic_id=part.topic_id, partitions=[wanted])],
        )
        host = self.brokers[leader].host
        answer = await self.client.ask(host, request, FETCH_VERSION, FetchResponse)
        return answer.responses[0].partitions[0]


def tell(story: Callable[[Story], Coroutine[Any, Any, None]], **configs: str) -> None:
    """`configs` are the topic's."""

    async def run(loop: SimLoop) -> None:
        told = Story(loop)
        await told.begin(configs)
        await story(told)
        assert not loop.problems

    run_simulated(run)


def lone_fetcher(broker: Broker, leader: BrokerId, network: PeerNetwork) -> ReplicaFetcher:
    """One more fetcher of this broker, which only the test knows."""
    throttle = ReplicationThrottle(lambda: 0, 1, 1)
    logs = FollowerLogs(
        broker.broker_id,
        clock=broker.clock,
        scheduler=broker.scheduler,
        disks=broker.disks,
        flusher=broker.flusher,
        parked_fetches=broker.parked_fetches,
        throttle=throttle,
        remove_later=lambda *_: None,
    )
    return ReplicaFetcher(
        broker.broker_id,
        leader,
        network,
        FetchPlan(broker.broker_id, broker.clock, throttle),
        logs,
        clock=broker.clock,
        scheduler=broker.scheduler,
        disks=broker.disks,
        settings=lambda: broker.configs.broker,
        broker_epoch=lambda: 0,
        on_refused=lambda _: None,
    )
