"""What MQTT 3.1.1 says of connecting, each test named after the statement. The 5.0 statements are beside this file."""

import pytest

from e2e.mqtt.conftest import Dial
from e2e.mqtt.wire_client import PATIENCE_S, fresh
from moldau.proxies.mqtt.codec.encoding import encode
from moldau.proxies.mqtt.codec.packets import (
    V311,
    ConnAck,
    Connect,
    Disconnect,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    UnsubAck,
    Unsubscribe,
    Wanted,
    Will,
)

NAME = b"\0\4MQTT"


def connect_bytes(body: bytes) -> bytes:
    return bytes((0x10, len(body))) + body


def test_mqtt_1_5_3_1_ill_formed_utf8_closes(connected: Dial, dial: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x30\x06\0\2\xc3\x28hi")
    assert wire.is_closed()
    surrogate = b"\xed\xa0\x80"
    other = dial()
    other.send_raw(connect_bytes(NAME + b"\4\2\0\0\0\3" + surrogate))
    assert other.is_closed()


def test_mqtt_1_5_3_2_nul_closes(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x30\x06\0\3a\0bx")
    assert wire.is_closed()


def test_mqtt_1_5_3_3_a_byte_order_mark_is_kept(connected: Dial) -> None:
    wire = connected()
    topic = "\ufeff" + fresh("topic")
    wire.subscribe(topic)
    wire.publish(topic, b"x", 0)
    assert wire.message().topic == topic


@pytest.mark.parametrize(
    "first", [0x11, 0x80, 0x83, 0xA0, 0x60, 0x61, 0x41, 0x51, 0x71, 0xC1, 0xE1, 0x36, 0x38, 0x00, 0xF0]
)
def test_mqtt_2_2_2_2_invalid_flags_close(connected: Dial, first: int) -> None:
    wire = connected()
    wire.send_raw(bytes((first, 5)) + b"\0\1\0\1a")
    assert wire.is_closed()


@pytest.mark.parametrize(
    "packet",
    [Publish("a", b"", 1), Publish("a", b"", 2), Subscribe(0, [Wanted("a")]), Unsubscribe(0, ["a"])],
)
def test_mqtt_2_3_1_1_packet_identifier_zero_closes(connected: Dial, packet: Publish) -> None:
    wire = connected()
    wire.send(packet)
    assert wire.is_closed()


def test_mqtt_2_3_1_6_answers_have_the_identifier(connected: Dial) -> None:
    wire = connected()
    topic = fresh("topic")
    wire.publish(topic, b"x", 1, 0x1234)
    wire.publish(topic, b"x", 2, 0xFFFF)


def test_mqtt_2_3_1_7_subscription_answers_have_the_identifier(connected: Dial) -> None:
    wire = connected()
    wire.send(Subscribe(77, [Wanted("a")]))
    assert wire.expect(SubAck).packet_id == 77
    wire.send(Unsubscribe(78, ["a"]))
    assert wire.expect(UnsubAck).packet_id == 78


@pytest.mark.parametrize(
    "packet",
    [PingReq(), Publish("a", b""), Subscribe(1, [Wanted("a")]), PubAck(1), Disconnect(), ConnAck()],
)
def test_mqtt_3_1_0_1_the_first_packet_is_connect(dial: Dial, packet: PingReq) -> None:
    wire = dial()
    wire.send(packet)
    assert wire.receive() is None


def test_mqtt_3_1_0_2_a_second_connect_closes(connected: Dial) -> None:
    wire = connected()
    wire.send(Connect("again"))
    assert wire.is_closed()


def test_mqtt_3_1_2_1_a_wrong_protocol_name_closes(dial: Dial) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(b"\0\4MQTX\4\2\0\0\0\1a"))
    assert wire.receive() is None


@pytest.mark.parametrize("start", [NAME + b"\3", NAME + b"\0", b"\0\6MQIsdp\3"])
def test_mqtt_3_1_2_2_an_unknown_level_is_answered_with_1(dial: Dial, start: bytes) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(start + b"\2\0\0\0\1a"))
    assert wire.expect(ConnAck).code == 1
    assert wire.is_closed()


def test_mqtt_3_1_2_3_the_reserved_flag_closes(dial: Dial) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(NAME + b"\4\3\0\0\0\1a"))
    assert wire.receive() is None


def test_mqtt_3_1_2_4_a_session_is_resumed(connected: Dial, dial: Dial) -> None:
    name, topic = fresh("client"), fresh("topic")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    wire.send(Disconnect())
    assert wire.is_closed()
    again = dial()
    assert again.connect(name, clean_start=False).session_present
    again.publish(topic, b"still subscribed", 0)
    assert again.message().payload == b"still subscribed"


def test_mqtt_3_1_2_5_messages_are_kept_for_a_session(connected: Dial, dial: Dial) -> None:
    name, topic = fresh("client"), fresh("topic")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    wire.close()
    other = connected()
    for number in range(5):
        other.publish(topic, b"%d" % number, 1 + number % 2)
    again = dial()
    assert again.connect(name, clean_start=False).session_present
    found = [again.message() for _ in range(5)]
    assert sorted(one.payload for one in found) == [b"0", b"1", b"2", b"3", b"4"]
    assert again.is_silent()


def test_mqtt_3_1_2_6_a_clean_session_forgets(connected: Dial, dial: Dial) -> None:
    name, topic = fresh("client"), fresh("topic")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    wire.close()
    clean = dial()
    assert not clean.connect(name, clean_start=True).session_present
    watcher = connected()
    watcher.subscribe(topic)
    clean.publish(topic, b"x", 1)
    watcher.message()
    assert clean.is_silent()
    clean.close()
    assert not dial().connect(name, clean_start=False).session_present


def test_mqtt_3_1_2_7_retained_messages_outlive_sessions(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.publish(topic, b"kept", 1, retain=True)
    wire.send(Disconnect())
    assert wire.is_closed()
    other = connected()
    other.subscribe(topic)
    assert other.message().payload == b"kept"


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_mqtt_3_1_2_8_the_will_is_published_when_the_network_fails(connected: Dial, qos: int) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    connected(will=Will(topic, b"gone", qos)).close()
    found = watcher.message()
    assert (found.payload, found.qos, found.retain) == (b"gone", qos, False)


def test_mqtt_3_1_2_8_the_will_is_published_after_a_protocol_error(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    connected(will=Will(topic, b"gone")).send_raw(b"\x30\x01\0")
    assert watcher.message().payload == b"gone"


def test_mqtt_3_1_2_10_disconnect_removes_the_will(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    wire = connected(will=Will(topic, b"gone"))
    wire.send(Disconnect())
    assert wire.is_closed()
    watcher.publish(topic, b"the first", 0)
    assert watcher.message().payload == b"the first"


@pytest.mark.parametrize("flags", [0x08, 0x10, 0x20])
def test_mqtt_3_1_2_11_flags_of_a_will_that_is_not_there_close(dial: Dial, flags: int) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(NAME + bytes((4, 2 | flags)) + b"\0\0\0\1a"))
    assert wire.receive() is None


def test_mqtt_3_1_2_14_a_will_of_qos_3_closes(dial: Dial) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(NAME + b"\4\x1e\0\0\0\1a\0\1t\0\1m"))
    assert wire.receive() is None


def test_mqtt_3_1_2_17_a_retained_will_is_retained(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    connected(will=Will(topic, b"gone", 1, True)).close()
    assert not watcher.message().retain
    late = connected()
    late.subscribe(topic)
    found = late.message()
    assert (found.payload, found.retain) == (b"gone", True)


@pytest.mark.parametrize("flags", [0x82, 0xC2])
def test_mqtt_3_1_2_19_a_user_name_that_is_missing_closes(dial: Dial, flags: int) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(NAME + bytes((4, flags)) + b"\0\0\0\1a"))
    assert wire.receive() is None


def test_mqtt_3_1_2_22_a_password_without_user_name_closes(dial: Dial) -> None:
    wire = dial()
    wire.send_raw(connect_bytes(NAME + b"\4\x42\0\0\0\1a\0\1p"))
    assert wire.receive() is None


def test_mqtt_3_1_2_24_silence_closes_and_the_will_is_published(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    silent = connected(keep_alive_s=1, will=Will(topic, b"silent"))
    assert watcher.message().payload == b"silent"
    assert silent.is_closed()


def test_mqtt_3_1_3_5_short_identifiers_are_allowed(dial: Dial) -> None:
    for name in ("0", "abcdefghijklmnopqrstuvw", "ABCDEFGHIJKLMNOPQRSTUVW", "12345678901234567890123"):
        dial().connect(name)


def test_mqtt_3_1_3_6_an_empty_identifier_is_replaced(dial: Dial) -> None:
    one, other = dial(), dial()
    one.connect("", clean_start=True)
    other.connect("", clean_start=True)
    assert one.is_silent() and other.is_silent()


def test_mqtt_3_1_3_8_an_empty_identifier_needs_a_clean_session(dial: Dial) -> None:
    wire = dial()
    wire.send(Connect("", clean_start=False))
    answer = wire.expect(ConnAck)
    assert (answer.code, answer.session_present) == (2, False)
    assert wire.is_closed()


def test_mqtt_3_1_4_2_the_same_identifier_disconnects_the_former(connected: Dial) -> None:
    name = fresh("client")
    former = connected(client_id=name)
    latter = connected(client_id=name)
    assert former.is_closed()
    assert latter.is_silent()


def test_mqtt_3_1_4_5_packets_may_follow_connect_at_once(dial: Dial) -> None:
    wire = dial()
    topic = fresh("topic")
    packets = [
        Connect(fresh("client"), clean_start=False),
        Subscribe(1, [Wanted(topic, 1)]),
        Publish(topic, b"x", 1, packet_id=2),
        PingReq(),
    ]
    wire.send_raw(b"".join(encode(one, V311) for one in packets))
    assert isinstance(wire.receive(), ConnAck)
    assert isinstance(wire.receive(), SubAck)
    kinds = {type(wire.receive()) for _ in range(3)}
    assert kinds == {PubAck, Publish, PingResp}


def test_mqtt_3_2_2_1_a_clean_session_is_not_present(connected: Dial, dial: Dial) -> None:
    name = fresh("client")
    connected(client_id=name, clean_start=False).close()
    assert not dial().connect(name, clean_start=True).session_present


def test_mqtt_3_2_2_3_a_session_that_is_not_known_is_not_present(dial: Dial) -> None:
    assert not dial().connect(clean_start=False).session_present


def test_mqtt_3_12_4_1_ping_is_answered(connected: Dial) -> None:
    wire = connected()
    wire.send(PingReq())
    assert wire._socket.gettimeout() == PATIENCE_S
    assert isinstance(wire.receive(), PingResp)


def test_mqtt_3_14_4_3_the_server_closes_after_disconnect(connected: Dial) -> None:
    wire = connected()
    wire.send(Disconnect())
    assert wire.receive() is None


@pytest.mark.parametrize("packet", [ConnAck(), SubAck(1, [0]), UnsubAck(1), PingResp()])
def test_mqtt_4_8_0_1_packets_of_servers_close(connected: Dial, packet: ConnAck) -> None:
    wire = connected()
    wire.send(packet)
    assert wire.is_closed()


@pytest.mark.parametrize("packet", [PubAck(9), PubRec(9), PubComp(9), PubRel(9)])
def test_an_answer_to_nothing_disturbs_nobody(connected: Dial, packet: PubAck) -> None:
    wire = connected()
    wire.send(packet, PingReq())
    while not isinstance(answer := wire.receive(), PingResp):
        assert isinstance(answer, PubRel | PubComp)
