"""A cluster as people run one: a real ZooKeeper and brokers in processes of their own, on this machine."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.cli.shell import Shell
from e2e.cluster.ensemble import GatesOf, gated_zookeepers
from e2e.cluster.gates import Gate, Gates
from moldau.cli.client.cluster_queries import Partition, Picture, picture
from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.cli.local.local_cluster import wait_until_connected
from moldau.coordination.zookeeper import ZooKeeperStore
from moldau.coordination.zookeeper_server import ZooKeeperServer
from zookeeper_kit import one_zookeeper, three_zookeepers

PATIENCE_S = 90
SETTINGS = {
    "zookeeper.session.timeout.ms": "15000",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "3",
    "min.insync.replicas": "1",
    # Leaders stay where a test has put them.
    "auto.leader.rebalance.enable": "false",
}


class ClusterProcesses:
    def __init__(
        self,
        folder: Path,
        brokers: Sequence[int] = (0, 1, 2),
        *,
        is_ensemble: bool = False,
        gates: Gates | None = None,
        settings: Mapping[str, str] | None = None,
        broker_class: type[MoldauBroker] = MoldauBroker,
    ) -> None:
        """With gates, brokers are reached by clients and by each other, and reach ZooKeeper, through them alone; the
        servers of an ensemble reach each other through gates, too."""
        self._folder = folder
        self._gates = gates
        self._broker_class = broker_class
        self._gates_of: dict[int, list[Gate]] = {}
        """By broker: the one before it, then those before each ZooKeeper."""
        self._between: GatesOf = {}
        self._numbers = brokers
        self._is_ensemble = is_ensemble
        self._settings = {**SETTINGS, **(settings or {})}
        self._stack = ExitStack()
        self.zookeepers: list[ZooKeeperServer] = []
        self.brokers: dict[int, MoldauBroker] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if self._is_ensemble and self._gates is not None:
                self._between = stack.enter_context(gated_zookeepers(self._folder / "zookeeper", self._gates))
                self.zookeepers = list(self._between)
            elif self._is_ensemble:
                self.zookeepers = stack.enter_context(three_zookeepers(self._folder / "zookeeper"))
            else:
                self.zookeepers = [stack.enter_context(one_zookeeper(self._folder / "zookeeper"))]
            stack.callback(self._end_all)
            for number in self._numbers:
                self.add(number)
            wait_until_connected([broker.bootstrap for broker in self.brokers.values()])
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _end_all(self) -> None:
        for broker in self.brokers.values():
            broker.kill9()

    @property
    def zookeeper_connect(self) -> str:
        return ",".join(each.address for each in self.zookeepers)

    @property
    def bootstrap(self) -> str:
        if self._gates is not None:
            return ",".join(f"127.0.0.1:{gates[0].port}" for gates in self._gates_of.values())
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    @property
    def shell(self) -> Shell:
        return Shell(self.bootstrap)

    def add(self, number: int, **settings: str) -> MoldauBroker:
        broker = self._broker_class(
            self._folder / f"broker-{number}",
            {
                **self._settings,
                "broker.id": str(number),
                "node.id": str(number),
                "zookeeper.connect": self.zookeeper_connect,
                **{key.replace("_", "."): value for key, value in settings.items()},
            },
        )
        if self._gates is not None:
            door = self._gates.to(broker.port)
            to_zookeeper = [self._gates.to(each.client_port) for each in self.zookeepers]
            broker._settings["advertised.listeners"] = f"PLAINTEXT://127.0.0.1:{door.port}"
            broker._settings["zookeeper.connect"] = ",".join(
                f"127.0.0.1:{each.port}" for each in to_zookeeper
            )
            self._gates_of[number] = [door, *to_zookeeper]
        self.brokers[number] = broker
        return broker.start()

    def isolate(self, number: int) -> None:
        """Nobody reaches the broker, and it reaches ZooKeeper no more."""
        for gate in self._gates_of[number]:
            gate.shut()

    def rejoin(self, number: int) -> None:
        for gate in self._gates_of[number]:
            gate.open()

    def isolate_zookeeper(self, server: ZooKeeperServer) -> None:
        """No broker reaches it, nor does another ZooKeeper, and it reaches none."""
        for gate in self._gates_to(server):
            gate.shut()

    def rejoin_zookeeper(self, server: ZooKeeperServer) -> None:
        for gate in self._gates_to(server):
            gate.open()

    def _gates_to(self, server: ZooKeeperServer) -> list[Gate]:
        place = 1 + self.zookeepers.index(server)
        return [gates[place] for gates in self._gates_of.values()] + self._between.get(server, [])

    def pause(self, number: int) -> None:
        os.kill(self.brokers[number].pid, signal.SIGSTOP)

    def resume(self, number: int) -> None:
        os.kill(self.brokers[number].pid, signal.SIGCONT)

    def store(self) -> ZooKeeperStore:
        return ZooKeeperStore(self.zookeeper_connect, session_timeout_ms=30_000)

    def picture(self, *topics: str) -> Picture | None:
        """What one of the brokers says; None when none answers."""
        cluster = Cluster(self.bootstrap, {}, timeout_s=5)
        try:
            return picture(cluster, list(topics) or None)
        except Failure:
            return None
        finally:
            cluster.close()

    def partition(self, topic: str, index: int = 0) -> Partition | None:
        seen = self.picture(topic)
        return (
            next((part for part in seen.partitions if part.place.partition == index), None) if seen else None
        )

    def create_topic(self, name: str, partitions: int, replication_factor: int) -> str:
        """What the command said. Returns when the broker that `picture` and other commands ask knows of it, too."""
        counts = ("--partitions", str(partitions), "--replication-factor", str(replication_factor))
        said = self.shell.run("topics", "create", name, *counts)

        def is_led() -> bool:
            seen = self.picture(name)
            return seen is not None and all(part.leader is not None for part in seen.partitions)

        wait_until(is_led, f"{name} is known", PATIENCE_S)
        return said

    def wait_until_whole(self, *topics: str) -> None:
        """Until every replica of these topics is in sync."""

        def is_so() -> bool:
            seen = self.picture(*topics)
            return (
                seen is not None
                and seen.controller is not None
                and set(seen.brokers) == set(self.brokers)
                and not any(part.is_under_replicated or part.leader is None for part in seen.partitions)
            )

        wait_until(is_so, f"all replicas of {topics} are in sync", PATIENCE_S)

    def wait_for(self, topic: str, *, leader: int | None, isr: set[int], index: int = 0) -> None:
        """Until a partition has this leader (None: any) and these in sync."""

        def is_so() -> bool:
            found = self.partition(topic, index)
            return (
                found is not None
                and found.leader is not None
                and leader in (None, found.leader)
                and set(found.isr) == isr
            )

        wait_until(is_so, f"{topic}-{index} is led by {leader} with {isr} in sync", PATIENCE_S)

    def kafka_tool(self, java: Sequence[str], name: str, *arguments: str) -> str:
        """Runs one of Kafka's own tools; its output."""
        done = subprocess.run(
            [*java, name, "--bootstrap-server", self.bootstrap, *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
