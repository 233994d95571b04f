"""Kafka Connect itself: a distributed worker from Maven Central, on the broker of the tests. The oracle of ours."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from compat.connect.oracle import tool
from compat.server_process import ServerProcess
from e2e.connect.server.connect_process import ConnectClient, Refused
from kafka_jars import MAVEN_TIMEOUT_S, KafkaJarsUnavailable, cached_folder, digest_of

POM = Path(__file__).with_name("pom.xml")
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx512m")
MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"


class KafkaConnect(ServerProcess):
    """Raises KafkaJarsUnavailable where there is no Java or Maven."""

    def __init__(self, folder: Path, bootstrap: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(folder)
        self._java = tool("java")
        self._jars = cached_folder("connect-worker-jars", digest_of(POM.read_bytes()), _download)
        self._settings = {
            "listeners": f"http://127.0.0.1:{self.port}",
            "rest.advertised.host.name": "127.0.0.1",
            "bootstrap.servers": bootstrap,
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "offset.flush.interval.ms": "500",
            **{f"{kind}.storage.topic": f"connect-{kind}s" for kind in ("config", "offset")},
            "status.storage.topic": "connect-status",
            **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
            "plugin.discovery": "service_load",
            **(settings or {}),
        }
        self._properties = folder / "worker.properties"
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in self._settings.items()))
        self.client = ConnectClient(f"http://127.0.0.1:{self.port}")

    def command(self) -> list[str]:
        return [self._java, *JVM_OPTIONS, "-cp", f"{self._jars}/*", MAIN, str(self._properties)]

    def is_ready(self) -> bool:
        try:
            self.client.ask("GET", "/connectors")
        except (OSError, Refused):
            return False
        return True


def _download(folder: Path) -> None:
    command = [tool("mvn"), "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise KafkaJarsUnavailable(f"Maven did not fetch Kafka Connect within {MAVEN_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise KafkaJarsUnavailable("Maven could not fetch Kafka Connect: " + "".join(lines[:1]))
