"""`moldau quotas` and Kafka's own kafka-configs; clients above their quotas are slowed down, not stopped."""

import json
import subprocess
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from compat.apache_kafka import java_command
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import Shell
from kafka_jars import KafkaJarsUnavailable

WINDOW = {"quota.window.num": "2", "quota.window.size.seconds": "1"}
VALUE = bytes(10_000)
COUNT = 300


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path_factory.mktemp("quotas"), WINDOW) as server:
        yield server


@pytest.fixture(scope="module")
def shell(broker: MoldauBroker) -> Shell:
    return Shell(broker.bootstrap)


def listed(shell: Shell, *options: str) -> list[tuple[str | None, str | None, str, float]]:
    found = json.loads(shell.run("quotas", "list", "--output", "json", *options))
    return [(each["user"], each["client"], each["quota"], each["limit"]) for each in found]


def test_quotas_come_and_go(shell: Shell) -> None:
    said = shell.run(
        "quotas", "set", "--client", "clueful", "producer_byte_rate=1MB", "consumer_byte_rate=10MiB"
    )
    assert said.splitlines() == [
        "producer_byte_rate of client clueful is 1.0 MB/s.",
        "consumer_byte_rate of client clueful is 10.5 MB/s.",
    ]
    shell.run("quotas", "set", "--user", "Franz", "--any-client", "request_percentage=12.5")
    assert listed(shell) == [
        (None, "clueful", "consumer_byte_rate", 10 * 1024**2),
        (None, "clueful", "producer_byte_rate", 1e6),
        ("Franz", "<default>", "request_percentage", 12.5),
    ]
    assert listed(shell, "--user", "Franz") == [("Franz", "<default>", "request_percentage", 12.5)]
    assert "user Franz with any client" in shell.run("quotas", "list")
    shell.run("quotas", "remove", "--client", "clueful", "producer_byte_rate", "--yes")
    assert [each[2] for each in listed(shell, "--client", "clueful")] == ["consumer_byte_rate"]
    shell.run("quotas", "remove", "--client", "clueful", "--yes")
    shell.run("quotas", "remove", "--user", "Franz", "--any-client", "--yes")
    assert shell.run("quotas", "list") == ""


@pytest.mark.java
def test_kafkas_tool_sets_and_describes_them(broker: MoldauBroker, shell: Shell) -> None:
    def configs(*options: str) -> str:
        try:
            command = java_command("-Xmx128m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        except KafkaJarsUnavailable as reason:
            pytest.skip(str(reason))
        command += ["kafka.admin.ConfigCommand", "--bootstrap-server", broker.bootstrap, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    limits = "producer_byte_rate=1048576,consumer_byte_rate=10485760"
    clueful = ("--entity-type", "clients", "--entity-name", "clueful")
    configs("--alter", "--add-config", limits, *clueful)
    assert listed(shell) == [
        (None, "clueful", "consumer_byte_rate", 10485760.0), (None, "clueful", "producer_byte_rate", 1048576.0),
    ]  # fmt: skip
    described = configs("--describe", *clueful)
    assert "client-id 'clueful'" in described and "consumer_byte_rate=1.048576E7" in described
    configs("--alter", "--delete-config", "producer_byte_rate,consumer_byte_rate", *clueful)
    assert shell.run("quotas", "list") == ""


def write_and_read(broker: MoldauBroker, client_id: str, topic: str) -> tuple[float, float]:
    """The longest time in seconds that the producer and the consumer were told to wait."""
    waits: dict[str, float] = {"producer": 0.0, "consumer": 0.0}

    def note(who: str) -> object:
        return lambda event: waits.update({who: max(waits[who], event.throttle_time)})

    common = {"bootstrap.servers": broker.bootstrap, "client.id": client_id}
    producer = Producer({**common, "throttle_cb": note("producer"), "batch.size": 100_000, "linger.ms": 5})
    for _ in range(COUNT):
        producer.produce(topic, VALUE, partition=0)
    assert producer.flush(120) == 0
    consumer = Consumer(
        {**common, "throttle_cb": note("consumer"), "group.id": "g", "fetch.message.max.bytes": 200_000}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    read = 0
    while read < COUNT:
        message = consumer.poll(60)
        assert message is not None and message.error() is None, f"after {read} records: {message}"
        read += 1
    consumer.close()
    return waits["producer"], waits["consumer"]


def test_who_uses_more_waits_and_the_others_do_not(broker: MoldauBroker, shell: Shell) -> None:
    for topic in ("held", "free"):
        shell.run("topics", "create", topic)
    shell.run("quotas", "set", "--client", "clueful", "producer_byte_rate=1MB", "consumer_byte_rate=1MB")
    writing, reading = write_and_read(broker, "clueful", "held")
    assert writing > 0 and reading > 0
    assert write_and_read(broker, "clueless", "free") == (0.0, 0.0)
    # The quota of the user is in force instead, though it is the larger one.
    shell.run("quotas", "set", "--user", "ANONYMOUS", "producer_byte_rate=1GB", "consumer_byte_rate=1GB")
    assert write_and_read(broker, "clueful", "free") == (0.0, 0.0)
    shell.run("quotas", "remove", "--user", "ANONYMOUS", "--yes")
    shell.run("quotas", "remove", "--client", "clueful", "--yes")
