"""The two contestants as a user starts them: `moldau broker`, and Apache Kafka with its stock settings and JVM.

Owns how each is started, when it counts as ready and what topics it has. Must not measure.
"""

import itertools
import os
import re
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "bench" / "out"
sys.path.insert(0, str(ROOT / "tests"))  # The process starters of the compatibility tests.

from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # noqa: E402

import compat.server_process  # noqa: E402
from compat.apache_kafka import ApacheKafka  # noqa: E402
from compat.moldau_broker import MoldauBroker  # noqa: E402
from compat.server_process import ServerFailed, ServerProcess, wait_until  # noqa: E402
from kafka_jars import KafkaJarsUnavailable, cached_folder, digest_of, kafka_jars  # noqa: E402

__all__ = [
    "OUT",
    "ROOT",
    "SYSTEMS",
    "ServerFailed",
    "ServerProcess",
    "cached_folder",
    "digest_of",
    "wait_until",
]

# Kafka takes longer than the tests allow to open and to close ten thousand partitions.
compat.server_process.START_TIMEOUT_S = compat.server_process.STOP_TIMEOUT_S = 600

# What bin/kafka-server-start.sh and bin/kafka-run-class.sh of the 4.2.0 distribution pass to the JVM.
STOCK_JVM_OPTIONS = (
    "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true", "-Dcom.sun.management.jmxremote=true",
)  # fmt: skip
# The tests make Kafka's internal topics small; no case uses them, but stock is stock.
STOCK_INTERNAL_TOPICS = {"offsets.topic.num.partitions": "50", "transaction.state.log.num.partitions": "50"}
PROBE_INTERVAL_S = 0.002
PROBE_SPELL_S = 0.1
TOPIC_TIMEOUT_S = 120
PARTITIONS_PER_REQUEST_MAX = 5_000  # Kafka's controller writes at most 10,000 records for one request.
_METADATA_V1 = struct.pack(">ihhihi", 14, 3, 1, 1, -1, 0)  # No topics: only the brokers.


class StockKafka(ApacheKafka):
    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, {**STOCK_INTERNAL_TOPICS, **(settings or {})})

    def command(self) -> list[str]:
        java = shutil.which("java")
        if java is None:
            raise KafkaJarsUnavailable("Java (java) is not installed; Kafka 4.2 needs version 17 or newer")
        gc_log = f"-Xlog:gc*:file={self.folder}/kafkaServer-gc.log:time,tags:filecount=10,filesize=100M"
        log_level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        classpath = os.pathsep.join(str(jar) for jar in kafka_jars())
        options = [*STOCK_JVM_OPTIONS, gc_log, log_level, "-cp", classpath]
        return [java, *options, "kafka.Kafka", str(self._properties)]

    def is_ready(self) -> bool:
        return _answers_soon(self.port)


class StockMoldau(MoldauBroker):
    def is_ready(self) -> bool:
        return _answers_soon(self.port)


SYSTEMS: dict[str, type[StockMoldau] | type[StockKafka]] = {"moldau": StockMoldau, "kafka": StockKafka}
_topic_numbers = itertools.count(1)


def stop_servers_on_sigterm() -> None:
    """A benchmark that is told to end takes its servers with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def create_topic(
    server: ServerProcess, partitions: int, config: Mapping[str, str] | None = None, prefix: str = "race"
) -> str:
    """A new topic with a name of its own; returns when the broker has answered."""
    name = f"{prefix}-{next(_topic_numbers)}"
    topic = NewTopic(name, min(partitions, PARTITIONS_PER_REQUEST_MAX), 1, config=dict(config or {}))
    admin = admin_client(server)
    created = admin.create_topics([topic], operation_timeout=TOPIC_TIMEOUT_S, request_timeout=TOPIC_TIMEOUT_S)
    created[name].result()
    for count in range(2 * PARTITIONS_PER_REQUEST_MAX, partitions + 1, PARTITIONS_PER_REQUEST_MAX):
        admin.create_partitions([NewPartitions(name, count)], request_timeout=TOPIC_TIMEOUT_S)[name].result()
    return name


def delete_topic(server: ServerProcess, name: str) -> None:
    admin = admin_client(server)
    admin.delete_topics([name], operation_timeout=TOPIC_TIMEOUT_S)[name].result()


def kafka_version() -> str:
    names = (re.fullmatch(r"kafka-clients-(.+)\.jar", jar.name) for jar in kafka_jars())
    return next((name[1] for name in names if name), "unknown")


def admin_client(server: ServerProcess) -> AdminClient:
    """Must be kept until its answers are there: they are cancelled with it."""
    return AdminClient({"bootstrap.servers": server.bootstrap, "log_level": 0})


def _answers_soon(port: int) -> bool:
    """Looks often for a while, so that the time of start is known to a few milliseconds."""
    deadline = time.monotonic() + PROBE_SPELL_S
    while not names_a_broker(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(PROBE_INTERVAL_S)
    return True


def names_a_broker(port: int) -> bool:
    """Ready is: Metadata is answered and names a broker. A port may open well before that."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(_METADATA_V1)
            answer = connection.makefile("rb").read(12)
    except OSError:
        return False
    return len(answer) == 12 and struct.unpack(">iii", answer)[2] > 0
