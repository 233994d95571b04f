"""Cases of records under way: throughput, one record a request, end to end."""

from dataclasses import dataclass

from arena import Arena
from load_client import LoadResult, load
from measures import Measure
from process_cost import cpu_seconds
from systems import ServerProcess, create_topic, delete_topic

HEADLINE_RECORDS_PER_S = 2_000_000
OVERHEAD_BYTES = 10
"""Of a record in a log, about."""
CONSUMES = 3
"""How often what was produced is consumed: one time is short, and the next repeat must write again first."""


@dataclass(frozen=True)
class Throughput:
    """Produces records into a new topic, then consumes them all, several times."""

    record_bytes: int
    partitions: int
    acks: str
    codec: str
    records: int
    headline: bool = False
    is_warmed_up = True
    repeats_max = 100

    @property
    def name(self) -> str:
        if self.headline:
            return "headline"
        return f"throughput/{self.record_bytes}B-{self.partitions}p-acks_{self.acks}-{self.codec}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        if self.headline:
            return tuple(
                Measure(f"{way} rate", "records/s", True, bar=1.0, reference=HEADLINE_RECORDS_PER_S)
                for way in ("produce", "consume")
            )
        return (
            Measure("produce rate", "records/s", True, bar=1.0, goal=1.5),
            Measure("produce CPU", "broker s/GB", False, bar=1.0, goal=0.5),
            Measure("consume rate", "records/s", True, bar=1.0, goal=1.5),
            Measure("consume CPU", "broker s/GB", False, bar=1.0, goal=0.5),
            Measure("produce client CPU", "client s/GB", False),
            Measure("consume client CPU", "client s/GB", False),
        )

    def run(self, arena: Arena, system: str) -> dict[str, float]:
        server = arena.server(system)
        records = arena.scale.count(self.records)
        topic = create_topic(server, self.partitions)
        shape = {"partitions": self.partitions, "record_bytes": self.record_bytes, "records": records}
        values: dict[str, float] = {}
        for way, times in (("produce", 1), ("consume", CONSUMES)):
            extra = {"acks": self.acks, "codec": self.codec} if way == "produce" else {}
            # Twice: the client, too, needs about as much, and takes it first.
            arena.settle(2 * records * (self.record_bytes + OVERHEAD_BYTES) if way == "produce" else 0)
            runs = [_load_with_cost(server, way, topic, **shape, **extra) for _ in range(times)]
            gigabytes = sum(result.bytes for result, _ in runs) / 1e9
            values[f"{way} rate"] = times * records / sum(result.seconds for result, _ in runs)
            values[f"{way} CPU"] = sum(broker_cpu_s for _, broker_cpu_s in runs) / gigabytes
            values[f"{way} client CPU"] = sum(result.cpu_seconds for result, _ in runs) / gigabytes
        delete_topic(server, topic)
        return values


@dataclass(frozen=True)
class SmallRequests:
    """Linger 0, one record of 100 bytes a request, so many requests under way."""

    in_flight: int
    records: int = 30_000
    is_warmed_up = True
    repeats_max = 100

    @property
    def name(self) -> str:
        return f"linger0/{self.in_flight}-in-flight"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure("requests", "requests/s", True, bar=0.8, goal=1.2),
            Measure("p50", "us", False, bar=1.2, goal=0.8),
            Measure("p99", "us", False, bar=1.2, goal=0.8),
            Measure("broker CPU", "us/request", False),
        )

    def run(self, arena: Arena, system: str) -> dict[str, float]:
        server = arena.server(system)
        topic = create_topic(server, 1)
        arena.settle()
        records = arena.scale.count(self.records)
        result, broker_cpu_s = _load_with_cost(
            server, "latency", topic, in_flight=self.in_flight, records=records
        )
        delete_topic(server, topic)
        return {
            "requests": result.records_per_s,
            "p50": result.p50_us,
            "p99": result.p99_us,
            "broker CPU": broker_cpu_s / result.records * 1e6,
        }


@dataclass(frozen=True)
class EndToEnd:
    """A fixed rate of 100-byte records, linger 0: from the producer's hand to the consumer's."""

    rate: int
    seconds: int = 10
    is_warmed_up = True
    repeats_max = 100

    @property
    def name(self) -> str:
        return f"end-to-end/{self.rate}-per-s"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (
            Measure("p50", "us", False, bar=1.0, goal=0.5),
            Measure("p99", "us", False, bar=1.0, goal=0.5),
        )

    def run(self, arena: Arena, system: str) -> dict[str, float]:
        server = arena.server(system)
        topic = create_topic(server, 1)
        arena.settle()
        seconds = arena.scale.seconds(self.seconds)
        result = end_to_end(server, topic, rate=self.rate, seconds=seconds)
        delete_topic(server, topic)
        return {"p50": result.p50_us, "p99": result.p99_us}


def end_to_end(server: ServerProcess, topic: str, **options: str | int) -> LoadResult:
    """Linger 0 with five requests under way, as Java's producer has: a slow moment makes batches, not a queue."""
    return load("end-to-end", server.bootstrap, topic, linger_ms=0, requests_in_flight_max=5, **options)


def _load_with_cost(
    server: ServerProcess, mode: str, topic: str, **options: str | int
) -> tuple[LoadResult, float]:
    before = cpu_seconds(server.pid)
    result = load(mode, server.bootstrap, topic, **options)
    return result, cpu_seconds(server.pid) - before
