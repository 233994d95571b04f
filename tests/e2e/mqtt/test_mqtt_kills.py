"""Exactly once at QoS 2, from a publisher through Kafka to a subscriber, while proxy and broker are killed at random.

MOLDAU_KILL_ROUNDS=40 kills forty times. With paho as it is a record is in Kafka twice now and then: see Releasing.
MOLDAU_KILL_CLIENT=paho shows that: a record that is there twice comes with what paho sent, PUBREL before PUBLISH.
MOLDAU_KILL_CLIENT=mqttjs publishes with MQTT.js as it is.
"""

import os
import random
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from paho.mqtt.enums import CallbackAPIVersion, MessageState

from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess, wait_until
from e2e.mqtt.mqtt_proxy import MqttProxy

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)

ROUNDS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "0"))
DRIVER = Path(__file__).parent / "node" / "counting_sender.mjs"
PROGRESS = 20
"""So many messages arrive between two kills, at least."""
OUTSTANDING_MAX = 40
PATIENCE_S = 180
TOPIC = "counted/messages"
CLIENT = os.environ.get("MOLDAU_KILL_CLIENT", "")


class Sender(threading.Thread):
    """Publishes 0, 1, 2... with paho, which sends again what it does not know to have arrived."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.client = client_of("sender", port)
        self.client.on_publish = self._count
        self.trace: list[tuple[float, str]] = []
        """What it has sent and received."""
        self.client.on_log = lambda _client, _data, _level, text: self.trace.append((time.monotonic(), text))
        self.sent = self.acknowledged = 0
        self._stopping = threading.Event()

    def run(self) -> None:
        # Not faster than it can be delivered, so that kills meet messages in every stage.
        while not self._stopping.wait(0.005):
            if self.sent - self.acknowledged < OUTSTANDING_MAX:
                self.client.publish(TOPIC, b"%d" % self.sent, 2)
                self.sent += 1

    def finish(self) -> int:
        """How many were sent, once all have arrived."""
        self._stopping.set()
        self.join()
        wait_until(lambda: self.acknowledged >= self.sent, "all is acknowledged", PATIENCE_S)
        return self.sent

    def _count(self, *_: object) -> None:
        self.acknowledged += 1

    def close(self) -> None:
        """At the end of the test."""
        self.client.disconnect()
        self.client.loop_stop()

    def story(self, number: int) -> str:
        """What was sent and received about one message, and when connections began. paho counts from one."""
        about = re.compile(rf"(PUB\w+.*\b(m|Mid: ){number + 1}\b)|CONN")
        return "\n".join(f"{when:.3f} {text}" for when, text in self.trace if about.search(text))


class NodeSender:
    """The same with MQTT.js, in a process of its own."""

    def __init__(self, port: int) -> None:
        node = shutil.which("node")
        assert node is not None, "Node.js (node) is not installed; run tools/install-test-tools"
        command = [node, str(DRIVER), f"mqtt://127.0.0.1:{port}", TOPIC, str(OUTSTANDING_MAX)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self) -> None:
        """It has begun."""

    def finish(self) -> int:
        """How many were sent, once all have arrived."""
        out, _ = self._process.communicate("\n", timeout=PATIENCE_S)
        return int(out)

    def story(self, _number: int) -> str:
        """It keeps none."""
        return ""

    def close(self) -> None:
        """At the end of the test."""
        self._process.kill()
        self._process.wait()


class Releasing(paho.Client):
    """paho 2.2.0 forgets at its second attempt to connect that a message was released, and publishes it again.

    That is forbidden [MQTT-4.3.3-1], and for a server it is a new message.
    """

    def _messages_reconnect_reset_out(self) -> None:
        with self._out_message_mutex:
            released = [
                one for one in self._out_messages.values() if one.state == MessageState.MQTT_MS_RESEND_PUBREL
            ]
            super()._messages_reconnect_reset_out()
            for one in released:
                one.state = MessageState.MQTT_MS_RESEND_PUBREL


def client_of(name: str, port: int) -> paho.Client:
    """Keeps its session, and connects again at once."""
    kind = paho.Client if CLIENT == "paho" else Releasing
    client = kind(CallbackAPIVersion.VERSION2, client_id=name, clean_session=False)
    client.reconnect_delay_set(1, 1)
    client.connect_async("127.0.0.1", port)
    client.loop_start()
    return client


def records(bootstrap: str) -> list[bytes]:
    """What Kafka has of the topic, committed."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "check",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition("mqtt", 0, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append(message.value() or b"")
        elif error.code() == KafkaError._PARTITION_EOF:
            break
    consumer.close()
    return found


def twice(found: list[bytes]) -> list[bytes]:
    """Those that are there more than once, in their order."""
    counted = Counter(found)
    return [one for one, times in counted.items() if times > 1]


def test_every_message_arrives_once(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    received: list[bytes] = []
    subscribed = threading.Event()
    broker = MoldauBroker(tmp_path / "broker").start()
    proxy = MqttProxy(tmp_path / "proxy", broker.bootstrap, {"topic.partitions": "1"}).start()
    reader: paho.Client | None = None
    sender: Sender | NodeSender | None = None
    try:
        reader = client_of("reader", proxy.port)
        reader.on_connect = lambda client, *_: client.subscribe(TOPIC, 2)
        reader.on_subscribe = lambda *_: subscribed.set()
        reader.on_message = lambda _client, _data, message: received.append(message.payload)
        assert subscribed.wait(PATIENCE_S)
        sender = NodeSender(proxy.port) if CLIENT == "mqttjs" else Sender(proxy.port)
        sender.start()
        kills = {"broker": 0, "proxy": 0}
        for _ in range(ROUNDS):
            enough = len(received) + dice.randrange(PROGRESS, 4 * PROGRESS)
            wait_until(lambda enough=enough: len(received) >= enough, "messages arrive", PATIENCE_S)
            name = dice.choice(["proxy", "proxy", "broker"])
            victim: ServerProcess = broker if name == "broker" else proxy
            victim.kill9()
            victim.start()
            kills[name] += 1
        count = sender.finish()
        wait_until(lambda: len(received) >= count, "all has arrived", PATIENCE_S)
        print(f"{count} messages, {kills}")
        numbers = [b"%d" % number for number in range(count)]
        found = records(broker.bootstrap)
        for again in twice(found):
            print(f"{again!r} is twice in Kafka\n{sender.story(int(again))}")
        assert found == numbers
        if received != numbers:
            print("a reader got twice:", twice(received))
            print((tmp_path / "proxy" / "server.log").read_text()[-20_000:])
        assert received == numbers
        assert "Traceback" not in proxy.log_text()
    finally:
        if reader is not None:
            reader.disconnect()
            reader.loop_stop()
        if sender is not None:
            sender.close()
        proxy.kill9()
        broker.kill9()
