"""One seed: a cluster, clients and what goes wrong, then the reckoning."""

import asyncio
import secrets
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from moldau.broker.topics.topic_rules import NewTopic
from moldau.coordination.memory import MemoryTree
from moldau.core.errors import ApiError
from moldau.testing.simulation.sim_loop import SimLoop, run_simulated
from moldau.testing.simulation.sim_network import SimNetwork
from sim.history import History, Violation
from sim.invariants import Invariants
from sim.nemesis import PARTITIONS, TOPIC, Nemesis
from sim.producers import keep_producing, keep_producing_loosely
from sim.readers import CommittedReader, keep_a_member, keep_reading
from sim.sim_broker import SimBroker
from sim.sim_client import TROUBLE, SimClient
from sim.transactions import TransactionalProducer

TROUBLED_S_MIN: Final = 3.0
TROUBLED_S_MAX: Final = 10.0
HEAL_S_MAX: Final = 45.0
READ_S_MAX: Final = 900.0
"""Clocks of brokers differ by minutes: a transaction begun by one that is ahead times out late at its successor."""
CHECK_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Report:
    acknowledged: int
    read: int
    transactions: int
    generations: int
    checks: int
    simulated_s: float


class Simulation:
    def __init__(self, loop: SimLoop, seed: int) -> None:
        self._loop = loop
        self._random = random = Random(seed)
        self._network = SimNetwork(loop, random)
        tree = MemoryTree()
        count = random.choice((3, 3, 4, 5))
        self._brokers = [
            SimBroker(number, loop, self._network, tree, random) for number in range(1, count + 1)
        ]
        self._history = History()
        self._invariants = Invariants()
        self.nemesis = Nemesis(self._brokers, self._network, tree.connect(), random)
        self._clients: list[asyncio.Task[None]] = []

    async def run(self) -> Report:
        for broker in self._brokers:
            await broker.start()
        await self._create_topic()
        watch = self._loop.create_task(self._watch())
        self._start_clients()
        trouble = self._loop.create_task(
            self.nemesis.run(self._random.uniform(TROUBLED_S_MIN, TROUBLED_S_MAX))
        )
        await self._finish(trouble, watch)
        await self._wait_until_whole(watch)
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        log = {(TOPIC, index): await self._read_all(index) for index in range(PARTITIONS)}
        self._history.check_final(log)
        watch.cancel()
        history = self._history
        return Report(
            len(history.acknowledged),
            len(history.read),
            sum(each.committed is True for each in history.transactions),
            len({generation for generation, _ in history.owners}),
            self._invariants.checks,
            self._loop.time(),
        )

    async def _create_topic(self) -> None:
        while True:
            broker = self._brokers[0].broker
            assert broker is not None
            try:
                await broker.topics.create(NewTopic(TOPIC, PARTITIONS, 3))
            except ApiError:  # Not everybody has been heard of yet.
                await asyncio.sleep(0.1)
            else:
                return

    def _client(self, name: str) -> SimClient:
        return SimClient(name, self._network, [each.host for each in self._brokers], self._random)

    def _start_clients(self) -> None:
        history = self._history
        work: list[Coroutine[Any, Any, None]] = []
        for index in range(PARTITIONS):
            work += [
                keep_producing(self._client(f"p{index}"), history, (TOPIC, index)),
                keep_producing_loosely(self._client(f"l{index}"), (TOPIC, index)),
                keep_reading(self._client(f"r{index}"), history, TOPIC, index),
            ]
        for name, is_v2 in (("t", False), ("u", True)):
            transactional = TransactionalProducer(self._client(name), history, TOPIC, PARTITIONS, is_v2=is_v2)
            work.append(transactional.run())
        work += [keep_a_member(self._client(f"m{number}"), history) for number in range(3)]
        self._clients = [self._loop.create_task(each) for each in work]

    async def _watch(self) -> None:
        while True:
            self._invariants.check(self._brokers)
            if self._loop.problems:
                context = self._loop.problems[0]
                raise Violation(f"nobody caught: {context.get('message')}") from context.get("exception")
            for client in self._clients:
                if client.done() and not client.cancelled():
                    client.result()
            await asyncio.sleep(CHECK_S)

    async def _finish(self, work: asyncio.Task[None], watch: asyncio.Task[None]) -> None:
        done, _ = await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()

    async def _wait_until_whole(self, watch: asyncio.Task[None]) -> None:
        """Left alone, a cluster heals: every replica comes back into sync, and writes go on."""

        async def heal() -> None:
            deadline = self._loop.time() + HEAL_S_MAX
            known = len(self._history.acknowledged)
            while not self._is_healed() or len(self._history.acknowledged) < known + 3 * PARTITIONS:
                if self._loop.time() > deadline:
                    raise Violation(f"not whole again after {HEAL_S_MAX} s: {self._state()}")
                await asyncio.sleep(0.1)

        await self._finish(self._loop.create_task(heal()), watch)

    def _is_healed(self) -> bool:
        """In sync, as every broker knows it."""
        catalogs = [each.broker.catalog for each in self._brokers if each.broker is not None]
        return len(catalogs) == len(self._brokers) and all(
            len(part.isr) == len(part.replicas) and part.leader >= 0
            for catalog in catalogs
            for entry in catalog.topics()
            for part in entry.partitions
        )

    def _state(self) -> str:
        lines = []
        for each in self._brokers:
            if each.broker is None:
                lines.append(f"broker {each.broker_id} is down")
                continue
            entry = each.broker.catalog.find(TOPIC)
            lines.append(f"broker {each.broker_id} knows {entry and entry.partitions}")
            for part in each.broker.partitions:
                if part.log is not None:
                    lines.append(
                        f"  {part} leader={part.is_leader} epoch={part.leader_epoch} "
                        f"hw={part.log.high_watermark} end={part.log.end_offset}"
                    )
        return f"{len(self._history.acknowledged)} acknowledged\n" + "\n".join(lines)

    def _end_offset(self, index: int) -> int:
        hosted = [
            each.broker.partitions.find(TOPIC, index) for each in self._brokers if each.broker is not None
        ]
        led = [part for part in hosted if part is not None and part.is_leader and part.log is not None]
        return max((part.log.end_offset for part in led), default=1 << 62)

    async def _read_all(self, partition: int) -> dict[int, bytes]:
        """Everything a new consumer finds. Open transactions are ended by their timeout. Whoever answers may know of
        less than the leader has, so the leader's log says where the end is."""
        reader = CommittedReader(self._client("final"), TOPIC, partition)
        deadline = self._loop.time() + READ_S_MAX
        while reader.next_offset < (end_offset := self._end_offset(partition)):
            if self._loop.time() > deadline:
                raise Violation(
                    f"{TOPIC}-{partition} cannot be read beyond {reader.next_offset} of {end_offset}: {self._state()}"
                )
            try:
                await reader.read_some()
            except TROUBLE:
                continue
        return reader.records


def run_seed(seed: int) -> tuple[Report, list[str]]:
    """The report and what went wrong meanwhile. Violation when a promise was broken."""
    log: list[str] = []

    async def run(loop: SimLoop) -> Report:
        simulation = Simulation(loop, seed)
        try:
            return await simulation.run()
        finally:
            log.extend(simulation.nemesis.log)

    try:
        with _seeded_entropy(Random(seed)):
            return run_simulated(run), log
    except BaseException as problem:
        problem.add_note("\n".join(["what went wrong before:", *log]))
        raise


@contextmanager
def _seeded_entropy(random: Random) -> Iterator[None]:
    """What is random elsewhere, so that a seed is all there is to a run."""
    kept = (uuid.uuid4, secrets.token_bytes, secrets.randbits)
    uuid.uuid4 = lambda: uuid.UUID(int=random.getrandbits(128), version=4)
    secrets.token_bytes = lambda nbytes=None: random.randbytes(nbytes or 32)
    secrets.randbits = lambda k: random.getrandbits(k)
    try:
        yield
    finally:
        uuid.uuid4, secrets.token_bytes, secrets.randbits = kept
