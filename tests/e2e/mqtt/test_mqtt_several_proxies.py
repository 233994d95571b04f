"""Proxies with names of their own on the same topics: what they share."""

from compat.server_process import wait_until
from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire, fresh
from moldau.proxies.mqtt.codec.packets import PingReq, Publish


def test_a_client_gets_what_a_client_of_another_proxy_publishes(start_proxy: StartProxy) -> None:
    kafka_topic = fresh("mqtt-")
    one, two = (start_proxy(topic_default=kafka_topic) for _ in range(2))
    with Wire(one.port) as here, Wire(two.port) as there:
        here.connect()
        there.connect()
        here.subscribe("a/#")
        for qos in (0, 1, 2):
            there.publish("a/b", b"%d" % qos, qos)
        assert [here.message().payload for _ in range(3)] == [b"0", b"1", b"2"]


def test_a_shared_subscription_continues_at_another_proxy(start_proxy: StartProxy) -> None:
    """Each message once over both, in the order of its topic."""
    kafka_topic, group = fresh("mqtt-"), fresh("group")
    one, two = (start_proxy(topic_default=kafka_topic) for _ in range(2))
    with Wire(two.port) as writer:
        writer.connect()
        with Wire(one.port) as here:
            here.connect()
            here.subscribe(f"$share/{group}/jobs", qos=1)
            writer.publish("jobs", b"first", 1)
            assert here.message().payload == b"first"
        assert one.stop() == 0
        writer.publish("jobs", b"second", 1)
        with Wire(two.port) as there:
            there.connect()
            there.subscribe(f"$share/{group}/jobs", qos=1)
            found = there.message().payload
            if found == b"first":
                # Its acknowledgement was not committed when the client went.
                found = there.message().payload
            assert found == b"second"


def retained_at(proxy: MqttProxy, topic: str) -> bytes | None:
    """What a new subscriber gets."""
    with Wire(proxy.port) as wire:
        wire.connect()
        wire.subscribe(topic)
        wire.send(PingReq())
        packet = wire.receive()
        return packet.payload if isinstance(packet, Publish) else None


def test_retained_messages_are_those_of_all_proxies(start_proxy: StartProxy) -> None:
    shared = {"topic_default": fresh("mqtt-"), "retained_topic": fresh("_retained-")}
    one, two = (start_proxy(**shared) for _ in range(2))
    with Wire(one.port) as here, Wire(two.port) as there:
        here.connect()
        there.connect()
        for number, (client, other) in enumerate([(here, two), (there, one), (here, two)]):
            payload = b"%d" % number
            client.publish("lamp", payload, 1, retain=True)
            wait_until(lambda: retained_at(other, "lamp") == payload, "the other proxy has it", PATIENCE_S)  # noqa: B023
        there.publish("lamp", b"", 2, retain=True)
        wait_until(lambda: retained_at(one, "lamp") is None, "it is gone at the other one too", PATIENCE_S)
