"""Cases of what a broker takes before it does any work: start, idle memory, ten thousand partitions."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from arena import Arena
from measures import Measure
from process_cost import memory
from systems import ServerProcess, admin_client, create_topic, wait_until
from traffic_cases import end_to_end

IDLE_SETTLE_S = 5
PARTITIONS_TIMEOUT_S = 900


@dataclass(frozen=True)
class StartAndIdle:
    """An empty data directory, from the command to an answered Metadata; then the memory it holds idle."""

    name = "start-and-idle"
    is_warmed_up = False
    repeats_max = 100

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure("start to ready", "s", False, bar=0.2, goal=0.05),
            Measure("idle RSS", "MB", False, bar=0.1, goal=0.05),
            Measure("idle PSS", "MB", False, bar=0.1, goal=0.05),
        )

    def run(self, arena: Arena, system: str) -> dict[str, float]:
        with arena.fresh(system) as server:
            with _timed() as elapsed_s:
                server.start()
            time.sleep(IDLE_SETTLE_S)
            held = memory(server.pid)
        return {"start to ready": elapsed_s[0], "idle RSS": held.rss_mb, "idle PSS": held.pss_mb}


@dataclass(frozen=True)
class ManyPartitions:
    """One topic of very many partitions: created, served, the broker started again on them."""

    partitions: int = 10_000
    is_warmed_up = False
    repeats_max = 3  # Kafka syncs several files for each partition: minutes a run.

    @property
    def name(self) -> str:
        return f"partitions/{self.partitions}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure("create", "s", False, bar=1.0),
            Measure("restart", "s", False, bar=1.0),
            Measure("RSS", "MB", False, bar=1.0),
            Measure("fetch p99, few", "us", False, bar=1.0),
            Measure("fetch p99, all", "us", False, bar=1.0),
        )

    def run(self, arena: Arena, system: str) -> dict[str, float]:
        """Fetches of six of the partitions, and of all of them, each at 1,000 records/s end to end."""
        with arena.fresh(system) as server:
            server.start()
            with _timed() as create_s:
                topic = create_topic(server, self.partitions)
                wait_until_served(server, topic, self.partitions)
            server.stop()
            with _timed() as restart_s:
                server.start()
                wait_until_served(server, topic, self.partitions)
            time.sleep(IDLE_SETTLE_S)
            held = memory(server.pid)
            seconds = arena.scale.seconds(10)
            few, every = (
                end_to_end(server, topic, rate=1000, partitions=count, seconds=seconds, warmup_seconds=5)
                for count in (6, self.partitions)
            )
        return {
            "create": create_s[0],
            "restart": restart_s[0],
            "RSS": held.rss_mb,
            "fetch p99, few": few.p99_us,
            "fetch p99, all": every.p99_us,
        }


def wait_until_served(server: ServerProcess, topic: str, partitions: int) -> None:
    """A topic is there once each of its partitions tells its end offset."""
    wanted = {TopicPartition(topic, index): OffsetSpec.latest() for index in range(partitions)}
    started = time.monotonic()

    def every_partition_answers() -> bool:
        admin = admin_client(server)  # A new one each time: an old one may hold on to stale metadata.
        try:
            answers = admin.list_offsets(wanted, request_timeout=PARTITIONS_TIMEOUT_S)
            return all(answer.result().offset >= 0 for answer in answers.values())
        except KafkaException:
            # Asking costs both sides: the rarer, the longer it takes, and still known to a twentieth.
            time.sleep((time.monotonic() - started) / 20)
            return False

    wait_until(every_partition_answers, f"{partitions} partitions of {topic} served", PARTITIONS_TIMEOUT_S)


@contextmanager
def _timed() -> Iterator[list[float]]:
    """The list holds the seconds once the block has ended."""
    elapsed_s: list[float] = []
    started = time.monotonic()
    yield elapsed_s
    elapsed_s.append(time.monotonic() - started)
