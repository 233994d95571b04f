"""A mosquitto whose bridge hands messages on, with the guide's configuration."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat.server_process import ServerProcess
from documents import GUIDES, Page
from e2e.mqtt.conftest import Dial, StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire, fresh
from moldau.testing import LocalCluster


class Mosquitto(ServerProcess):
    """Of the guide, except for the ports."""

    def __init__(self, folder: Path, proxy: MqttProxy) -> None:
        super().__init__(folder)
        [example] = Page(GUIDES / "mqtt.md").blocks("conf")
        text = example.text.replace("1884", str(self.port)).replace(
            "localhost:1883", f"127.0.0.1:{proxy.port}"
        )
        text = text.replace("./", f"{folder}/")
        self.file = folder / "mosquitto.conf"
        self.file.write_text(text + ("\nuser root\n" if os.geteuid() == 0 else ""))

    def command(self) -> list[str]:
        found = shutil.which("mosquitto", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
        if found is None:
            pytest.skip("mosquitto is not installed; run tools/install-test-tools")
        return [found, "-c", str(self.file)]

    def is_ready(self) -> bool:
        try:
            with Wire(self.port) as wire:
                wire.connect()
        except (OSError, AssertionError):
            return False
        return True


@contextmanager
def mosquitto(folder: Path, proxy: MqttProxy) -> Iterator[Mosquitto]:
    """Started, and stopped afterwards."""
    with Mosquitto(folder, proxy) as server:
        yield server


def sensor_values(kafka: LocalCluster, topic: str) -> list[bytes]:
    """What Kafka has, up to the last one."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": fresh("group"),
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    while b"20" not in found:
        record = consumer.poll(PATIENCE_S)
        assert record is not None, found
        if (record.key() or b"").startswith(b"sensors/"):
            found.append(record.value() or b"")
    consumer.close()
    return found


def test_both_directions_and_a_kill_between(
    start_proxy: StartProxy, kafka: LocalCluster, tmp_path: Path
) -> None:
    proxy = start_proxy(topic_partitions="1")
    with mosquitto(tmp_path / "mosquitto", proxy) as hall, Wire(hall.port) as machine:
        machine.connect()
        machine.subscribe("commands/#", qos=1)
        with Wire(proxy.port) as reader:
            reader.connect()
            reader.subscribe("sensors/#", "$SYS/broker/connection/#")
            # The bridge says that it is there, under the name that mosquitto gives it.
            assert reader.message().payload == b"1"
            machine.publish("sensors/press-7", b"61", 2)
            message = reader.message()
            while message.topic.startswith("$SYS/"):
                message = reader.message()  # as a retained message, and as a new one
            assert message.payload == b"61"
            reader.publish("commands/press-7", b"stop", 1)
            assert machine.message().payload == b"stop"
        proxy.kill9()
        for number in range(1, 21):
            machine.publish("sensors/press-7", b"%d" % number, 2, number)
        proxy.start()
        assert sensor_values(kafka, proxy.settings["topic.default"]) == [
            b"61",
            *(b"%d" % number for number in range(1, 21)),
        ]


def test_a_bridge_does_not_get_back_what_it_has_published(connected: Dial) -> None:
    """As mosquitto marks itself in 3.1.1: bit 7 of the protocol level. Retained messages keep their flag."""
    bridge, other, topic = connected(is_bridge=True), connected(), fresh("topic")
    bridge.subscribe(f"{topic}/#")
    bridge.publish(f"{topic}/own", b"own", 1)
    other.publish(f"{topic}/theirs", b"theirs", 1, retain=True)
    message = bridge.message()
    assert (message.payload, message.retain) == (b"theirs", True)
