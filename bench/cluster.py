"""Three brokers beside Apache Kafka's three: replicated produce, and how long a partition is down without its leader.

python bench/cluster.py [--rounds N] [--records N] [--failovers N] [--only moldau|kafka]

Both as users run them on one machine: Moldau's brokers with one ZooKeeper, Kafka's as combined KRaft nodes with stock
settings and JVM. Replication factor 3, acks=all, min.insync.replicas 2. They take turns, each time as a new cluster, so
that whatever else the machine does hits both; medians are compared. The bars: at least 0.8 of Kafka's throughput, and
no longer down for a producer that loses its leader. The program ends with code 1 where one is missed.

What a producer sees is longer than the time without a leader, which is shown beside it: librdkafka takes a second or
two to let go of a broker that is gone, long after it has heard of the new leader.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from load_client import load
from systems import ROOT, ServerFailed, ServerProcess, StockKafka, wait_until

sys.path.insert(0, str(ROOT / "tests"))


from compat.apache_kafka import CLUSTER_ID, java_command
from compat.server_process import free_port
from e2e.cluster.processes import ClusterProcesses

BROKERS: Final = 3
PARTITIONS: Final = 6
RECORD_BYTES: Final = 100
THROUGHPUT_SHARE_MIN: Final = 0.8
WAIT_S: Final = 120
SEND_INTERVAL_S: Final = 0.005
LOOK_INTERVAL_S: Final = 0.01
NO_LEADER: Final = -1
INTERNAL_TOPICS: Final = {
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "min.insync.replicas": "2",
}


class Cluster(Protocol):
    @property
    def bootstrap(self) -> str: ...

    @property
    def pids(self) -> list[int]: ...

    def kill(self, broker_id: int) -> None: ...

    def revive(self, broker_id: int) -> None: ...


class MoldauCluster:
    def __init__(self, processes: ClusterProcesses) -> None:
        self._processes = processes

    @property
    def bootstrap(self) -> str:
        return self._processes.bootstrap

    @property
    def pids(self) -> list[int]:
        return [broker.pid for broker in self._processes.brokers.values()]

    def kill(self, broker_id: int) -> None:
        self._processes.brokers[broker_id].kill9()

    def revive(self, broker_id: int) -> None:
        self._processes.brokers[broker_id].start()


class KafkaNode(StockKafka):
    """One of three combined nodes."""

    def __init__(self, folder: Path, number: int, port: int, controllers: Mapping[int, int]) -> None:
        voters = ",".join(f"{each}@127.0.0.1:{its_port}" for each, its_port in controllers.items())
        super().__init__(
            folder,
            {
                **INTERNAL_TOPICS,
                "node.id": str(number),
                "controller.quorum.bootstrap.servers": ",".join(
                    f"127.0.0.1:{its_port}" for its_port in controllers.values()
                ),
                "controller.quorum.voters": voters,
                "listeners": (f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controllers[number]}"),
            },
        )
        self.port = port

    def _format(self) -> None:
        command = [*java_command("-Xmx128m"), "kafka.tools.StorageTool", "format"]
        command += ["--cluster-id", CLUSTER_ID, "--config", str(self._properties)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerFailed(f"could not format Kafka's storage\n{done.stdout}{done.stderr}")


class KafkaCluster:
    def __init__(self, nodes: dict[int, KafkaNode]) -> None:
        self._nodes = nodes

    @property
    def bootstrap(self) -> str:
        return ",".join(node.bootstrap for node in self._nodes.values())

    @property
    def pids(self) -> list[int]:
        return [node.pid for node in self._nodes.values()]

    def kill(self, broker_id: int) -> None:
        self._nodes[broker_id].kill9()

    def revive(self, broker_id: int) -> None:
        self._nodes[broker_id].start()


@contextmanager
def moldau_cluster(folder: Path) -> Iterator[Cluster]:
    # Stock settings, but for how often internal topics and records are kept.
    settings = {**INTERNAL_TOPICS, "zookeeper.session.timeout.ms": "18000"}
    with ClusterProcesses(folder, tuple(range(BROKERS)), settings=settings) as processes:
        yield MoldauCluster(processes)


@contextmanager
def kafka_cluster(folder: Path) -> Iterator[Cluster]:
    ports = {number: free_port() for number in range(BROKERS)}
    controllers = {number: free_port() for number in range(BROKERS)}
    nodes = {
        number: KafkaNode(_made(folder / f"kafka-{number}"), number, ports[number], controllers)
        for number in range(BROKERS)
    }
    with ExitStack() as stack:
        starting = [threading.Thread(target=node.start) for node in nodes.values()]
        for node in nodes.values():
            stack.callback(_end, node)
        for thread in starting:
            thread.start()
        for thread in starting:
            thread.join()
        yield KafkaCluster(nodes)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _end(node: ServerProcess) -> None:
    node.kill9()


SYSTEMS: Final = {"moldau": moldau_cluster, "kafka": kafka_cluster}


def create_topic(cluster: Cluster, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    wait_until(lambda: len(admin.list_topics(timeout=10).brokers) == BROKERS, "all brokers are there", WAIT_S)
    admin.create_topics([NewTopic(name, partitions, BROKERS)])[name].result()
    wait_until(lambda: _is_whole(admin, name, partitions), f"{name} is in sync", WAIT_S)


def _is_whole(admin: AdminClient, name: str, partitions: int) -> bool:
    found = admin.list_topics(name, timeout=10).topics[name].partitions
    return len(found) == partitions and all(len(each.isrs) == BROKERS for each in found.values())


def throughput(cluster: Cluster, records: int) -> float:
    """Records a second, after a run that warms up."""
    rate = 0.0
    for name, count in (("warm-up", records // 4), ("replicated", records)):
        create_topic(cluster, name, PARTITIONS)
        result = load(
            "produce", cluster.bootstrap, name, partitions=PARTITIONS, record_bytes=RECORD_BYTES,
            records=count, acks="all", codec="none",
        )  # fmt: skip
        rate = result.records_per_s
    return rate


class Failover(NamedTuple):
    down_s: float
    """From the leader's end to the first record acknowledged that was sent after it."""
    leaderless_s: float
    """From there until another broker is named as the leader."""


def failover(cluster: Cluster, turn: int) -> Failover:
    name = f"failover-{turn}"
    create_topic(cluster, name, 1)
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "acks": "all",
            "linger.ms": 0,
            "retry.backoff.ms": 20,
            "retry.backoff.max.ms": 100,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "topic.metadata.refresh.fast.interval.ms": 50,
            "log_level": 0,
        }
    )
    first_after: list[float] = []
    killed_at: list[float] = []

    def delivered(error: object, sent_at: float) -> None:
        if error is None and killed_at and sent_at > killed_at[0] and not first_after:
            first_after.append(time.monotonic())

    def send() -> None:
        sent_at = time.monotonic()
        producer.produce(name, b"x" * RECORD_BYTES, on_delivery=lambda error, _: delivered(error, sent_at))
        producer.poll(SEND_INTERVAL_S)

    warm_until = time.monotonic() + 2
    while time.monotonic() < warm_until:
        send()
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    leader = admin.list_topics(name, timeout=10).topics[name].partitions[0].leader
    with ThreadPoolExecutor(1) as watching:
        cluster.kill(leader)
        killed_at.append(time.monotonic())
        led_again = watching.submit(_led_by_another_at, admin, name, leader)
        deadline = time.monotonic() + WAIT_S
        while not first_after and time.monotonic() < deadline:
            send()
    cluster.revive(leader)
    wait_until(lambda: _is_whole(admin, name, 1), "the broker is in sync again", WAIT_S)
    down_s = (first_after[0] if first_after else deadline) - killed_at[0]
    return Failover(down_s, led_again.result() - killed_at[0])


def _led_by_another_at(admin: AdminClient, name: str, leader: int) -> float:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        try:
            now_leads = admin.list_topics(name, timeout=1).topics[name].partitions[0].leader
        except KafkaException:  # It asked the one that is gone.
            continue
        if now_leads not in (NO_LEADER, leader):
            break
        time.sleep(LOOK_INTERVAL_S)
    return time.monotonic()


@dataclass
class Found:
    rates: list[float] = field(default_factory=list)
    """Records a second, by round."""
    failovers: list[Failover] = field(default_factory=list)

    @property
    def down_s(self) -> list[float]:
        return [each.down_s for each in self.failovers]

    @property
    def leaderless_s(self) -> list[float]:
        return [each.leaderless_s for each in self.failovers]

    def __str__(self) -> str:
        rates = ", ".join(f"{each:,.0f}" for each in self.rates)
        downs = ", ".join(f"{each.down_s:.2f} ({each.leaderless_s:.2f})" for each in self.failovers)
        return f"{rates} records/s; down (without a leader) for {downs} s"

    def summary(self) -> str:
        return (
            f"{_median(self.rates, ',.0f')} records/s; down for {_median(self.down_s, '.2f')} s, "
            f"of it without a leader for {_median(self.leaderless_s, '.2f')} s"
        )


def _median(figures: Sequence[float], form: str) -> str:
    """With the least and the greatest."""
    return f"{statistics.median(figures):{form}} ({min(figures):{form}} to {max(figures):{form}})"


def measure(system: str, records: int, failovers: int, found: Found) -> None:
    folder = Path(tempfile.mkdtemp(prefix=f"moldau-cluster-{system}-"))
    try:
        with SYSTEMS[system](folder) as cluster:
            found.rates.append(throughput(cluster, records))
            os.sync()
            found.failovers += (failover(cluster, turn) for turn in range(failovers))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def verdict(moldau: Found, kafka: Found) -> bool:
    share = statistics.median(moldau.rates) / statistics.median(kafka.rates)
    down_s, down_s_max = statistics.median(moldau.down_s), statistics.median(kafka.down_s)
    bars = {
        f"{share:.2f} of Kafka's throughput, at least {THROUGHPUT_SHARE_MIN}": share >= THROUGHPUT_SHARE_MIN,
        f"down for {down_s:.2f} s, at most Kafka's {down_s_max:.2f} s": down_s <= down_s_max,
    }
    for bar, is_met in bars.items():
        print(f"{'met   ' if is_met else 'MISSED'}  {bar}")
    return all(bars.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=1_000_000, help="of a round")
    parser.add_argument("--failovers", type=int, default=1, help="of a round")
    parser.add_argument("--only", choices=SYSTEMS)
    options = parser.parse_args()
    found = {system: Found() for system in SYSTEMS if options.only in (None, system)}
    for number in range(options.rounds):
        for system, its in found.items():
            measure(system, options.records, options.failovers, its)
            print(f"round {number + 1}  {system:8}{its}", flush=True)
    for system, its in found.items():
        print(f"medians  {system:8}{its.summary()}")
    if len(found) < len(SYSTEMS):
        return 0
    return 0 if verdict(**found) else 1


if __name__ == "__main__":
    sys.exit(main())
