"""A cluster of real processes is hurt in every way while clients write and read; nothing they were promised is lost.

A few rounds by default; `--rounds 60` is what a release has to survive.
"""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from compat.apache_kafka import java_command
from compat.moldau_broker import MoldauBroker
from e2e.cluster.clients import Banker, JavaWriter, Reader, Writer, read_all, wait_for_progress
from e2e.cluster.gates import Gates
from e2e.cluster.history import History, find_problems, record, writer_and_number
from e2e.cluster.on_demand import on_demand
from e2e.cluster.processes import ClusterProcesses
from kafka_jars import KafkaJarsUnavailable
from moldau.coordination.zookeeper_server import ZooKeeperServer

SETTINGS = {"zookeeper.session.timeout.ms": "4000", "min.insync.replicas": "2"}
PLAIN = [("plain", partition) for partition in range(3)]
LEDGER = [("ledger", partition) for partition in range(2)]
PROGRESS = 50
pytestmark = on_demand
PAUSE_S = 6.0
"""Longer than a session: what stands still so long is taken for dead."""


class Hurting:
    """The ways to hurt a cluster. Each returns how to make it well again."""

    def __init__(self, cluster: ClusterProcesses, rng: Random) -> None:
        self._cluster = cluster
        self._rng = rng
        self.ways: dict[str, Callable[[], Callable[[], None]]] = {
            "kill -9 of a broker": lambda: self._kill(self._any()),
            "kill -9 of the controller": lambda: self._kill(self._controller()),
            "SIGSTOP of a broker": lambda: self._stop(self._any()),
            "SIGSTOP of the controller": lambda: self._stop(self._controller()),
            "isolation of a broker": lambda: self._isolate(self._any()),
            "isolation of the controller": lambda: self._isolate(self._controller()),
            "kill -9 of ZooKeeper's leader": self._kill_zookeeper,
            "SIGSTOP of ZooKeeper's leader": self._stop_zookeeper,
            "isolation of ZooKeeper's leader": self._isolate_zookeeper,
        }

    def _any(self) -> int:
        return self._rng.choice(sorted(self._cluster.brokers))

    def _controller(self) -> int:
        seen = self._cluster.picture()
        return self._any() if seen is None or seen.controller is None else seen.controller

    def _kill(self, number: int) -> Callable[[], None]:
        self._cluster.brokers[number].kill9()
        return lambda: void(self._cluster.brokers[number].start())

    def _stop(self, number: int) -> Callable[[], None]:
        self._cluster.pause(number)
        self._wait()
        return lambda: self._cluster.resume(number)

    def _isolate(self, number: int) -> Callable[[], None]:
        self._cluster.isolate(number)
        self._wait()
        return lambda: self._cluster.rejoin(number)

    def _kill_zookeeper(self) -> Callable[[], None]:
        leader = self._zookeeper_leader()
        leader.kill()
        return leader.start

    def _stop_zookeeper(self) -> Callable[[], None]:
        leader = self._zookeeper_leader()
        os.kill(leader.pid, signal.SIGSTOP)
        self._wait()
        return lambda: os.kill(leader.pid, signal.SIGCONT)

    def _isolate_zookeeper(self) -> Callable[[], None]:
        leader = self._zookeeper_leader()
        self._cluster.isolate_zookeeper(leader)
        self._wait()
        return lambda: self._cluster.rejoin_zookeeper(leader)

    def _zookeeper_leader(self) -> ZooKeeperServer:
        servers = self._cluster.zookeepers
        return next((each for each in servers if each.mode() == "leader"), servers[0])

    def _wait(self) -> None:
        time.sleep(self._rng.uniform(0.2, PAUSE_S))


def void(_result: object) -> None:
    return None


@pytest.fixture
def gates() -> Iterator[Gates]:
    with Gates() as opened:
        yield opened


def test_nothing_promised_is_lost_whatever_happens(
    gates: Gates, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    rounds: int = pytestconfig.getoption("--rounds")
    seed = pytestconfig.getoption("--chaos-seed")
    seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    rng = Random(seed)
    replay = f"replay with: pytest tests/e2e/cluster/test_chaos.py --rounds {rounds} --chaos-seed {seed}"
    history = History()
    with ClusterProcesses(tmp_path, is_ensemble=True, gates=gates, settings=SETTINGS) as cluster:
        for topic, places in (("plain", PLAIN), ("ledger", LEDGER)):
            cluster.create_topic(topic, len(places), 3)
        cluster.wait_until_whole("plain", "ledger")
        java_writers = _java_writers(cluster, history, tmp_path)
        with ExitStack() as clients:
            for client in (
                Writer("writer-1", cluster.bootstrap, PLAIN, history),
                Writer("writer-2", cluster.bootstrap, PLAIN, history),
                Banker("banker", cluster.bootstrap, LEDGER, history, Random(rng.random())),
                Reader("reader", cluster.bootstrap, PLAIN, history),
                Reader("committed-reader", cluster.bootstrap, LEDGER, history),
                *java_writers,
            ):
                clients.enter_context(client)
            wait_for_progress(history, PROGRESS)
            _hurt(cluster, history, rng, rounds, replay)
        log = read_all(cluster.bootstrap, PLAIN + LEDGER, is_committed=False)
        committed = read_all(cluster.bootstrap, PLAIN + LEDGER, is_committed=True)
    problems = find_problems(history, log, committed)
    assert not history.failures, f"{history.failures[:5]}; {replay}"
    assert not problems, f"{ {kind: each[:5] for kind, each in problems.items()} }; {replay}"
    assert "committed" in history.transactions.values()
    written = Counter(writer_and_number(value)[0] for each in history.acknowledged.values() for value in each)
    assert set(written) == {"writer-1", "writer-2", *(each.name for each in java_writers)}
    print(
        f"seed {seed}, {rounds} rounds; acknowledged {dict(written)}; {Counter(history.transactions.values())}"
    )


def _hurt(cluster: ClusterProcesses, history: History, rng: Random, rounds: int, replay: str) -> None:
    hurting = Hurting(cluster, rng)
    left: list[str] = []
    for number in range(rounds):
        left = left or rng.sample(sorted(hurting.ways), len(hurting.ways))
        way = left.pop()
        try:
            heal = hurting.ways[way]()
            wait_for_progress(history, PROGRESS)
            heal()
            cluster.wait_until_whole("plain", "ledger")
            wait_for_progress(history, PROGRESS)
        except (AssertionError, TimeoutError) as failure:
            raise AssertionError(f"round {number + 1}, {way}: {failure}; {replay}") from failure
        assert not history.failures, f"round {number + 1}, {way}: {history.failures[:5]}; {replay}"


def _java_writers(cluster: ClusterProcesses, history: History, folder: Path) -> list[JavaWriter]:
    """None where there is no Java client; the others hurt enough."""
    try:
        java_command()
    except KafkaJarsUnavailable:
        return []
    return [JavaWriter("java-writer", cluster.bootstrap, ("plain", 0), history, folder / "java.log")]


class BrokenBroker(MoldauBroker):
    def command(self) -> list[str]:
        script = Path(__file__).with_name("broken_broker.py")
        return [sys.executable, str(script), *super().command()[1:]]


@pytest.mark.parametrize("broker_class", [MoldauBroker, BrokenBroker])
def test_the_checker_finds_a_broker_that_promises_too_much(
    tmp_path: Path, broker_class: type[MoldauBroker]
) -> None:
    """The leader goes for good while its followers stand still. A broker that waited for them has promised nothing;
    one that did not has lost what it promised."""
    history = History()
    with ClusterProcesses(tmp_path, settings=SETTINGS, broker_class=broker_class) as cluster:
        cluster.create_topic("plain", 1, 3)
        cluster.wait_until_whole("plain")
        found = cluster.partition("plain")
        assert found is not None and found.leader is not None
        followers = sorted(set(cluster.brokers) - {found.leader})
        place = ("plain", 0)
        writer = Writer("writer", cluster.bootstrap, [place], history)
        writer.turn()
        writer.finish()
        assert not history.failures
        before = history.acknowledged_count
        for number in followers:
            cluster.pause(number)
        writer.turn()
        writer._producer.flush(1.5)
        promised = history.acknowledged_count - before
        cluster.brokers[found.leader].kill9()
        for number in followers:
            cluster.resume(number)
        writer._producer.purge()
        writer._producer.flush(0)
        history.failures.clear()
        del cluster.brokers[found.leader]
        cluster.wait_for("plain", leader=None, isr=set(followers))
        log = read_all(cluster.bootstrap, [place], is_committed=False)
    problems = find_problems(history, log, log)
    assert record("writer", 0) in history.acknowledged[place]
    if broker_class is BrokenBroker:
        assert promised > 0
        assert set(problems) == {"lost"}, problems
    else:
        assert promised == 0
        assert not problems
