"""Pipelines on Spark beside Kafka Streams: the same topologies, broker and input, exactly once on both sides.

python bench/pipeline.py [--records N] [--cases stateless,windowed-count,stream-table,table-table] [--only SIDE]
python bench/pipeline.py --latency          micro-batch latency, record by record
python bench/pipeline.py --many 20          light pipelines in one Spark session
python bench/pipeline.py --views            key lookups in a view over HTTP

The input is there before the application starts. The rate is that of the input offsets the application has committed,
from its first commit on, so that neither side pays for its start. Kafka Streams runs one thread a partition. Both have
their record caches on, as is their default: Kafka's of 10 MiB, told at each commit, ours told at each batch. With
--no-cache both are off and write one output for each input.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.status_http import serve_in_thread
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology, tumbling
from moldau.pipeline.views.http import view_server
from moldau.pipeline.views.view_host import ViewHost

PEER_FOLDER = Path(__file__).parent / "streams_peer"
PARTITIONS = 2
KEYS = 1_000
WAIT_S = 600
CACHE_BYTES = 10 << 20
"""Kafka Streams' default of statestore.cache.max.bytes."""
BARS = {"stateless": 200_000, "windowed-count": 150_000, "stream-table": 50_000, "table-table": 30_000}


def topology(case: str, application_id: str) -> Topology:
    builder = StreamsBuilder(application_id, key=STRING, value=STRING)
    if case == "stateless":
        builder.stream("in").map_values(str.upper).to("out")
    elif case == "windowed-count":
        counts = builder.stream("in").group_by_key().windowed_by(tumbling(60_000)).count()
        counts.to_stream().to("out", value=LONG)
    elif case == "stream-table":
        builder.stream("in").join(builder.table("table"), lambda left, right: left + right).to("out")
    elif case == "table-table":
        builder.table("in").join(builder.table("table"), lambda left, right: left + right).to_stream().to(
            "out"
        )
    return builder.build()


@contextlib.contextmanager
def broker(folder: Path) -> Iterator[str]:
    port = random.randrange(20_000, 30_000)
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(folder / "data"),
        "group.initial.rebalance.delay.ms": "0",
    }
    command = [str(Path(sys.executable).with_name("moldau")), "broker"]
    command += [f"--override={key}={value}" for key, value in settings.items()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ready"):
            break
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def create(servers: str, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(topic, PARTITIONS) for topic in topics]).values():
        future.result(60)


def fill(servers: str, records: int) -> None:
    """The table first and older, so that joins find their partners."""
    settings = {"linger.ms": 20, "batch.num.messages": 50_000, "queue.buffering.max.messages": 2_000_000}
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", **settings})
    now_ms = int(time.time() * 1000)
    for number in range(KEYS):
        producer.produce(
            "table", key=b"key-%d" % number, value=b"right-%d" % number, timestamp=now_ms - 1_000_000
        )
    for number in range(records):
        key, value = b"key-%d" % (number % KEYS), b"value-%012d-abcdefghijklmnopqrstuvwxyz" % number
        producer.produce("in", key=key, value=value, timestamp=now_ms + number // 10)
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush()


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
            folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
            with broker(folder) as servers:
                create(servers, "in", "table", "out")
                fill(servers, records)
                rate = RUNNERS[side](case, servers, folder, records, cache=cache)
            shutil.rmtree(folder, ignore_errors=True)
            results.setdefault(case, {})[side] = rate
            print(f"{case:16} {side:14} {rate:12,.0f} records/s", flush=True)
        if len(results[case]) == 2:
            ratio = results[case]["moldau"] / results[case]["kafka-streams"]
            print(f"{case:16} {'ratio':14} {ratio:12.2f}   bar {BARS[case]:,}", flush=True)
    return results


def latency(count: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    with broker(folder) as servers:
        create(servers, "in", "table", "out")
        app = PipelineApp(
            topology("stateless", "latency"), AppSettings("latency", servers, str(folder), trigger_ms=0)
        )
        app.start()
        app.wait(PipelineState.RUNNING, timeout_s=WAIT_S)
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        settings = {
            "group.id": "latency-reader",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 20,
        }
        consumer = Consumer({"bootstrap.servers": servers, **settings, "auto.offset.reset": "earliest"})
        consumer.subscribe(["out"])
        waits_ms = []
        for number in range(count):
            began = time.perf_counter()
            producer.produce("in", key=str(number), value=str(number))
            producer.flush()
            while (message := consumer.poll(30)) is None or message.error():
                pass
            waits_ms.append((time.perf_counter() - began) * 1000)
        app.stop()
    warm = sorted(waits_ms[count // 4 :])
    print(
        f"latency p50 {statistics.median(warm):.0f} ms, p99 {warm[int(len(warm) * 0.99)]:.0f} ms of {len(warm)}"
    )


def many(count: int, seconds: int = 60, trigger_ms: int = 2_000) -> None:
    """Light input to each of `count` applications; says how long their batches take beside their trigger."""
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    with broker(folder) as servers:
        create(servers, "in", "table", "out")
        apps = []
        for number in range(count):
            settings = AppSettings(f"many-{number}", servers, str(folder), instances=1, trigger_ms=trigger_ms)
            apps.append(PipelineApp(topology("windowed-count", f"many-{number}"), settings))
        for app in apps:
            app.start()
            app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=WAIT_S)
        producer = Producer({"bootstrap.servers": servers})
        end = time.monotonic() + seconds
        worst_ms: list[int] = []
        while time.monotonic() < end:
            for number in range(10):
                producer.produce("in", key=str(number), value="light")
            producer.flush()
            worst_ms.append(max(app.metrics.batch_ms for app in apps))
            time.sleep(1)
        settled = worst_ms[len(worst_ms) // 2 :]
        print(
            f"{count} applications, trigger {trigger_ms} ms: longest batch {max(settled)} ms, "
            f"median of the longest {statistics.median(settled):.0f} ms"
        )
        for app in apps:
            app.stop()


def views(keys: int = 100_000, lookups: int = 5_000) -> None:
    """One keep-alive connection asks for random keys of a view that has been built from its changelog."""
    builder = StreamsBuilder("viewed", key=STRING, value=STRING)
    builder.stream("in").group_by_key().count(store="counts")
    topology = builder.build()
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    with broker(folder) as servers:
        create(servers, "in", "viewed-counts-changelog")
        producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": 1_000_000})
        for number in range(keys):
            value = time.time_ns().to_bytes(8)
            producer.produce("viewed-counts-changelog", key=b"key-%d" % number, value=value)
        producer.flush()
        host = ViewHost(topology, "viewed", {"bootstrap.servers": servers})
        host.start()
        host.wait_ready(WAIT_S)
        port = random.randrange(30_000, 40_000)
        serve_in_thread(view_server(host), f"127.0.0.1:{port}")
        connection = http.client.HTTPConnection("127.0.0.1", port)
        deadline = time.monotonic() + WAIT_S
        while connection.sock is None and time.monotonic() < deadline:
            with contextlib.suppress(ConnectionRefusedError):
                connection.connect()
        waits_ms = []
        for number in range(lookups + lookups // 10):
            began = time.perf_counter()
            connection.request("GET", f"/views/counts/keys/key-{random.randrange(keys)}")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            if number >= lookups // 10:
                waits_ms.append((time.perf_counter() - began) * 1000)
        host.stop()
    waits_ms.sort()
    print(
        f"views: key lookup of {keys:,} p50 {statistics.median(waits_ms):.2f} ms, "
        f"p99 {waits_ms[int(lookups * 0.99)]:.2f} ms"
    )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=2_000_000)
    options.add_argument("--cases", default=",".join(BARS))
    options.add_argument("--only", choices=sorted(RUNNERS))
    options.add_argument("--no-cache", action="store_true", help="every change is told, on both sides")
    options.add_argument("--latency", action="store_true")
    options.add_argument("--many", type=int, default=0)
    options.add_argument("--views", action="store_true")
    options.add_argument("--json", type=Path, help="write the rates there")
    given = options.parse_args()
    if given.latency:
        latency(200)
    elif given.many:
        many(given.many)
    elif given.views:
        views()
    else:
        sides = [given.only] if given.only else list(RUNNERS)
        results = race(given.cases.split(","), sides, given.records, cache=not given.no_cache)
        if given.json:
            given.json.write_text(json.dumps(results, indent=1))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
