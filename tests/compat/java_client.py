"""Kafka's Java client, the version `java/pom.xml` says, driven over a pipe: `java/src/compat/Driver.java`."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compat.apache_kafka import java_command
from compat.client import Record
from compat.piped_client import PipedClient, PipedDriver, encoded
from kafka_jars import KafkaJarsUnavailable, cached_folder, digest_of, kafka_jars

SOURCES = Path(__file__).parent / "java" / "src"
LOG_OPTIONS = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    # The only place where the client tells whether it keeps a fetch session (KIP-227).
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients.FetchSessionHandler=trace",
)


class JavaDriver(PipedDriver):
    def __init__(self, log_path: Path, more_options: Sequence[str] = ()) -> None:
        options = ["-Xmx256m", *LOG_OPTIONS, *more_options]
        super().__init__([*java_command(*options, classpath=[_classes()]), "compat.Driver"], log_path)


class JavaClient(PipedClient):
    name = "java"

    def produce_transactions(
        self, topic: str, transactions: Sequence[tuple[bool, Sequence[Record]]], transactional_id: str
    ) -> None:
        """Each is (whether it commits, its records)."""
        described = [
            {"commit": commit, "records": [encoded(record) for record in records]}
            for commit, records in transactions
        ]
        settings = {"transactional.id": transactional_id}
        self.call("produce_transactions", topic=topic, transactions=described, settings=settings)


def _classes() -> Path:
    """The driver, compiled once for each state of its sources and of Kafka's jars."""
    sources = sorted(SOURCES.rglob("*.java"))
    jars = kafka_jars()
    digest = digest_of(*(source.read_bytes() for source in sources), *(jar.name.encode() for jar in jars))

    def compile_into(folder: Path) -> None:
        compiler = shutil.which("javac")
        if compiler is None:
            raise KafkaJarsUnavailable(
                "the Java compiler (javac) is not installed; run tools/install-test-tools"
            )
        places = ":".join(str(jar) for jar in jars)
        command = [compiler, "-nowarn", "-d", str(folder), "-cp", places, *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return cached_folder("java-classes", digest, compile_into)
