"""`$SYS` topics: what clients see of the proxy itself."""

from e2e.mqtt.conftest import Dial, StartProxy
from e2e.mqtt.wire_client import V5, Wire, fresh
from moldau.proxies.mqtt.codec.packets import PubAck, Publish
from moldau.proxies.mqtt.codec.reason_codes import Reason


def test_a_subscriber_gets_all_figures_and_those_that_change(start_proxy: StartProxy) -> None:
    proxy = start_proxy(sys_interval_ms="100")
    with Wire(proxy.port) as wire, Wire(proxy.port) as other:
        wire.connect()
        wire.subscribe("$SYS/broker/publish/messages/received", "$SYS/broker/version")
        first = [wire.message() for _ in range(2)]
        assert {(one.topic, one.retain, one.qos) for one in first} == {
            ("$SYS/broker/publish/messages/received", True, 0),
            ("$SYS/broker/version", True, 0),
        }
        assert {one.payload for one in first if one.topic.endswith("received")} == {b"0"}
        other.connect()
        for number in range(1, 4):
            other.publish("a/b", b"x", 1, number)
        payload = b"0"
        while payload != b"3":
            message = wire.message()
            assert message.topic == "$SYS/broker/publish/messages/received"
            payload = message.payload


def test_every_figure_has_a_value(connected: Dial) -> None:
    wire, found = connected(), dict[str, bytes]()
    wire.subscribe("$SYS/#")
    while len(found) < 11:
        message = wire.message()
        found[message.topic] = message.payload
    assert found["$SYS/broker/version"].startswith(b"moldau version ")
    assert found["$SYS/broker/uptime"].endswith(b" seconds")
    assert int(found["$SYS/broker/clients/connected"]) >= 0


def test_clients_do_not_publish_there(connected: Dial) -> None:
    wire, old, topic = connected(V5), connected(), fresh("$SYS/topic")
    wire.send(Publish(topic, b"x", 1, packet_id=7))
    answer = wire.expect(PubAck)
    assert (answer.packet_id, answer.reason) == (7, Reason.TOPIC_NAME_INVALID)
    old.send(Publish(topic, b"x", 1, packet_id=7))
    assert old.is_closed()


def test_a_subscription_to_everything_is_not_to_them(connected: Dial) -> None:
    wire = connected()
    wire.subscribe("+/broker/version")
    assert wire.is_silent()
