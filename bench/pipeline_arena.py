"""What the measurements of pipelines share: a broker of their own, its topics and their records, the topologies."""

import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.pipeline.streams import LONG, STRING, Guarantee, StreamsBuilder, Topology, call, col, tumbling

PARTITIONS = 2
KEYS = 1_000
WAIT_S = 600


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
    elif case == "columns":
        builder.stream("in").map_values(call("upper", col())).to("out")
        return builder.build(guarantee=Guarantee.AT_LEAST_ONCE)
    return builder.build()


@contextlib.contextmanager
def arena() -> Iterator[tuple[str, Path]]:
    """A broker's address and a folder, both gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    try:
        with broker(folder) as servers:
            yield servers, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def create(servers: str, *topics: str, partitions: int = PARTITIONS) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(topic, partitions) for topic in topics]).values():
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
