"""The sides of the race of SQL, each in processes of its own that start for the run: the statement as the SQL server
hosts it, the same by hand on Kafka Streams, the same by hand in plain PySpark.

The rate is that of the input offsets that are committed, from the first commit behind the first `WARM` records to the
last, so that nobody pays for starting. Plain PySpark commits no offsets: the ends of its batches count.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition

from moldau.pipeline.driver_process.supervision import Supervision
from moldau.pipeline.sql.server.hosting.application_files import TEMPLATE
from moldau.pipeline.sql.server.settings import ServerSettings
from pipeline_arena import PARTITIONS, WAIT_S
from pipeline_race import CACHE_BYTES, PEER_FOLDER, peer_classes
from sql_cases import Case, program

WARM: Final = 400_000
"""The first batch of Spark."""
LOOK_EVERY_S: Final = 0.02
SPARK_PEER: Final = Path(__file__).with_name("sql_spark_peer.py")


def measured(servers: str, group: str, topic: str, records: int, alive: Callable[[], bool]) -> float:
    """Records a second."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    places = [TopicPartition(topic, partition) for partition in range(PARTITIONS)]
    began: tuple[float, int] | None = None
    deadline = time.monotonic() + WAIT_S
    try:
        while time.monotonic() < deadline and alive():
            done = sum(max(0, place.offset) for place in consumer.committed(places, timeout=30))
            now = time.monotonic()
            if began is None and done >= min(WARM, records // 3):
                began = (now, done)
            if began is not None and began[1] >= records:
                raise SystemExit(
                    f"{group} read {records} records at once: pass a larger --records to measure it"
                )
            if began is not None and done >= records:
                return (records - began[1]) / (now - began[0])
            time.sleep(LOOK_EVERY_S)
    finally:
        consumer.close()
    raise SystemExit(f"{group} did not finish")


def run_moldau(case: Case, servers: str, folder: Path, sink: str, records: int) -> float:
    name = f"moldau-{sink}"
    folder.mkdir()
    text = TEMPLATE.format(query_id=name, program=program(case, sink, name), log_import="", log="")
    (folder / f"{name}.py").write_text(text)
    with _driver(folder, servers) as supervision:
        return measured(servers, name, case.topic, records, lambda: supervision.pid is not None)


@contextlib.contextmanager
def _driver(folder: Path, servers: str) -> Iterator[Supervision]:
    """The process that runs the queries of a server, with the settings that a server has by default."""
    settings = ServerSettings({})
    order = {
        "settings": {
            "bootstrap_servers": servers,
            "checkpoint_dir": str(folder / "checkpoints"),
            "instances": settings.instances,
            "trigger_ms": settings.trigger_ms,
            "dead_letters": not settings.fails_on_bad_records,
            "on_change": "keep",
        },
        "spark": {"master": "local[*]", "conf": {}},
    }
    supervision = Supervision([str(folder)], lambda: order)
    reader = threading.Thread(target=_told, args=(supervision,), daemon=True)
    reader.start()
    while supervision.pid is None and reader.is_alive():
        time.sleep(LOOK_EVERY_S)
    try:
        yield supervision
    finally:
        supervision.stop()
        reader.join()


def _told(supervision: Supervision) -> None:
    for status in supervision.statuses():
        if error := status.get("last_error"):
            print(f"  {status['application_id']}: {error}", file=sys.stderr, flush=True)


def run_kafka_streams(case: Case, servers: str, folder: Path, sink: str, records: int) -> float:
    name = f"kafka-streams-{sink}"
    arguments = [case.name, servers, name, str(folder), str(PARTITIONS), str(CACHE_BYTES), sink]
    peer = subprocess.Popen(["java", "-Xmx1g", "-cp", sql_peer_classes(), "SqlPeer", *arguments])
    try:
        return measured(servers, name, case.topic, records, lambda: peer.poll() is None)
    finally:
        peer.terminate()
        peer.wait(60)


def sql_peer_classes() -> str:
    """The peer compiled, beside the jars of Kafka Streams."""
    root, _, jars = peer_classes().partition(":")
    source, made = PEER_FOLDER / "SqlPeer.java", Path(root) / "SqlPeer.class"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["javac", "-cp", jars, "-d", root, str(source)], check=True)
    return f"{root}:{jars}"


def run_pyspark(case: Case, servers: str, folder: Path, sink: str, records: int) -> float:
    command = [
        sys.executable,
        str(SPARK_PEER),
        case.name,
        servers,
        str(folder),
        sink,
        str(min(WARM, records // 3)),
    ]
    peer = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=WAIT_S, env=dict(os.environ))
    batches: list[dict[str, Any]] = [
        json.loads(line) for line in peer.stdout.splitlines() if line.startswith(b"{")
    ]
    if sum(one["records"] for one in batches) != records:
        raise SystemExit(f"plain PySpark read {batches} of {records} records")
    rest = batches[1:]
    return sum(one["records"] for one in rest) / sum(one["seconds"] for one in rest)


SIDES: Final = {"moldau": run_moldau, "kafka-streams": run_kafka_streams, "pyspark": run_pyspark}
