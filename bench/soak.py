"""Mixed load at half of what the broker takes, for as long as asked: neither memory nor latency may grow.

python bench/soak.py MINUTES [--system moldau|kafka] [--round-seconds S]

The maximum is measured first. Then rounds: records in batches at half of that rate, produced and consumed, beside
1,000 single records a second whose way end to end is timed. Each round has topics of its own, deleted after it, so
that what topics leave behind would show. Ends with code 1 on growth; the samples are kept under bench/out/.
"""

import argparse
import datetime
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from load_client import LoadResult, finished_load, load, start_load
from process_cost import cpu_seconds, memory
from systems import OUT, SYSTEMS, ServerProcess, create_topic, delete_topic, stop_servers_on_sigterm

PARTITIONS = 6
MAXIMUM_RECORDS = 3_000_000
RATES_TRIED_MAX = 4
PROBE_RATE = 1_000
SAMPLE_INTERVAL_S = 1.0
# Bounds the disk: at 100 MB/s a topic would fill it before the round's end.
RETENTION = {"retention.bytes": "1000000000", "segment.bytes": "104857600"}
SERVER_SETTINGS = {"log.retention.check.interval.ms": "5000"}
MEMORY_GROWTH_MAX, MEMORY_GROWTH_MB_MIN = 1.1, 8.0
LATENCY_GROWTH_MAX = 1.5


@dataclass(frozen=True)
class Round:
    """What one round showed; memory is the most that was seen in it."""

    records: int
    cpu_cores: float
    rss_mb: float
    anonymous_mb: float
    bulk_p99_us: float
    probe_p50_us: float
    probe_p99_us: float


def maximum_rate(server: ServerProcess) -> int:
    """Produced and consumed at once by one process: the rate at which the last record still comes in time."""
    topic = create_topic(server, PARTITIONS, RETENTION, prefix="soak")
    shape = {"partitions": PARTITIONS, "records": MAXIMUM_RECORDS}
    for _ in range(2):
        produced = load("produce", server.bootstrap, topic, **shape)
    delete_topic(server, topic)
    rate = int(produced.records_per_s)
    for _ in range(RATES_TRIED_MAX):
        if _keeps_up(server, rate):
            return rate
        rate = rate * 2 // 3
    return rate


def _keeps_up(server: ServerProcess, rate: int, seconds: int = 5) -> bool:
    topic = create_topic(server, PARTITIONS, RETENTION, prefix="soak")
    result = _bulk(server, topic, rate, seconds)
    delete_topic(server, topic)
    return result.seconds < (seconds + 1) * 1.1


def _bulk(server: ServerProcess, topic: str, rate: int, seconds: int) -> LoadResult:
    return finished_load(
        start_load("end-to-end", server.bootstrap, topic, partitions=PARTITIONS, rate=rate, seconds=seconds)
    )


def run_round(server: ServerProcess, rate: int, seconds: int) -> Round:
    bulk_topic = create_topic(server, PARTITIONS, RETENTION, prefix="soak")
    probe_topic = create_topic(server, 1, RETENTION, prefix="soak")
    cpu_before, started = cpu_seconds(server.pid), time.monotonic()
    bulk = start_load(
        "end-to-end", server.bootstrap, bulk_topic, partitions=PARTITIONS, rate=rate, seconds=seconds
    )
    probe = start_load(
        "end-to-end", server.bootstrap, probe_topic, rate=PROBE_RATE, seconds=seconds, linger_ms=0
    )
    samples = []
    while bulk.poll() is None or probe.poll() is None:
        samples.append(memory(server.pid))
        time.sleep(SAMPLE_INTERVAL_S)
    bulk_result, probe_result = finished_load(bulk), finished_load(probe)
    cores = (cpu_seconds(server.pid) - cpu_before) / (time.monotonic() - started)
    for topic in (bulk_topic, probe_topic):
        delete_topic(server, topic)
    return Round(
        records=bulk_result.records + probe_result.records,
        cpu_cores=cores,
        rss_mb=max(sample.rss_mb for sample in samples),
        anonymous_mb=max(sample.anonymous_mb for sample in samples),
        bulk_p99_us=bulk_result.p99_us,
        probe_p50_us=probe_result.p50_us,
        probe_p99_us=probe_result.p99_us,
    )


def growth(rounds: list[Round]) -> list[str]:
    """What grew from the first third of the rounds to the last, each after the first round as warm-up."""
    steady = rounds[1:]
    third = len(steady) // 3
    if not third:
        return ["fewer than four rounds: too short to tell growth from noise"]

    def ends(field: str) -> tuple[float, float]:
        values = [float(getattr(each, field)) for each in steady]
        return statistics.median(values[:third]), statistics.median(values[-third:])

    complaints = []
    for field in ("rss_mb", "anonymous_mb"):
        first, last = ends(field)
        if last > first * MEMORY_GROWTH_MAX and last - first > MEMORY_GROWTH_MB_MIN:
            complaints.append(f"{field} grew from {first:.0f} to {last:.0f}")
    for field in ("bulk_p99_us", "probe_p50_us", "probe_p99_us"):
        first, last = ends(field)
        if last > first * LATENCY_GROWTH_MAX:
            complaints.append(f"{field} grew from {first:.0f} to {last:.0f}")
    return complaints


def soak(server: ServerProcess, minutes: float, round_seconds: int) -> tuple[int, list[Round]]:
    rate = maximum_rate(server) // 2
    print(f"half the maximum: {rate:,} records/s of 100 B, {PARTITIONS} partitions")
    print(
        f"{'records':>14}{'cores':>7}{'RSS MB':>8}{'own MB':>8}{'bulk p99 us':>13}{'p50 us':>9}{'p99 us':>9}"
    )
    rounds: list[Round] = []
    deadline = time.monotonic() + minutes * 60
    while time.monotonic() < deadline:
        rounds.append(each := run_round(server, rate, round_seconds))
        print(
            f"{each.records:>14,}{each.cpu_cores:>7.2f}{each.rss_mb:>8.0f}{each.anonymous_mb:>8.0f}"
            f"{each.bulk_p99_us:>13,.0f}{each.probe_p50_us:>9,.0f}{each.probe_p99_us:>9,.0f}",
            flush=True,
        )
    return rate, rounds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--system", choices=sorted(SYSTEMS), default="moldau")
    parser.add_argument("--round-seconds", type=int, default=60)
    arguments = parser.parse_args()
    stop_servers_on_sigterm()
    with (
        tempfile.TemporaryDirectory(prefix="moldau-soak-") as folder,
        SYSTEMS[arguments.system](Path(folder) / "server", SERVER_SETTINGS) as server,
    ):
        rate, rounds = soak(server, arguments.minutes, arguments.round_seconds)
    complaints = growth(rounds)
    OUT.mkdir(exist_ok=True)
    kept = OUT / f"soak-{datetime.datetime.now(datetime.UTC).strftime('%Y%m%d-%H%M%S')}.json"
    document = {"system": arguments.system, "rate": rate, "rounds": [asdict(each) for each in rounds]}
    kept.write_text(json.dumps({**document, "growth": complaints}, indent=1) + "\n")
    print(f"{'; '.join(complaints) or 'no growth of memory or latency'}; kept in {kept}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
