"""Hostile input: the right answer, others undisturbed, memory bounded."""

import itertools
import socket
from collections.abc import Iterator

import pytest

from e2e.mqtt.conftest import Dial, StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import V5, V311, Wire, fresh
from e2e.process_facts import MB, resident_bytes
from moldau.proxies.mqtt.codec.packets import (
    ConnAck,
    Connect,
    Disconnect,
    PubAck,
    Publish,
    Subscribe,
    Wanted,
    Will,
)
from moldau.proxies.mqtt.codec.reason_codes import Reason


@pytest.fixture
def undisturbed(proxy: MqttProxy) -> Iterator[None]:
    """Whatever the test does, a client that behaves is served, and the proxy does not grow."""
    with Wire(proxy.port) as wire:
        topic = fresh("bystander")
        wire.connect()
        wire.subscribe(topic)
        before = resident_bytes(proxy.pid)
        yield
        wire.publish(topic, b"still there", 1)
        assert wire.message().payload == b"still there"
        assert resident_bytes(proxy.pid) - before < 64 * MB


BODIES = (b"", b"\0", b"\xff" * 40, b"\0\1", b"\0\1\xff\xff\xff\xff", b"\0\0")


@pytest.mark.parametrize("number", range(16))
def test_malformed_packets_of_every_type(connected: Dial, undisturbed: None, number: int) -> None:
    flags = 2 if number in (6, 8, 10) else 0
    for version, body in itertools.product((V311, V5), BODIES):
        wire = connected(version)
        wire.send_raw(bytes((number << 4 | flags, len(body))) + body)
        wire.send_raw(b"\xc0\0\xe0\0")  # what was no error after all ends here
        assert wire.is_closed(), (version, body)


@pytest.mark.parametrize("length", [b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x00"])
def test_remaining_length_bombs(connected: Dial, dial: Dial, undisturbed: None, length: bytes) -> None:
    for wire in (connected(), dial(), connected(V5)):
        wire.send_raw(b"\x30" + length + b"x" * 1000)
        assert wire.is_closed()


def test_many_large_packets_that_never_end(proxy: MqttProxy, undisturbed: None) -> None:
    """Each may hold up to packet.bytes.max; what has come is kept, no more."""
    wires = [Wire(proxy.port) for _ in range(20)]
    for wire in wires:
        wire.connect()
        wire.send_raw(b"\x30\xbe\x84\x3d" + b"x" * 1000)  # 999,998 bytes are announced
    assert all(wire._socket.fileno() > 0 for wire in wires)
    for wire in wires:
        wire.close()


def test_a_packet_above_the_limit_says_so(connected: Dial, undisturbed: None) -> None:
    wire = connected(V5)
    wire.send_raw(b"\x30\xc0\x84\x3d" + b"x" * 100)
    assert wire.expect(Disconnect).reason == Reason.PACKET_TOO_LARGE


def test_the_largest_packet_is_taken_in_small_pieces(connected: Dial, undisturbed: None) -> None:
    wire, topic = connected(), fresh("topic")
    payload = b"x" * 900_000
    body = len(topic).to_bytes(2, "big") + topic.encode() + b"\0\1" + payload
    size = len(body)
    length = bytes((size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14))
    data = b"\x32" + length + body
    for start in range(0, len(data), 1000):
        wire.send_raw(data[start : start + 1000])
    assert wire.expect(PubAck).packet_id == 1


@pytest.mark.parametrize("version", [V311, V5])
def test_topics_with_nul(connected: Dial, undisturbed: None, version: int) -> None:
    wire = connected(version)
    wire.send_raw(b"\x30\x05\0\3a\0b")
    assert wire.is_closed()
    other = connected(version)
    other.send_raw(b"\x82\x08\0\1\0\3a\0b\0")
    assert other.is_closed()


def test_64k_levels(connected: Dial, undisturbed: None) -> None:
    deep = "/" * 65_535
    wire = connected(V5)
    wire.send(Publish(deep, b"x", 1, packet_id=1))
    assert wire.expect(Disconnect).reason == Reason.TOPIC_NAME_INVALID
    other = connected(V5)
    other.send(Subscribe(1, [Wanted("+/" * 32_767 + "+")]))
    assert other.expect(Disconnect).reason == Reason.TOPIC_FILTER_INVALID
    will = connected()
    will.close()


def test_wills_that_loop(proxy: MqttProxy, undisturbed: None) -> None:
    """Two clients of one name drive each other out, each with a will on a topic that the other reads."""
    name, topic = fresh("client"), fresh("will")
    with Wire(proxy.port) as watcher:
        watcher.connect()
        watcher.subscribe(topic)
        wires = []
        for number in range(30):
            wires.append(Wire(proxy.port))
            wires[-1].connect(name, will=Will(topic, b"%d" % number, 1))
            wires[-1].subscribe(topic)
        assert [watcher.message().payload for _ in range(29)] == [b"%d" % n for n in range(29)]
        for wire in wires:
            wire.close()


def test_a_will_on_a_topic_nothing_can_take(connected: Dial, undisturbed: None) -> None:
    connected(will=Will("$share/" + "x" * 60_000, b"x", 2, True)).close()


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", bytes(range(256))]
)
def test_other_protocols(dial: Dial, undisturbed: None, data: bytes) -> None:
    wire = dial()
    wire.send_raw(data)
    assert wire.is_closed()


def test_too_many_subscriptions(start_proxy: StartProxy) -> None:
    proxy = start_proxy(subscriptions_max="3")
    with Wire(proxy.port, V5) as wire:
        wire.connect()
        answer = wire.subscribe("a", "b", "c", "d", "a")
        assert list(answer.codes) == [2, 2, 2, Reason.QUOTA_EXCEEDED, 2]


def test_too_many_retained_messages(start_proxy: StartProxy) -> None:
    proxy = start_proxy(retained_max="2")
    with Wire(proxy.port, V5) as wire:
        wire.connect()
        for number in (1, 2):
            wire.publish(f"kept/{number}", b"x", 1, retain=True)
        wire.send(Publish("kept/3", b"x", 1, True, packet_id=3))
        assert wire.expect(PubAck).reason == Reason.QUOTA_EXCEEDED
        wire.publish("kept/1", b"another", 1, retain=True)


def test_too_many_clients(start_proxy: StartProxy) -> None:
    proxy = start_proxy(connections_max="2")
    with Wire(proxy.port) as one, Wire(proxy.port) as two:
        one.connect()
        two.connect()
        with Wire(proxy.port) as three:
            assert three.is_closed()
        assert one.is_silent() and two.is_silent()


def test_clients_that_say_nothing(start_proxy: StartProxy) -> None:
    proxy = start_proxy(connect_timeout_ms="500")
    with Wire(proxy.port) as nothing, Wire(proxy.port) as half:
        half.send_raw(b"\x10\x20\0\4MQ")
        assert nothing.is_closed() and half.is_closed()


def test_a_client_that_never_reads(connected: Dial, undisturbed: None) -> None:
    """Nothing is kept for it without bounds; others get their messages."""
    topic = fresh("topic")
    deaf, reader, writer = connected(), connected(), connected()
    deaf._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.subscribe(topic, qos=0)
    reader.subscribe(topic, qos=1)
    for number in range(1, 101):
        writer.publish(topic, b"x" * 100_000, 1, number)
        reader.message()


def test_session_and_client_names(dial: Dial, undisturbed: None) -> None:
    """Names that would be paths, keys or formats elsewhere are names."""
    names = ["../../etc/passwd", "owner", "profile/x", "%s%n", "a/b#+", "\U0001f600" * 50, " "]
    for name, again in itertools.product(names, (False, True)):
        assert dial().connect(name, clean_start=False).session_present is again or again
    wire = dial(V5)
    wire.send(Connect("x" * 2000, V5))
    assert wire.expect(ConnAck).code == Reason.CLIENT_IDENTIFIER_NOT_VALID
