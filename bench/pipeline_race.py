"""The race of pipelines: topologies of ours on Spark beside the same ones on Kafka Streams.

The input is there before the application starts. The rate is that of the input offsets the application has committed,
from its first commit on, so that neither side pays for its start. Kafka Streams runs one thread a partition. Both have
their record caches on, as is their default: Kafka's of 10 MiB, told at each commit, ours told at each batch.
"""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.settings import AppSettings
from pipeline_arena import PARTITIONS, WAIT_S, arena, create, fill, topology

PEER_FOLDER = Path(__file__).parent / "streams_peer"
CACHE_BYTES = 10 << 20
"""Kafka Streams' default of statestore.cache.max.bytes."""


def committed_records(consumer: Consumer) -> int:
    places = [TopicPartition("in", partition) for partition in range(PARTITIONS)]
    return sum(max(0, place.offset) for place in consumer.committed(places, timeout=30))


def measure(servers: str, group: str, records: int, alive: Callable[[], bool]) -> float:
    """Records a second between the first commit that is seen and the last."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    began: tuple[float, int] | None = None
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and alive():
        done, now = committed_records(consumer), time.monotonic()
        if done and began is None:
            began = (now, done)
        if done >= records and began is not None and done > began[1]:
            return (done - began[1]) / (now - began[0])
        time.sleep(0.02)
    raise SystemExit(f"{group} did not finish")


def run_moldau(case: str, servers: str, folder: Path, records: int, *, cache: bool) -> float:
    name = f"moldau-{case}"
    app = PipelineApp(topology(case, name), AppSettings(name, servers, str(folder), record_cache=cache))
    app.start()
    try:
        return measure(servers, name, records, lambda: app.state is not PipelineState.FAILED)
    finally:
        print(
            f"  {app.metrics.worker_ms} ms in the workers' last batch of {app.metrics.batch_ms} ms",
            flush=True,
        )
        app.stop()


def peer_classes() -> str:
    """Kafka Streams from Maven and the peer compiled against it, kept in the cache."""
    root = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "moldau"
        / "bench"
        / "streams-4.2.0"
    )
    if not (root / "StreamsPeer.class").exists():
        jars = root / "jars"
        pom = str(PEER_FOLDER / "pom.xml")
        command = ["mvn", "--batch-mode", "--quiet", "--file", pom, "dependency:copy-dependencies"]
        subprocess.run([*command, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"], check=True)
        source = str(PEER_FOLDER / "StreamsPeer.java")
        subprocess.run(["javac", "-cp", f"{jars}/*", "-d", str(root), source], check=True)
    return f"{root}:{root}/jars/*"


def run_kafka_streams(case: str, servers: str, folder: Path, records: int, *, cache: bool) -> float:
    name = f"kafka-streams-{case}"
    arguments = [
        case,
        servers,
        name,
        str(folder / "state"),
        str(PARTITIONS),
        str(CACHE_BYTES if cache else 0),
    ]
    peer = subprocess.Popen(["java", "-Xmx1g", "-cp", peer_classes(), "StreamsPeer", *arguments])
    try:
        return measure(servers, name, records, lambda: peer.poll() is None)
    finally:
        peer.terminate()
        peer.wait(60)


RUNNERS = {"moldau": run_moldau, "kafka-streams": run_kafka_streams}


def race(cases: list[str], sides: list[str], records: int, *, cache: bool) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}
    for case in cases:
        for side in sides:
            with arena() as (servers, folder):
                create(servers, "in", "table", "out")
                fill(servers, records)
                rate = RUNNERS[side](case, servers, folder, records, cache=cache)
            results.setdefault(case, {})[side] = rate
            print(f"{case:16} {side:14} {rate:12,.0f} records/s", flush=True)
    return results
