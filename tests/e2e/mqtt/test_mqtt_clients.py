"""Foreign clients, at every QoS, in both versions: paho, mosquitto's own, gmqtt and aiomqtt."""

import asyncio
import importlib.util
import queue
import shutil
import subprocess
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire, fresh

VERSIONS = [MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5]


def needs_mosquitto() -> None:
    for name in ("mosquitto_pub", "mosquitto_sub", "stdbuf"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


class Paho:
    """A client that collects what it gets."""

    def __init__(self, port: int, version: MQTTProtocolVersion, client_id: str = "") -> None:
        self.found: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self._subscribed: queue.Queue[Any] = queue.Queue()
        self._connected: queue.Queue[Any] = queue.Queue()
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=client_id or fresh("paho"), protocol=version
        )
        self.client.on_message = lambda _client, _data, message: self.found.put(message)
        self.client.on_subscribe = lambda *arguments: self._subscribed.put(arguments[3])
        self.client.on_connect = lambda *arguments: self._connected.put(arguments[3])
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        assert not self._connected.get(timeout=PATIENCE_S).is_failure

    def subscribe(self, topic: str, qos: int) -> Any:
        self.client.subscribe(topic, qos)
        return self._subscribed.get(timeout=PATIENCE_S)

    def publish(self, topic: str, payload: bytes, qos: int, **more: Any) -> None:
        self.client.publish(topic, payload, qos, **more).wait_for_publish(PATIENCE_S)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_paho(proxy: MqttProxy, version: MQTTProtocolVersion, qos: int) -> None:
    one, other, topic = Paho(proxy.port, version), Paho(proxy.port, version), fresh("topic")
    one.subscribe(f"{topic}/#", qos)
    for number in range(50):
        other.publish(f"{topic}/x", b"%d" % number, qos)
    found = [one.found.get(timeout=PATIENCE_S) for _ in range(50)]
    assert [message.payload for message in found] == [b"%d" % number for number in range(50)]
    assert {message.qos for message in found} == {qos}
    one.close()
    other.close()


def test_paho_sends_user_properties(proxy: MqttProxy) -> None:
    one, other = (Paho(proxy.port, MQTTProtocolVersion.MQTTv5) for _ in range(2))
    topic = fresh("topic")
    one.subscribe(topic, 1)
    properties = Properties(PacketTypes.PUBLISH)
    properties.UserProperty = [("site", "Praha"), ("site", "Brno")]
    properties.ContentType = "text/plain"
    properties.ResponseTopic = "answers/1"
    properties.CorrelationData = b"\0\1"
    other.publish(topic, b"x", 1, properties=properties)
    found = one.found.get(timeout=PATIENCE_S).properties
    assert found is not None
    assert found.UserProperty == [("site", "Praha"), ("site", "Brno")]
    assert (found.ContentType, found.ResponseTopic) == ("text/plain", "answers/1")
    assert found.CorrelationData == b"\0\1"
    one.close()
    other.close()


@pytest.mark.parametrize("version", ["mqttv311", "mqttv5"])
@pytest.mark.parametrize("qos", ["0", "1", "2"])
def test_mosquitto_pub_and_sub(proxy: MqttProxy, version: str, qos: str) -> None:
    needs_mosquitto()
    topic = fresh("topic")
    at = ["-h", "127.0.0.1", "-p", str(proxy.port), "-V", version, "-q", qos]
    with (
        Wire(proxy.port) as watcher,
        subprocess.Popen(
            # Into a pipe it would print only at its end.
            [
                "stdbuf",
                "-oL",
                "mosquitto_sub",
                *at,
                "-t",
                f"{topic}/#",
                "-v",
                "-C",
                "3",
                "-W",
                str(PATIENCE_S),
                "-d",
            ],
            stdout=subprocess.PIPE,
            text=True,
        ) as reader,
    ):
        watcher.connect()
        assert reader.stdout is not None
        lines = iter(reader.stdout.readline, "")
        assert any("Subscribed" in line for line in lines)
        for word in ("jedna", "dvě", "tři"):
            done = subprocess.run(
                ["mosquitto_pub", *at, "-t", f"{topic}/x", "-m", word], timeout=PATIENCE_S, check=False
            )
            assert done.returncode == 0
        messages = [line.strip() for line in lines if line.startswith(topic)]
    assert messages == [f"{topic}/x {word}" for word in ("jedna", "dvě", "tři")]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_gmqtt(proxy: MqttProxy, qos: int) -> None:
    if importlib.util.find_spec("gmqtt") is None:
        pytest.skip("gmqtt is not installed")
    import gmqtt

    async def run() -> list[Any]:
        topic, found = fresh("topic"), asyncio.Queue[Any]()
        subscribed = asyncio.Event()
        one, other = gmqtt.Client(fresh("gmqtt")), gmqtt.Client(fresh("gmqtt"))

        def on_message(_client: Any, name: str, payload: bytes, *_: Any) -> int:
            found.put_nowait((name, payload))
            return 0

        one.on_message = on_message
        one.on_subscribe = lambda *_: subscribed.set()
        await one.connect("127.0.0.1", proxy.port)
        await other.connect("127.0.0.1", proxy.port)
        one.subscribe(topic, qos=qos)
        await asyncio.wait_for(subscribed.wait(), PATIENCE_S)
        for number in range(10):
            other.publish(topic, b"%d" % number, qos=qos)
        got = [await asyncio.wait_for(found.get(), PATIENCE_S) for _ in range(10)]
        await one.disconnect()
        await other.disconnect()
        return [payload for _, payload in got]

    assert asyncio.run(run()) == [b"%d" % number for number in range(10)]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_aiomqtt(proxy: MqttProxy, qos: int) -> None:
    if importlib.util.find_spec("aiomqtt") is None:
        pytest.skip("aiomqtt is not installed")
    import aiomqtt

    async def run() -> list[Any]:
        topic, got = fresh("topic"), []
        async with (
            aiomqtt.Client("127.0.0.1", proxy.port) as one,
            aiomqtt.Client("127.0.0.1", proxy.port) as other,
        ):
            await one.subscribe(topic, qos=qos)
            for number in range(10):
                await other.publish(topic, b"%d" % number, qos=qos)
            async for message in one.messages:
                got.append(message.payload)
                if len(got) == 10:
                    return got
        return got

    assert asyncio.run(run()) == [b"%d" % number for number in range(10)]
