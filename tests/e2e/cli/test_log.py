"""`moldau log` on what a broker left behind, beside Kafka's own tool."""

import base64
import json
import random
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.apache_kafka import ApacheKafka, java_command
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import COMMAND_TIMEOUT_S, Shell
from kafka_jars import KafkaJarsUnavailable

TOPIC = "orders"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def left_behind(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The log directory of a stopped broker: every codec, an idempotent producer, several segments."""
    try:
        server = broker_class(tmp_path_factory.mktemp("left-behind"))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    hardly_compressible = base64.b64encode(random.Random(7).randbytes(150_000))
    with server:
        shell = Shell(server.bootstrap)
        shell.run(
            "topics",
            "create",
            TOPIC,
            "--config",
            "segment.bytes=1048576",
            "--config",
            "index.interval.bytes=256",
        )
        for codec in CODECS:
            settings = {"compression.type": codec, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
            producer = Producer({"bootstrap.servers": server.bootstrap, **settings})
            for number in range(500):
                producer.produce(TOPIC, f"{codec} {number}", f"k{number}", headers={"codec": codec})
                producer.poll(0)
            for _ in range(3):
                producer.produce(TOPIC, hardly_compressible)
                producer.flush(COMMAND_TIMEOUT_S)
    return server.log_dir


def test_what_a_stopped_broker_left_is_sound(left_behind: Path) -> None:
    shell = Shell("")
    found = json.loads(shell.run("log", "verify", str(left_behind), "--deep", "-o", "json"))
    assert found["damages"] == []
    account = json.loads(shell.run("log", "verify", str(left_behind / f"{TOPIC}-0"), "-o", "json"))
    assert account["records"] == len(CODECS) * 503
    assert len(list((left_behind / f"{TOPIC}-0").glob("*.log"))) > 1


def test_damage_ends_with_exit_code_1(left_behind: Path, tmp_path: Path) -> None:
    segment = sorted((left_behind / f"{TOPIC}-0").glob("*.log"))[0]
    damaged = tmp_path / segment.name
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    assert "the CRC does not match" in Shell("").finished("log", "verify", str(damaged)).stdout
    assert Shell("").finished("log", "verify", str(damaged)).returncode == 1


@pytest.mark.java
def test_the_dump_is_what_kafkas_own_tool_prints(left_behind: Path) -> None:
    paths = sorted(
        path
        for path in (left_behind / f"{TOPIC}-0").iterdir()
        if path.suffix in (".log", ".index", ".timeindex")
    )
    try:
        command = java_command("-Xmx128m")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    files = ",".join(map(str, paths))
    theirs = subprocess.run(
        [*command, "kafka.tools.DumpLogSegments", "--print-data-log", "--files", files],
        capture_output=True,
        text=True,
        check=True,
        timeout=COMMAND_TIMEOUT_S,
    ).stdout.splitlines()
    ours = Shell("").run("log", "dump", "--records", *map(str, paths)).splitlines()
    assert ours == theirs
