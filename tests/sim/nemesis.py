"""What goes wrong: brokers die and come back, links break, sessions end, machines lose power; and what people do
meanwhile: replicas move, leaders are elected."""

import asyncio
from random import Random
from typing import Final

import orjson

from moldau.broker.topics.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from moldau.coordination import tree_layout as tree
from moldau.coordination.memory import MemoryStore
from moldau.coordination.store import NodeExists, NoNode
from moldau.testing.simulation.sim_network import SimNetwork
from sim.sim_broker import SESSION_S, SimBroker

TOPIC: Final = "orders"
PARTITIONS: Final = 2


class Nemesis:
    def __init__(
        self, brokers: list[SimBroker], network: SimNetwork, store: MemoryStore, random: Random
    ) -> None:
        """`store` is a session of its own."""
        self._brokers = brokers
        self._store = store
        self._network = network
        self._random = random
        self.log: list[str] = []
        """What it did, for whoever looks into a failure."""

    async def run(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        deeds = [self._kill, self._kill, self._cut_power, self._stop, self._isolate, self._isolate,
                 self._cut_from_store, self._freeze, self._slow_down, self._move_replicas, self._elect]  # fmt: skip
        while loop.time() < end:
            await asyncio.sleep(self._random.random() * 1.2)
            await self._random.choice(deeds)()
        await self.make_whole()

    async def make_whole(self) -> None:
        self._network.mend_all()
        self._network.latency_ms_max = 4.0
        for broker in self._brokers:
            if broker.is_running:
                broker.rejoin_store()
            else:
                await broker.start()

    def _note(self, text: str) -> None:
        self.log.append(f"{asyncio.get_running_loop().time():8.3f} {text}")

    def _running(self) -> list[SimBroker]:
        return [each for each in self._brokers if each.is_running]

    async def _come_back(self, broker: SimBroker) -> None:
        await asyncio.sleep(self._random.choice((0.05, 1.0, 5.0)) * self._random.random())
        self._note(f"start {broker.broker_id}")
        await broker.start()

    async def _kill(self) -> None:
        if len(self._running()) < len(self._brokers):
            return
        was_whole = self._is_whole()
        broker = self._random.choice(self._running())
        self._note(f"kill {broker.broker_id}")
        broker.kill(with_power=False)
        if self._random.random() < 0.4:
            await asyncio.sleep(self._random.choice((0.0, 2.0)) * self._random.random())
            other = self._random.choice(self._running())
            with_power = was_whole and self._random.random() < 0.5
            self._note(f"{'cut power of' if with_power else 'kill'} {other.broker_id} too")
            other.kill(with_power=with_power)
            await self._come_back(other)
        await self._come_back(broker)

    async def _cut_power(self) -> None:
        """Only while every replica has everything: a cluster that does not flush promises nothing once the last
        replica in sync loses its machine."""
        if len(self._running()) < len(self._brokers) or not self._is_whole():
            return
        broker = self._random.choice(self._running())
        self._note(f"cut power of {broker.broker_id}")
        broker.kill(with_power=True)
        await self._come_back(broker)

    async def _stop(self) -> None:
        if len(self._running()) < len(self._brokers):
            return
        broker = self._random.choice(self._running())
        self._note(f"stop {broker.broker_id}")
        await broker.stop()
        await self._come_back(broker)

    async def _isolate(self) -> None:
        """Some links, one way or both; sometimes the store too."""
        hosts = [each.host for each in self._brokers]
        lonely = self._random.choice(self._brokers)
        others = [each for each in hosts if each != lonely.host]
        others = self._random.sample(others, self._random.randint(1, len(others)))
        both = self._random.random() < 0.7
        self._note(f"isolate {lonely.broker_id} from {others}{'' if both else ', one way'}")
        for other in others:
            self._network.cut(lonely.host, other)
            if both:
                self._network.cut(other, lonely.host)
        if self._random.random() < 0.6:
            self._note(f"cut {lonely.broker_id} from the store")
            lonely.cut_from_store()
        await asyncio.sleep(self._random.choice((0.5, 3.0, 6.0)) * self._random.random())
        self._note("mend")
        self._network.mend_all()
        lonely.rejoin_store()

    async def _cut_from_store(self) -> None:
        broker = self._random.choice(self._brokers)
        self._note(f"cut {broker.broker_id} from the store")
        broker.cut_from_store()
        await asyncio.sleep(self._random.random() * 8)
        self._note(f"{broker.broker_id} reaches the store")
        broker.rejoin_store()

    async def _freeze(self) -> None:
        """A process stands still for so long that its session ends, and goes on before it hears of that."""
        broker = self._random.choice(self._brokers)
        self._note(f"freeze {broker.broker_id}")
        self._network.freeze(broker.host)
        await asyncio.sleep(SESSION_S)
        broker.lose_session_unnoticed()
        await asyncio.sleep(self._random.random() * 4)
        self._note(f"{broker.broker_id} goes on")
        self._network.mend_all()
        await asyncio.sleep(self._random.random())
        self._note(f"{broker.broker_id} hears of it")
        broker.rejoin_store()

    async def _slow_down(self) -> None:
        self._network.latency_ms_max = self._random.choice((1.0, 30.0, 400.0))
        self._note(f"latency up to {self._network.latency_ms_max} ms")
        await asyncio.sleep(self._random.random() * 3)
        self._network.latency_ms_max = 4.0

    async def _move_replicas(self) -> None:
        """Of any topic, also of the internal ones, and also while they are still moving."""
        topic, index = self._some_partition()
        numbers = [each.broker_id for each in self._brokers]
        target = self._random.sample(numbers, self._random.randint(3, len(numbers)))
        self._ask(tree.REASSIGNMENT, {"topic": topic, "partition": index, "replicas": target})

    async def _elect(self) -> None:
        topic, index = self._some_partition()
        self._ask(tree.PREFERRED_ELECTION, {"topic": topic, "partition": index})

    def _some_partition(self) -> tuple[str, int]:
        topic = self._random.choice((TOPIC, TOPIC, OFFSETS_TOPIC, TRANSACTIONS_TOPIC))
        return topic, self._random.randrange(PARTITIONS) if topic == TOPIC else 0

    def _ask(self, path: str, wanted: dict[str, object]) -> None:
        """Of whoever is the controller."""
        try:
            self._store.create(path, orjson.dumps({"version": 1, "partitions": [wanted]}))
        except (NodeExists, NoNode):  # What was asked before is not taken yet, or nobody has ever been there.
            return
        self._note(f"{path} {wanted}")

    def _is_whole(self) -> bool:
        """Whether every replica of every partition is in sync, as every broker knows it, and level."""
        ends: dict[tuple[str, int], set[int]] = {}
        for each in self._running():
            broker = each.broker
            assert broker is not None
            for entry in broker.catalog.topics():
                if any(len(part.isr) < len(part.replicas) for part in entry.partitions):
                    return False
            for partition in broker.partitions:
                if partition.log is not None:
                    ends.setdefault((partition.topic, partition.index), set()).add(
                        partition.log.high_watermark
                    )
        return all(len(offsets) == 1 for offsets in ends.values())
