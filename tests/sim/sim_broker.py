"""One broker of a simulated cluster: the real parts, put together as a node does, on simulated surroundings."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.members import Members
from moldau.broker.request.advertised_listeners import AdvertisedListeners
from moldau.broker.request.client_session import ClientSession
from moldau.cluster.broker_peers import BrokerPeers
from moldau.cluster.environment import Environment
from moldau.cluster.member import ClusterMember
from moldau.cluster.registration import Registration
from moldau.coordination import tree_layout as layout
from moldau.coordination.memory import MemoryStore, MemoryTree
from moldau.core.ids import BrokerId
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.static_layer import static_layer
from moldau.node.assembly import assemble
from moldau.node.housekeeping import Housekeeping
from moldau.node.opening import OpenedData, open_data
from moldau.node.shared_parts import ClusterParts
from moldau.storage.segments.segment import RetiredSegment
from moldau.testing.simulation.crash_disk import CrashDisk, PowerCut
from moldau.testing.simulation.sim_loop import SimClock, SimLoop, SimThreads
from moldau.testing.simulation.sim_network import LISTENER, PORT, SimConnection, SimNetwork

SESSION_S: Final = 1.5
SETTINGS: Final = {
    "log.dirs": "/data",
    "listeners": "PLAINTEXT://:9092",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "2",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "replica.lag.time.max.ms": "1200",
    "replica.socket.timeout.ms": "3000",
    "replica.fetch.backoff.ms": "200",
    "log.flush.offset.checkpoint.interval.ms": "700",
    "log.initial.task.delay.ms": "300",
    "log.roll.ms": "4000",
    "zookeeper.session.timeout.ms": "1500",
    "auto.create.topics.enable": "false",
    "leader.imbalance.check.interval.seconds": "7",
}


@lru_cache(maxsize=16)
def broker_layers(broker_id: int) -> BrokerLayers:
    own = {"broker.id": broker_id, "node.id": broker_id, "broker.rack": f"rack-{broker_id % 3}"}
    return static_layer(overrides=[f"{key}={value}" for key, value in {**SETTINGS, **own}.items()])


class SimLinks:
    """Implements `cluster.peer_network.PeerNetwork`."""

    def __init__(self, network: SimNetwork, host: str, members: Members) -> None:
        self._network = network
        self._host = host
        self._members = members

    async def connect(self, broker_id: int, timeout_s: float) -> SimConnection:
        member = self._members.find(broker_id)
        if member is None:
            raise LookupError(f"broker {broker_id} is not alive")
        return await self._network.connect(self._host, member.addresses[LISTENER].host, timeout_s)


class SimBroker:
    def __init__(
        self, broker_id: int, loop: SimLoop, network: SimNetwork, tree_: MemoryTree, random: Random
    ) -> None:
        self.broker_id = broker_id
        self.host = f"broker-{broker_id}"
        self._loop = loop
        self._network = network
        self._tree = tree_
        self._random = random
        self.clock = SimClock(loop, random.randint(-300_000, 300_000))
        self.disk = CrashDisk()
        self.boot = 0
        self.broker: Broker | None = None
        self.member: ClusterMember | None = None
        self._data: OpenedData | None = None
        self._store: MemoryStore | None = None
        self._threads: list[SimThreads] = []
        self._expiry: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self.broker is not None

    async def start(self) -> None:
        loop, random = self._loop, self._random
        files = SimThreads(loop, random, is_in_order=False, delay_ms_max=3)
        store_thread = SimThreads(loop, random, is_in_order=True, delay_ms_max=8)
        self._threads = [files, store_thread]
        layers = broker_layers(self.broker_id)
        store = self._store = self._tree.connect()
        self._data = open_data(layers, self.clock, disk=self.disk, cluster_store=store)
        members = Members(BrokerId(self.broker_id), None, AdvertisedListeners({}))
        links = SimLinks(self._network, self.host, members)
        peers = BrokerPeers(links, self.host)
        broker = assemble(layers, self._data, self.clock, files, store_thread, ClusterParts(members, peers))

        def remove_later(segment: RetiredSegment, delay_ms: int) -> None:
            files.call_later(delay_ms, segment.remove)

        environment = Environment(
            scheduler=files,
            store_thread=store_thread,
            hand_over=self._hand_over(files),
            network=links,
            files=self.disk,
            boot_id=str(self.boot),
            remove_later=remove_later,
        )
        registration = Registration(
            store=store,
            broker_id=self.broker_id,
            directory_id=self._data.directories[0].directory_id,
            endpoints=(layout.Endpoint(LISTENER, self.host, PORT),),
            security={LISTENER: "PLAINTEXT"},
            rack=layers.settings().broker_rack,
            wait_ms=0,
            now_ms=self.clock.now_ms,
        )
        member = ClusterMember(broker, peers, store, environment, lambda: registration)
        self._network.listen(self.host, lambda connection: ClientSession(broker, connection))
        self.broker, self.member = broker, member
        await member.start()
        Housekeeping(broker).start()

    def _hand_over(self, files: SimThreads) -> Callable[[Callable[[], None]], object]:
        """Watches tell late, but in order."""
        told_at = 0.0

        def hand_over(callback: Callable[[], None]) -> object:
            nonlocal told_at
            told_at = max(told_at, self._loop.time() + self._random.random() * 0.02)
            return self._loop.call_at(told_at, files._unless_dead, callback)

        return hand_over

    async def stop(self) -> None:
        """As SIGTERM does."""
        member, broker = self.member, self.broker
        assert member is not None and broker is not None
        await member.stop(is_controlled=True)
        if self.broker is not broker:
            return  # Killed meanwhile.
        broker.groups.shards.stop()
        broker.transactions.shards.stop()
        self._network.leave(self.host)
        await broker.flusher.close()
        self._end_threads()
        assert self._data is not None
        self._data.close(clean=True)
        self._gone()

    def kill(self, *, with_power: bool, luck: Random | None = None) -> None:
        """The process dies; with the power also what was not on disk."""
        self._network.leave(self.host)
        self._end_threads()
        if with_power:
            self.boot += 1
            self.disk = self.disk.crash(luck or self._random)
        else:
            self.disk = self.disk.outlive_process()
        store = self._store
        if store is not None:
            store.disconnect()
            # The store notices by and by; a restart clears it away sooner.
            self._loop.call_later(SESSION_S, store.close)
        self._gone()

    def slow_files(self, delay_ms: int) -> None:
        """From now on a job that works on files takes at least so long."""
        self._threads[0].delay_ms_min = delay_ms

    def cut_from_store(self) -> None:
        store = self._store
        if store is not None:
            store.disconnect()
            self._expiry = self._loop.call_later(SESSION_S, store.expire)

    def lose_session_unnoticed(self) -> None:
        if self._store is not None:
            self._store.expire_unnoticed()

    def rejoin_store(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        if self._store is not None:
            self._store.reconnect()

    def _end_threads(self) -> None:
        for threads in self._threads:
            threads.kill()

    def _gone(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        self.broker = self.member = self._data = self._store = None


__all__ = ["PowerCut", "SimBroker"]
