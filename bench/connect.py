"""Connect beside Kafka Connect in Java, on one broker: file source, file sink, and the mirror of a topic.

python bench/connect.py [--records N] [--rounds N] [--cases source,sink,mirror] [--sides moldau,kafka] [--output json]

Both workers are started first, and each runs a small connector of the case before it is measured, so that nobody pays
for starting. The rate is that of the records that have arrived, between the first tenth and the last record; the CPU
is that of the worker with all its processes in the same time. Ours is exactly once in each case; Kafka's sources are
at least once by default, which is the side `kafka`; `kafka-eos` has exactly.once.source.support=enabled. Ends with 1
when a bar is missed.
"""

import argparse
import contextlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from connect_workers import Worker, kafka, moldau
from pipeline_arena import WAIT_S, arena, create
from process_cost import cpu_seconds, memory

LINE_BYTES: Final = 100
WARM: Final = 50_000
LOOK_EVERY_S: Final = 0.01
ASK_EVERY_S: Final = 2.0
ANSWER_S_MAX: Final = 30.0
RATIO_BAR: Final = 1.0
MILLION: Final = 1_000_000
PACKAGE: Final = "org.apache.kafka.connect"

SIDES: Final[Mapping[str, Callable[[str, str, Path], contextlib.AbstractContextManager[Worker]]]] = {
    "moldau": moldau,
    "kafka": lambda servers, name, folder: kafka(servers, name, folder, "disabled"),
    "kafka-eos": lambda servers, name, folder: kafka(servers, name, folder, "enabled"),
}


class Figures(NamedTuple):
    records_per_s: float
    cpu_s_per_million: float


class Run(NamedTuple):
    """One connector on one worker."""

    config: Mapping[str, str]
    arrived: Callable[[], int]
    """How many records."""


def lines(count: int) -> Iterator[str]:
    return (f"{number:0{LINE_BYTES}d}" for number in range(count))


class Arena:
    """What the cases need: a file and a topic with the records, and one of each for the warm-up."""

    def __init__(self, servers: str, folder: Path, records: int) -> None:
        self.servers, self.folder, self.records = servers, folder, records
        self._admin = AdminClient({"bootstrap.servers": servers, "log_level": "2"})
        for name, count in (("warm", WARM), ("big", records)):
            with (folder / name).open("w") as out:
                out.writelines(f"{line}\n" for line in lines(count))
            create(servers, name, partitions=1)
            producer = Producer({"bootstrap.servers": servers, "linger.ms": "20"})
            for line in lines(count):
                while True:
                    try:
                        producer.produce(name, line)
                        break
                    except BufferError:
                        producer.poll(0.1)
            producer.flush()

    def run(self, case: str, source: str, target: str) -> Run:
        """`source` is `warm` or `big`; `target` is new."""
        if case == "source":
            create(self.servers, target, partitions=1)
            config = {
                "connector.class": f"{PACKAGE}.file.FileStreamSourceConnector",
                "file": str(self.folder / source),
                "topic": target,
            }
            return Run(config, lambda: self._end(target))
        if case == "sink":
            file = self.folder / target
            config = {
                "connector.class": f"{PACKAGE}.file.FileStreamSinkConnector",
                "file": str(file),
                "topics": source,
            }
            return Run(config, lambda: file.stat().st_size // (LINE_BYTES + 1) if file.exists() else 0)
        # The client that looks at its end does not like to ask before the mirror has created it.
        create(self.servers, f"{target}.{source}", partitions=1)
        config = {
            "connector.class": f"{PACKAGE}.mirror.MirrorSourceConnector",
            "source.cluster.alias": target,
            "target.cluster.alias": "here",
            "source.cluster.bootstrap.servers": self.servers,
            "target.cluster.bootstrap.servers": self.servers,
            "topics": source,
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "sync.topic.acls.enabled": "false",
            **{f"{use}.converter": f"{PACKAGE}.converters.ByteArrayConverter" for use in ("key", "value")},
            "header.converter": f"{PACKAGE}.converters.ByteArrayConverter",
        }
        return Run(config, lambda: self._end(f"{target}.{source}"))

    def _end(self, topic: str) -> int:
        """Of committed records; markers of transactions are few."""
        asked = {TopicPartition(topic, 0): OffsetSpec.latest()}
        return int(next(iter(self._admin.list_offsets(asked).values())).result(ANSWER_S_MAX).offset)


def finish(worker: Worker, name: str, run: Run, records: int) -> Figures:
    """Follows a connector to its last record, and deletes it."""
    began: tuple[float, int, float] | None = None
    end, ask_at = time.monotonic() + WAIT_S, 0.0
    while (now := time.monotonic()) < end:
        arrived = run.arrived()
        if began is None and arrived >= records // 10:
            began = now, arrived, cpu_seconds(worker.pid)
        if arrived >= records and began is not None:
            if began[1] >= records:
                raise SystemExit(f"{records} records arrived at once: pass a larger --records to measure it")
            rate = (records - began[1]) / (now - began[0])
            cpu = (cpu_seconds(worker.pid) - began[2]) / (records - began[1]) * MILLION
            worker.delete(name)
            return Figures(rate, cpu)
        if now >= ask_at:
            worker.require_running(name)
            ask_at = time.monotonic() + ASK_EVERY_S
        time.sleep(LOOK_EVERY_S)
    raise SystemExit(f"{name} did not finish within {WAIT_S} s: {run.arrived()} of {records} records")


def warm_up(worker: Worker, place: Arena, case: str, target: str) -> None:
    run = place.run(case, "warm", target)
    worker.create(target, run.config)
    end = time.monotonic() + WAIT_S
    while run.arrived() < WARM:
        if time.monotonic() > end:
            raise SystemExit(f"{target} did not finish within {WAIT_S} s")
        worker.require_running(target)
        time.sleep(LOOK_EVERY_S * 10)
    worker.delete(target)


def race(cases: list[str], sides: list[str], records: int, rounds: int) -> dict[str, Any]:
    """Figures of each round, by case and side."""
    found: dict[str, Any] = {case: {side: [] for side in sides} for case in cases}
    with arena() as (servers, folder):
        place = Arena(servers, folder, records)
        for side in sides:
            own = folder / side
            own.mkdir()
            with SIDES[side](servers, side, own) as worker:
                for case in cases:
                    warm_up(worker, place, case, f"{side}-{case}-warm")
                    for number in range(rounds):
                        name = f"{side}-{case}-{number}"
                        run = place.run(case, "big", name)
                        worker.create(name, run.config)
                        figures = finish(worker, name, run, records)
                        found[case][side].append(figures)
                        print(
                            f"{case:8} {side:10} {figures.records_per_s:12,.0f} records/s "
                            f"{figures.cpu_s_per_million:8.2f} CPU s per million",
                            flush=True,
                        )
                print(f"{'memory':8} {side:10} {memory(worker.pid).pss_mb:12,.0f} MB", flush=True)
    return found


def verdicts(found: Mapping[str, Mapping[str, list[Figures]]]) -> Iterator[tuple[str, bool]]:
    for case, by_side in found.items():
        if not {"moldau", "kafka"} <= by_side.keys():
            continue
        ours, theirs = (
            [*map(statistics.median, zip(*by_side[side], strict=True))] for side in ("moldau", "kafka")
        )
        rate, cpu = ours[0] / theirs[0], ours[1] / theirs[1]
        yield f"{case:8} records/s  {rate:6.2f} of Kafka Connect's, at least {RATIO_BAR}", rate >= RATIO_BAR
        yield f"{case:8} CPU        {cpu:6.2f} of Kafka Connect's, at most {RATIO_BAR}", cpu <= RATIO_BAR


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=3 * MILLION)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", default="source,sink,mirror")
    parser.add_argument("--sides", default="moldau,kafka")
    parser.add_argument("--output", choices=["text", "json"], default="text")
    given = parser.parse_args()
    found = race(given.cases.split(","), given.sides.split(","), given.records, given.rounds)
    told = list(verdicts(found))
    for text, is_met in told:
        print(f"{text}: {'met' if is_met else 'MISSED'}")
    if given.output == "json":
        plain = {
            case: {side: [one._asdict() for one in all_] for side, all_ in sides.items()}
            for case, sides in found.items()
        }
        print(json.dumps(plain))
    return 0 if all(is_met for _, is_met in told) else 1


if __name__ == "__main__":
    raise SystemExit(main())
