"""What MQTT 5.0 adds, each test named after the statement where there is one."""

import pytest

from e2e.mqtt.conftest import Dial, StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import V5, Wire, fresh
from moldau.proxies.mqtt.codec.packets import (
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    Subscribe,
    UnsubAck,
    Unsubscribe,
    Wanted,
    Will,
)
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.codec.reason_codes import Reason

NEVER = 0xFFFFFFFF


def reason_of_end(wire: Wire) -> int:
    """The reason in the DISCONNECT before the server closes."""
    packet = wire.expect(Disconnect)
    assert wire.is_closed()
    return packet.reason


def test_mqtt5_2_2_2_2_a_property_that_stands_twice_is_a_protocol_error(dial: Dial) -> None:
    wire = dial(V5)
    twice = b"\x21\0\1\x21\0\1"
    wire.send_raw(b"\x10\x14\0\4MQTT\5\2\0\0" + bytes((len(twice),)) + twice + b"\0\1a")
    assert wire.expect(ConnAck).code == Reason.PROTOCOL_ERROR
    assert wire.is_closed()


def test_mqtt5_3_1_2_2_an_unknown_version_is_answered(dial: Dial) -> None:
    wire = dial(V5)
    wire.send_raw(b"\x10\x0e\0\4MQTT\6\2\0\0\0\0\1a")
    assert wire.expect(ConnAck).code == Reason.UNSUPPORTED_PROTOCOL_VERSION
    assert wire.is_closed()


def test_mqtt5_3_1_2_11_2_sessions_live_as_long_as_they_ask_for(dial: Dial) -> None:
    name = fresh("client")
    properties = {Property.SESSION_EXPIRY: 600}
    dial(V5).connect(name, properties=properties)
    assert dial(V5).connect(name, clean_start=False, properties=properties).session_present
    dial(V5).connect(name, clean_start=False)  # and now it ends with its connection
    assert not dial(V5).connect(name, clean_start=False).session_present


def test_mqtt5_3_1_2_11_2_a_session_expires(dial: Dial, connected: Dial) -> None:
    name, topic = fresh("client"), fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    will = Will(topic, b"expired", properties={Property.WILL_DELAY: 600})
    connected(V5, name, properties={Property.SESSION_EXPIRY: 1}, will=will).close()
    # The will is published when the session ends, although its delay is longer [MQTT-3.1.3-9].
    assert watcher.message().payload == b"expired"
    assert not dial(V5).connect(name, clean_start=False).session_present


def test_mqtt5_3_1_2_11_2_a_long_expiry_is_shortened_and_reported(dial: Dial) -> None:
    answer = dial(V5).connect(properties={Property.SESSION_EXPIRY: NEVER})
    assert answer.properties[Property.SESSION_EXPIRY] == 604_800


def test_mqtt5_3_1_3_9_a_will_waits_for_its_delay(connected: Dial) -> None:
    name, topic = fresh("client"), fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    stays = {Property.SESSION_EXPIRY: 600}
    will = Will(topic, b"too long away", properties={Property.WILL_DELAY: 60})
    connected(V5, name, properties=stays, will=will).close()
    back = connected(V5, name, clean_start=False, properties=stays)
    back.send(Disconnect())
    assert back.is_closed()
    soon = Will(topic, b"soon", properties={Property.WILL_DELAY: 1})
    connected(V5, name, properties=stays, will=soon).close()
    assert watcher.message().payload == b"soon"


def test_mqtt5_3_1_3_a_will_has_properties(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected(V5)
    watcher.subscribe(topic)
    properties = {
        Property.CONTENT_TYPE: "text/plain",
        Property.CORRELATION_DATA: b"\0\xff",
        Property.USER_PROPERTY: [("a", "b"), ("a", "c")],
    }
    connected(V5, will=Will(topic, b"x", properties=properties)).close()
    assert watcher.message().properties == properties


def test_mqtt5_3_1_4_3_taking_over_says_so(connected: Dial) -> None:
    name = fresh("client")
    former = connected(V5, name)
    connected(V5, name)
    assert reason_of_end(former) == Reason.SESSION_TAKEN_OVER


def test_mqtt5_3_2_2_3_the_server_says_what_it_takes(dial: Dial) -> None:
    properties = dial(V5).connect("").properties
    assert properties[Property.RECEIVE_MAXIMUM] == 20
    assert properties[Property.MAXIMUM_PACKET_SIZE] == 1_000_000
    assert properties[Property.TOPIC_ALIAS_MAXIMUM] == 100
    assert properties[Property.ASSIGNED_CLIENT_IDENTIFIER]


def test_mqtt5_3_1_2_24_nothing_larger_is_sent_than_the_client_takes(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected(V5, properties={Property.MAXIMUM_PACKET_SIZE: 100})
    wire.subscribe(topic)
    other = connected()
    other.publish(topic, b"x" * 100, 1)
    other.publish(topic, b"small", 1, 2)
    assert wire.message().payload == b"small"


def test_mqtt5_3_3_4_9_the_receive_maximum_of_the_client_is_kept(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected(V5, properties={Property.RECEIVE_MAXIMUM: 2})
    wire.subscribe(topic)
    other = connected()
    for number in range(5):
        other.publish(topic, b"%d" % number, 1, number + 1)
    first, second = wire.expect(Publish), wire.expect(Publish)
    assert wire.is_silent()
    wire.send(PubAck(first.packet_id), PubAck(second.packet_id))
    assert [wire.message().payload for _ in range(3)] == [b"2", b"3", b"4"]


def test_mqtt5_3_3_4_7_more_than_the_receive_maximum_closes(connected: Dial) -> None:
    wire, topic = connected(V5), fresh("topic")
    wire.send(*(Publish(topic, b"x", 2, packet_id=number) for number in range(1, 41)))
    packets = [wire.receive()]
    while isinstance(packets[-1], PubRec):
        packets.append(wire.receive())
    end = packets[-1]
    assert isinstance(end, Disconnect) and end.reason == Reason.RECEIVE_MAXIMUM_EXCEEDED


def test_mqtt5_3_3_2_12_a_topic_alias_stands_for_a_topic(connected: Dial) -> None:
    topic = fresh("topic")
    wire, watcher = connected(V5), connected(V5)
    watcher.subscribe(topic)
    alias = {Property.TOPIC_ALIAS: 7}
    wire.publish(topic, b"one", 1, properties=alias)
    wire.publish("", b"two", 1, 2, properties=alias)
    found = [watcher.message() for _ in range(2)]
    assert [(one.topic, one.payload) for one in found] == [(topic, b"one"), (topic, b"two")]
    assert Property.TOPIC_ALIAS not in found[0].properties


@pytest.mark.parametrize(
    ("alias", "reason"),
    [(0, Reason.TOPIC_ALIAS_INVALID), (101, Reason.TOPIC_ALIAS_INVALID), (5, Reason.PROTOCOL_ERROR)],
)
def test_mqtt5_3_3_2_8_a_wrong_topic_alias_closes(connected: Dial, alias: int, reason: Reason) -> None:
    wire = connected(V5)
    wire.send(Publish("", b"x", 1, packet_id=1, properties={Property.TOPIC_ALIAS: alias}))
    assert reason_of_end(wire) == reason


def test_mqtt5_3_3_4_6_a_client_sends_no_subscription_identifier(connected: Dial) -> None:
    wire = connected(V5)
    wire.send(Publish("a", b"x", 1, packet_id=1, properties={Property.SUBSCRIPTION_IDENTIFIER: [1]}))
    assert reason_of_end(wire) == Reason.PROTOCOL_ERROR


def test_mqtt5_3_3_4_3_subscription_identifiers_come_with_the_message(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected(V5)
    wire.subscribe(f"{topic}/#", properties={Property.SUBSCRIPTION_IDENTIFIER: 3})
    wire.subscribe(f"{topic}/a", properties={Property.SUBSCRIPTION_IDENTIFIER: 70_000})
    connected().publish(f"{topic}/a", b"x", 1)
    assert sorted(wire.message().properties[Property.SUBSCRIPTION_IDENTIFIER]) == [3, 70_000]


def test_mqtt5_3_3_2_6_the_expiry_becomes_shorter_on_the_way(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected(V5)
    wire.publish(topic, b"x", 1, retain=True, properties={Property.MESSAGE_EXPIRY: 600})
    wire.subscribe(topic)
    assert 500 < wire.message().properties[Property.MESSAGE_EXPIRY] <= 600


def test_mqtt5_3_3_2_5_an_expired_message_is_not_delivered(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected(V5)
    wire.publish(topic, b"x", 1, retain=True, properties={Property.MESSAGE_EXPIRY: 0})
    wire.subscribe(topic)
    wire.publish(topic, b"y", 1)
    assert wire.message().payload == b"y"


def test_mqtt5_3_8_3_1_2_no_local(connected: Dial) -> None:
    topic = fresh("topic")
    wire, other = connected(V5), connected(V5)
    wire.subscribe(Wanted(topic, 1, no_local=True))
    wire.publish(topic, b"own", 1)
    other.publish(topic, b"of another", 1)
    assert wire.message().payload == b"of another"


def test_mqtt5_3_8_3_1_3_retain_as_published(connected: Dial) -> None:
    topic = fresh("topic")
    wire, plain = connected(V5), connected(V5)
    wire.subscribe(Wanted(topic, 1, retain_as_published=True))
    plain.subscribe(Wanted(topic, 1))
    connected().publish(topic, b"x", 1, retain=True)
    assert (wire.message().retain, plain.message().retain) == (True, False)


def test_mqtt5_3_3_1_10_retain_handling(connected: Dial) -> None:
    topic = fresh("topic")
    wire, watcher = connected(V5), connected()
    watcher.subscribe(topic)
    wire.publish(topic, b"x", 1, retain=True)
    # Who subscribes afterwards does not get it as a new message any more.
    assert watcher.message().payload == b"x"
    wire.subscribe(Wanted(topic, 1, retain_handling=2))
    assert wire.is_silent()
    wire.send(Unsubscribe(2, [topic]))
    wire.expect(UnsubAck)
    wire.subscribe(Wanted(topic, 1, retain_handling=1))
    assert wire.message().retain
    wire.subscribe(Wanted(topic, 1, retain_handling=1))
    assert wire.is_silent()


def test_mqtt5_3_8_3_4_a_shared_subscription_has_no_no_local(connected: Dial) -> None:
    wire = connected(V5)
    wire.send(Subscribe(1, [Wanted("$share/g/a", 1, no_local=True)]))
    assert reason_of_end(wire) == Reason.PROTOCOL_ERROR


def test_mqtt5_3_11_3_unsubscribe_says_what_was_there(connected: Dial) -> None:
    wire, topic = connected(V5), fresh("topic")
    wire.subscribe(topic)
    wire.send(Unsubscribe(2, [topic, "never/seen"]))
    assert list(wire.expect(UnsubAck).codes) == [Reason.SUCCESS, Reason.NO_SUBSCRIPTION_EXISTED]


def test_mqtt5_3_6_2_releasing_what_is_not_known_says_so(connected: Dial) -> None:
    wire = connected(V5)
    wire.send(PubRel(99))
    assert wire.expect(PubComp).reason == Reason.PACKET_IDENTIFIER_NOT_FOUND
    wire.send(PubRec(98))
    assert wire.expect(PubRel).reason == Reason.PACKET_IDENTIFIER_NOT_FOUND


def test_mqtt5_3_14_2_1_disconnect_with_will(connected: Dial) -> None:
    topic = fresh("will")
    watcher = connected()
    watcher.subscribe(topic)
    wire = connected(V5, will=Will(topic, b"good bye"))
    wire.send(Disconnect(Reason.DISCONNECT_WITH_WILL))
    assert watcher.message().payload == b"good bye"


def test_mqtt5_3_14_2_2_2_disconnect_cannot_prolong_a_session(connected: Dial) -> None:
    wire = connected(V5)
    wire.send(Disconnect(0, {Property.SESSION_EXPIRY: 60}))
    assert reason_of_end(wire) == Reason.PROTOCOL_ERROR


def test_mqtt5_3_14_2_2_2_disconnect_can_end_a_session(connected: Dial, dial: Dial) -> None:
    name = fresh("client")
    wire = connected(V5, name, properties={Property.SESSION_EXPIRY: 600})
    wire.send(Disconnect(0, {Property.SESSION_EXPIRY: 0}))
    assert wire.is_closed()
    assert not dial(V5).connect(name, clean_start=False).session_present


@pytest.mark.parametrize("packet", [Auth(), Connect("again", V5), ConnAck()])
def test_mqtt5_4_13_1_1_what_may_not_come_is_a_protocol_error(connected: Dial, packet: Auth) -> None:
    wire = connected(V5)
    wire.send(packet)
    assert reason_of_end(wire) == Reason.PROTOCOL_ERROR


def test_mqtt5_4_12_0_1_a_method_of_authentication_is_not_there(dial: Dial) -> None:
    wire = dial(V5)
    wire.send(Connect("a", V5, properties={Property.AUTHENTICATION_METHOD: "SCRAM-SHA-1"}))
    assert wire.expect(ConnAck).code == Reason.BAD_AUTHENTICATION_METHOD
    assert wire.is_closed()


def test_mqtt5_3_1_2_29_reasons_are_left_out_when_not_wanted(connected: Dial) -> None:
    wire = connected(V5, properties={Property.REQUEST_PROBLEM_INFORMATION: 0})
    wire.send(Auth())
    assert not wire.expect(Disconnect).properties
    talkative = connected(V5)
    talkative.send(Auth())
    assert "AUTH" in talkative.expect(Disconnect).properties[Property.REASON_STRING]


def test_mqtt5_4_8_2_a_message_goes_to_one_member(connected: Dial) -> None:
    topic = fresh("topic")
    members = [connected(V5), connected(V5), connected()]
    for member in members:
        assert member.subscribe(f"$share/{topic}/{topic}/+").codes == [2]
    other = connected()
    for number in range(30):
        other.publish(f"{topic}/{number}", b"%d" % number, 1, number + 1)
    found = [[member.message().payload for _ in range(10)] for member in members]
    assert sorted(int(one) for share in found for one in share) == list(range(30))
    assert all(member.is_silent() for member in members)


def test_mqtt5_4_8_2_6_what_a_member_leaves_goes_to_another(connected: Dial) -> None:
    topic = fresh("topic")
    one = connected(V5)
    one.subscribe(f"$share/{topic}/{topic}", qos=1)
    other = connected()
    for number in range(4):
        other.publish(topic, b"%d" % number, 1, number + 1)
    for _ in range(4):
        one.expect(Publish)
    two = connected(V5)
    two.subscribe(f"$share/{topic}/{topic}", qos=1)
    one.close()
    assert sorted(two.message().payload for _ in range(4)) == [b"0", b"1", b"2", b"3"]


def test_mqtt5_4_8_2_the_group_keeps_its_place(connected: Dial) -> None:
    topic = fresh("topic")
    one = connected(V5)
    one.subscribe(f"$share/{topic}/{topic}", qos=1)
    one.send(Disconnect())
    assert one.is_closed()
    connected().publish(topic, b"while nobody was there", 1)
    two = connected(V5)
    two.subscribe(f"$share/{topic}/{topic}", qos=1)
    assert two.message().payload == b"while nobody was there"


def test_mqtt5_4_8_2_4_what_was_begun_with_qos_2_is_finished_there(connected: Dial) -> None:
    topic, name = fresh("topic"), fresh("client")
    stays = {Property.SESSION_EXPIRY: 600}
    one, two = connected(V5, name, properties=stays), connected(V5)
    one.subscribe(f"$share/{topic}/{topic}")
    connected().publish(topic, b"x", 2)
    begun = one.expect(Publish)
    two.subscribe(f"$share/{topic}/{topic}")
    one.close()
    again = connected(V5, name, clean_start=False, properties=stays)
    found = again.message()
    assert (found.payload, found.packet_id, found.dup) == (b"x", begun.packet_id, True)
    assert two.is_silent()


@pytest.mark.parametrize("text", ["$share/g", "$share//a", "$share/g/", "$share/+/a", "$share"])
def test_mqtt5_4_8_2_1_a_shared_filter_has_a_name_and_a_filter(connected: Dial, text: str) -> None:
    wire = connected(V5)
    wire.send(Subscribe(1, [Wanted(text, 1)]))
    assert reason_of_end(wire) == Reason.TOPIC_FILTER_INVALID


def test_mqtt5_3_1_4_server_shutting_down_is_said(start_proxy: StartProxy) -> None:
    proxy: MqttProxy = start_proxy()
    with Wire(proxy.port, V5) as wire:
        wire.connect()
        assert proxy.stop() == 0
        assert wire.expect(Disconnect).reason == Reason.SERVER_SHUTTING_DOWN
