"""Apache Kafka itself: a KRaft node of one, broker and controller in one process, from Maven's jars.

It is the oracle: what a test expects of Moldau, Kafka does. Its settings are the stock ones, but for internal
topics of one partition and one replica, so that it starts quickly and alone.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from compat.server_process import ServerFailed, ServerProcess, free_port
from kafka_jars import KafkaJarsUnavailable, kafka_jars

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
STOCK_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


def java_command(*options: str, classpath: Sequence[Path] = ()) -> list[str]:
    """`java` with Kafka's jars; raises KafkaJarsUnavailable when either cannot be had."""
    java = shutil.which("java")
    if java is None:
        raise KafkaJarsUnavailable("Java (java) is not installed; Kafka 4.2 needs version 17 or newer")
    places = os.pathsep.join(str(place) for place in [*classpath, *kafka_jars()])
    return [java, *JVM_OPTIONS, *options, "-cp", places]


class ApacheKafka(ServerProcess):
    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder)
        controller_port = free_port()
        self._settings = {
            **STOCK_SETTINGS,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
            "log.dirs": str(self.log_dir),
            **(settings or {}),
        }
        self._properties = folder / "server.properties"
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in self._settings.items()))
        self._format()

    def command(self) -> list[str]:
        log_level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return [*java_command("-Xmx256m", log_level), "kafka.Kafka", str(self._properties)]

    def is_ready(self) -> bool:
        """Its port opens early; Metadata names a broker only once the controller has let it serve."""
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        try:
            return bool(admin.list_topics(timeout=5).brokers)
        except KafkaException:
            return False

    def _format(self) -> None:
        command = [*java_command("-Xmx128m"), "kafka.tools.StorageTool", "format", "--standalone"]
        command += ["--cluster-id", CLUSTER_ID, "--config", str(self._properties)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerFailed(f"could not format Kafka's storage\n{done.stdout}{done.stderr}")
