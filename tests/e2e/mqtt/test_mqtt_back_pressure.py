"""Kafka stands still: the proxy stops reading, loses nothing, and goes on."""

import os
import signal
import socket
from pathlib import Path

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import V311, Wire
from e2e.process_facts import MB, resident_bytes
from moldau.proxies.mqtt.codec.encoding import encode
from moldau.proxies.mqtt.codec.packets import PingReq, PingResp, PubAck, Publish

TOPIC = "slow/topic"
COUNT = 3_000


def test_nothing_is_lost_while_the_broker_stands_still(tmp_path: Path) -> None:
    with (
        MoldauBroker(tmp_path / "broker") as broker,
        MqttProxy(tmp_path / "proxy", broker.bootstrap, {"receive.max": "100"}) as proxy,
        Wire(proxy.port) as reader,
        Wire(proxy.port) as writer,
        Wire(proxy.port) as idle,
    ):
        reader.connect()
        reader.subscribe(TOPIC, qos=1)
        writer.connect()
        idle.connect()
        writer.publish(TOPIC, b"0", 1)
        assert reader.message().payload == b"0"
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            before = resident_bytes(proxy.pid)
            packets = [Publish(TOPIC, b"%d" % n + b" " * 10_000, 1, packet_id=n) for n in range(1, COUNT + 1)]
            left = b"".join(encode(packet, V311) for packet in packets)
            writer._socket.setblocking(False)

            def is_stuck() -> bool:
                """The proxy and the kernel take nothing more."""
                nonlocal left
                try:
                    left = left[writer._socket.send(left) :]
                except BlockingIOError:
                    idle.send(PingReq())
                    assert isinstance(idle.receive(), PingResp)
                    return True
                return False

            wait_until(is_stuck, "the proxy stops reading")
            assert left, "the proxy has taken everything"
            assert resident_bytes(proxy.pid) - before < 30 * MB
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        writer._socket.setblocking(True)
        writer._socket.settimeout(60)
        assert isinstance(writer._socket, socket.socket)
        found = []
        while left:
            left = left[writer._socket.send(left[: 1 << 16]) :]
            found.append(reader.message().payload)
        acknowledged = [writer.expect(PubAck).packet_id for _ in range(COUNT)]
        assert acknowledged == list(range(1, COUNT + 1))
        while len(found) < COUNT:
            found.append(reader.message().payload)
        assert [int(one) for one in found] == acknowledged
