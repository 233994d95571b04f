"""The guide is true: its commands and its Python run as they stand, except for the addresses."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message

from documents import GUIDES, Page
from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire, fresh
from moldau.proxies.mqtt.settings import MqttSettings
from moldau.testing import LocalCluster

PAGE = Page(GUIDES / "mqtt.md")


def environment() -> dict[str, str]:
    """Finds `moldau` where the tests run."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def printed(text: str, port: int, kafka: LocalCluster, topic: str) -> str:
    """What a block prints with these addresses."""
    text = text.replace("-p 1883", f"-p {port}").replace("localhost:9092", kafka.bootstrap_servers)
    text = text.replace("consume mqtt", f"consume {topic}")
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_of_mosquitto(start_proxy: StartProxy, kafka: LocalCluster) -> None:
    if shutil.which("mosquitto_pub") is None:
        pytest.skip("mosquitto's clients are not installed")
    topic = fresh("mqtt-")
    proxy = start_proxy(topic_default=topic)
    publish, consume, _, figures = (one.text for one in PAGE.blocks("sh"))
    assert printed(publish, proxy.port, kafka, topic) == 'sensors/prague/boiler {"celsius": 61.5}\n'
    assert "sensors/prague/boiler" in printed(consume, proxy.port, kafka, topic)
    assert printed(figures, proxy.port, kafka, topic).startswith("moldau version ")


def test_the_program_with_paho(start_proxy: StartProxy) -> None:
    proxy = start_proxy()
    [example] = PAGE.blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example.text.replace("1883", str(proxy.port))],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "heating/kitchen 21.5\n"), done.stderr


def test_the_rules(start_proxy: StartProxy, kafka: LocalCluster) -> None:
    [example] = PAGE.blocks("properties")
    settings = dict(line.split("=", 1) for line in example.text.splitlines() if not line.startswith("#"))
    kafka.create_topic("temperature-kolin")
    proxy = start_proxy(**settings)
    with Wire(proxy.port) as wire:
        wire.connect()
        wire.subscribe("plants/#")
        wire.publish("plants/kolin/press-7/temperature", b"61", 1)
        wire.publish("plants/kolin/alarms/fire", b"!", 1)
        topics = {wire.message().topic for _ in range(2)}
    assert topics == {"plants/kolin/press-7/temperature", "plants/kolin/alarms/fire"}
    assert only_record(kafka, "temperature-kolin").key() == b"press-7"
    assert only_record(kafka, "alarms").key() == b"kolin"


def only_record(kafka: LocalCluster, topic: str) -> Message:
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": fresh("group"),
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    found = consumer.poll(PATIENCE_S)
    consumer.close()
    assert found is not None and found.error() is None
    return found


def test_the_limits_are_the_defaults() -> None:
    table = [line for line in PAGE.text.splitlines() if line.startswith("| `") and line.count("|") == 4]
    checked = 0
    for line in table:
        name, default, _ = (cell.strip() for cell in line.strip("|").split("|"))
        key = MqttSettings.KEYS.get(name.strip("`"))
        if key is not None:
            assert f"{key.default:,}" == default, name
            checked += 1
    assert checked == 7
