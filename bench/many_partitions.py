"""Three brokers that hold very many partitions, beside Apache Kafka's three: what they cost, and what a write waits.

python bench/many_partitions.py [--partitions N] [--rounds N] [--only moldau|kafka]

Replication factor 3. When the brokers have come to rest after making the topic, their CPU is taken while nobody writes;
then 200 records a second go to all partitions in turn, acks=all, each on its way at once, and the time to each
acknowledgement is taken. The systems take turns, each time as a new cluster. The program ends with code 1 where a
median is worse than Kafka's.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from confluent_kafka import Producer

from cluster import SYSTEMS, Cluster, create_topic
from process_cost import cpu_seconds

TOPIC: Final = "wide"
SETTLE_WINDOW_S: Final = 10.0
SETTLE_S_MAX: Final = 240.0
SETTLED_SHARE: Final = 0.9
SATURATED_CORES: Final = 1.5
IDLE_S: Final = 15.0
RECORDS: Final = 4_000
WARM_UP: Final = 1_000
RATE: Final = 200


@dataclass
class Found:
    settle_s: list[float] = field(default_factory=list)
    """From the topic's creation until the brokers have come to rest."""
    idle_cores: list[float] = field(default_factory=list)
    """CPU of all brokers together while nobody writes."""
    busy_cores: list[float] = field(default_factory=list)
    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return "; ".join(
            f"{name} {statistics.median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})"
            for name, figures in vars(self).items()
        )


def measure(cluster: Cluster, partitions: int, found: Found) -> None:
    create_topic(cluster, TOPIC, partitions)
    found.settle_s.append(_settle(cluster))
    found.idle_cores.append(_cores(cluster, lambda: time.sleep(IDLE_S)))
    latencies_ms: list[float] = []
    found.busy_cores.append(_cores(cluster, lambda: _write(cluster, partitions, latencies_ms)))
    percentiles = statistics.quantiles(latencies_ms[WARM_UP:], n=100)
    found.p50_ms.append(percentiles[49])
    found.p99_ms.append(percentiles[98])


def _settle(cluster: Cluster) -> float:
    """Logs are still made, and a JVM still compiles, long after the topic is there: until CPU falls no further."""
    began, before = time.monotonic(), float("inf")
    while time.monotonic() - began < SETTLE_S_MAX:
        now = _cores(cluster, lambda: time.sleep(SETTLE_WINDOW_S))
        if before * SETTLED_SHARE < now < SATURATED_CORES:
            break
        before = now
    return time.monotonic() - began


def _cores(cluster: Cluster, during: Callable[[], None]) -> float:
    began, before = time.monotonic(), sum(map(cpu_seconds, cluster.pids))
    during()
    return (sum(map(cpu_seconds, cluster.pids)) - before) / (time.monotonic() - began)


def _write(cluster: Cluster, partitions: int, latencies_ms: list[float]) -> None:
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "acks": "all", "linger.ms": 0, "log_level": 0}
    )

    def send(number: int) -> None:
        sent = time.monotonic()

        def delivered(error: object, _: object) -> None:
            assert error is None, error
            latencies_ms.append((time.monotonic() - sent) * 1000)

        producer.produce(TOPIC, b"x" * 100, partition=number % partitions, on_delivery=delivered)

    due = time.monotonic()
    for number in range(WARM_UP + RECORDS):
        due += 1 / RATE
        while (left := due - time.monotonic()) > 0:
            producer.poll(left)
        send(number)
    producer.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=SYSTEMS)
    options = parser.parse_args()
    found = {system: Found() for system in SYSTEMS if options.only in (None, system)}
    for number in range(options.rounds):
        for system, its in found.items():
            folder = Path(tempfile.mkdtemp(prefix=f"moldau-many-{system}-"))
            try:
                with SYSTEMS[system](folder) as cluster:
                    measure(cluster, options.partitions, its)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print(f"round {number + 1}  {system:8}{its}", flush=True)
    return 0 if len(found) < len(SYSTEMS) or verdict(**found) else 1


def verdict(moldau: Found, kafka: Found) -> bool:
    is_won = True
    for name in ("idle_cores", "busy_cores", "p50_ms", "p99_ms"):
        ours, theirs = (statistics.median(getattr(each, name)) for each in (moldau, kafka))
        print(f"{'met   ' if ours <= theirs else 'MISSED'}  {name} {ours:.2f}, at most Kafka's {theirs:.2f}")
        is_won &= ours <= theirs
    return is_won


if __name__ == "__main__":
    sys.exit(main())
