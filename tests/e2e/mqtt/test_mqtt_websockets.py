"""MQTT over websockets."""

import queue
import socket
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire

KEY = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


def websocket_port(proxy: MqttProxy) -> int:
    """The second address of its ready line."""
    [line] = [line for line in proxy.log_text().splitlines() if line.startswith("ready")]
    return int(line.split()[2].removeprefix("ws://127.0.0.1:"))


def shaken(port: int, path: str, more: str) -> tuple[socket.socket, bytes]:
    """A connection, and the answer to its handshake."""
    one = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    one.sendall(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{KEY}{more}\r\n".encode()
    )
    return one, one.recv(1 << 16)


@pytest.mark.parametrize("version", [MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5])
def test_websockets(start_proxy: StartProxy, version: MQTTProtocolVersion) -> None:
    proxy = start_proxy(websocket_listener="ws://127.0.0.1:0")
    port = websocket_port(proxy)
    found: queue.Queue[Any] = queue.Queue()
    subscribed: queue.Queue[Any] = queue.Queue()
    client = paho.Client(
        CallbackAPIVersion.VERSION2, client_id="web", transport="websockets", protocol=version
    )
    client.ws_set_options(path="/mqtt")
    client.on_connect = lambda client, *_: client.subscribe("web/#", 2)
    client.on_subscribe = lambda *_: subscribed.put(1)
    client.on_message = lambda _client, _data, message: found.put((message.topic, message.payload))
    client.connect("127.0.0.1", port)
    client.loop_start()
    subscribed.get(timeout=PATIENCE_S)
    client.publish("web/large", b"x" * 300_000, 2).wait_for_publish(PATIENCE_S)
    assert found.get(timeout=PATIENCE_S) == ("web/large", b"x" * 300_000)
    with Wire(proxy.port) as wire:
        wire.connect()
        wire.publish("web/plain", b"from elsewhere", 1)
    assert found.get(timeout=PATIENCE_S) == ("web/plain", b"from elsewhere")
    client.disconnect()
    client.loop_stop()


def test_mqtt_6_0_0_what_is_no_websocket_of_mqtt_is_refused(start_proxy: StartProxy) -> None:
    port = websocket_port(start_proxy(websocket_listener="ws://127.0.0.1:0"))
    protocol = "Sec-WebSocket-Protocol: mqtt\r\n"
    for path, more, status in (
        ("/mqtt", "", b"400"),
        ("/mqtt", "Sec-WebSocket-Protocol: chat\r\n", b"400"),
        ("/other", protocol, b"404"),
    ):
        one, answer = shaken(port, path, more)
        assert answer.split()[1] == status, answer
        one.close()
    one, answer = shaken(port, "/mqtt", protocol)
    assert answer.split()[1] == b"101" and b"Sec-WebSocket-Protocol: mqtt" in answer
    one.sendall(b"\x81\x82\0\0\0\0hi")  # a text frame
    assert one.recv(100)[:4] == b"\x88\x10\x03\xeb"
    one.close()
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as garbage:
        garbage.sendall(b"\x10\x20\0\4MQTT" * 20 + b"\r\n\r\n")
        answer = b""
        while piece := garbage.recv(1 << 16):
            answer += piece
        assert not answer or answer.split()[1] == b"400"
