"""What MQTT 3.1.1 says of publishing and subscribing, each test named after the statement."""

import pytest

from e2e.mqtt.conftest import Dial
from e2e.mqtt.wire_client import Wire, fresh
from moldau.proxies.mqtt.codec.packets import (
    Disconnect,
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
)


def test_mqtt_3_3_1_1_what_was_not_acknowledged_comes_again_as_duplicate(connected: Dial) -> None:
    name, topic = fresh("client"), fresh("topic")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    wire.publish(topic, b"one", 0)
    wire.message()
    connected().publish(topic, b"two", 1)
    first = wire.expect(Publish)
    assert not first.dup
    wire.close()
    again = connected(client_id=name, clean_start=False)
    second = again.message()
    assert (second.payload, second.dup, second.packet_id) == (b"two", True, first.packet_id)


def test_mqtt_3_3_1_2_a_duplicate_of_qos_0_closes(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x38\x03\0\1a")
    assert wire.is_closed()


def test_mqtt_3_3_1_3_the_duplicate_flag_does_not_travel(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(topic)
    connected().publish(topic, b"x", 1, dup=True)
    assert not wire.message().dup


def test_mqtt_3_3_1_4_qos_3_closes(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x36\x05\0\1a\0\1")
    assert wire.is_closed()


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_mqtt_3_3_1_6_a_new_subscription_gets_the_retained_message(connected: Dial, qos: int) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.publish(topic, b"first", 1, retain=True)
    wire.publish(topic, b"last", 2, 2, retain=True)
    wire.subscribe(topic, qos=qos)
    found = wire.message()
    assert (found.payload, found.qos, found.retain) == (b"last", qos, True)
    assert wire.is_silent()


def test_mqtt_3_3_1_9_the_retain_flag_does_not_travel(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(topic)
    connected().publish(topic, b"x", 1, retain=True)
    assert not wire.message().retain


def test_mqtt_3_3_1_10_an_empty_payload_removes_the_retained_message(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.publish(topic, b"kept", 1, retain=True)
    wire.publish(topic, b"", 1, 2, retain=True)
    wire.subscribe(topic)
    assert wire.is_silent()
    wire.publish(topic, b"", 0, retain=True)
    found = wire.message()
    assert (found.payload, found.retain) == (b"", False)


def test_mqtt_3_3_1_12_a_message_that_is_not_retained_keeps_the_retained_one(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.publish(topic, b"kept", 1, retain=True)
    wire.publish(topic, b"passing", 1, 2)
    wire.subscribe(topic)
    assert wire.message().payload == b"kept"


@pytest.mark.parametrize("topic", ["a/+", "#", "a/#", "+"])
def test_mqtt_3_3_2_2_wildcards_in_a_topic_name_close(connected: Dial, topic: str) -> None:
    wire = connected()
    wire.send(Publish(topic, b"x", 1, packet_id=1))
    assert wire.is_closed()


def test_mqtt_3_3_4_1_each_qos_has_its_answer(connected: Dial) -> None:
    wire = connected()
    topic = fresh("topic")
    wire.send(Publish(topic, b"x"), Publish(topic, b"x", 1, packet_id=1))
    assert wire.expect(PubAck).packet_id == 1
    wire.send(Publish(topic, b"x", 2, packet_id=2))
    assert wire.expect(PubRec).packet_id == 2


def test_mqtt_3_3_5_1_overlapping_subscriptions_give_the_highest_qos(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(Wanted(f"{topic}/#", 0), Wanted(f"{topic}/+", 2), Wanted(f"{topic}/a", 1))
    connected().publish(f"{topic}/a", b"x", 2)
    assert wire.message().qos == 2


def test_mqtt_3_8_3_1_a_filter_is_utf8(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x82\x06\0\1\0\1\xff\0")
    assert wire.is_closed()


def test_mqtt_3_8_3_3_a_subscribe_has_a_filter(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\x82\x02\0\1")
    assert wire.is_closed()


@pytest.mark.parametrize("options", [3, 4, 0x80])
def test_mqtt_3_8_3_4_wrong_options_close(connected: Dial, options: int) -> None:
    wire = connected()
    wire.send_raw(b"\x82\x06\0\1\0\1a" + bytes((options,)))
    assert wire.is_closed()


def test_mqtt_3_8_4_3_a_subscription_is_replaced(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.publish(topic, b"kept", 2, retain=True)
    wire.subscribe(topic, qos=2)
    assert wire.message().qos == 2
    wire.subscribe(topic, qos=0)
    found = wire.message()  # the retained message is sent again
    assert (found.qos, found.retain) == (0, True)
    wire.publish(topic, b"new", 2, 2)
    assert wire.message().qos == 0
    assert wire.is_silent()


def test_mqtt_3_8_4_5_there_is_a_code_for_each_filter(connected: Dial) -> None:
    wire = connected()
    topic = fresh("topic")
    answer = wire.subscribe(Wanted(f"{topic}/0", 0), Wanted(f"{topic}/2", 2), Wanted(f"{topic}/1", 1))
    assert list(answer.codes) == [0, 2, 1]


@pytest.mark.parametrize("published", [0, 1, 2])
@pytest.mark.parametrize("granted", [0, 1, 2])
def test_mqtt_3_8_4_6_the_qos_is_the_lower_one(connected: Dial, published: int, granted: int) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(topic, qos=granted)
    connected().publish(topic, b"x", published)
    assert wire.message().qos == min(published, granted)


def test_mqtt_3_10_3_2_an_unsubscribe_has_a_filter(connected: Dial) -> None:
    wire = connected()
    wire.send_raw(b"\xa2\x02\0\1")
    assert wire.is_closed()


def test_mqtt_3_10_4_1_filters_are_compared_letter_by_letter(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(f"{topic}/+")
    wire.send(Unsubscribe(2, [f"{topic}/a", f"{topic}/#"]))
    wire.expect(UnsubAck)
    wire.publish(f"{topic}/a", b"x", 0)
    assert wire.message().payload == b"x"


def test_mqtt_3_10_4_2_nothing_new_comes_after_unsubscribe(connected: Dial) -> None:
    topic = fresh("topic")
    wire, watcher = connected(), connected()
    wire.subscribe(topic)
    watcher.subscribe(topic)
    wire.send(Unsubscribe(2, [topic]))
    wire.expect(UnsubAck)
    wire.publish(topic, b"x", 1)
    watcher.message()
    assert wire.is_silent()


def test_mqtt_3_10_4_3_what_was_begun_is_finished_after_unsubscribe(connected: Dial) -> None:
    topic = fresh("topic")
    wire = connected()
    wire.subscribe(topic)
    connected().publish(topic, b"x", 2)
    begun = wire.expect(Publish)
    wire.send(Unsubscribe(2, [topic]))
    wire.expect(UnsubAck)
    wire.send(PubRec(begun.packet_id))
    assert wire.expect(PubRel).packet_id == begun.packet_id
    wire.send(PubComp(begun.packet_id))
    assert wire.is_silent()


def test_mqtt_3_10_4_5_unsubscribe_is_answered_without_a_subscription(connected: Dial) -> None:
    wire = connected()
    wire.send(Unsubscribe(5, ["never/seen"]))
    assert wire.expect(UnsubAck).packet_id == 5


def test_mqtt_4_3_3_2_a_repeated_publish_of_qos_2_is_one_message(connected: Dial) -> None:
    topic, name = fresh("topic"), fresh("client")
    watcher = connected()
    watcher.subscribe(topic)
    wire = connected(client_id=name, clean_start=False)
    wire.send(Publish(topic, b"once", 2, packet_id=7))
    wire.expect(PubRec)
    wire.send(Publish(topic, b"once", 2, packet_id=7, dup=True))
    wire.expect(PubRec)
    wire.close()
    again = connected(client_id=name, clean_start=False)
    again.send(Publish(topic, b"once", 2, packet_id=7, dup=True))
    again.expect(PubRec)
    again.send(PubRel(7))
    again.expect(PubComp)
    again.publish(topic, b"next", 2, 7)
    assert [watcher.message().payload for _ in range(2)] == [b"once", b"next"]
    assert watcher.is_silent()


def test_mqtt_4_3_3_1_what_the_client_has_is_released_after_a_new_connection(connected: Dial) -> None:
    topic, name = fresh("topic"), fresh("client")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    connected().publish(topic, b"once", 2)
    message = wire.expect(Publish)
    wire.send(PubRec(message.packet_id))
    wire.expect(PubRel)
    wire.close()
    again = connected(client_id=name, clean_start=False)
    assert again.expect(PubRel).packet_id == message.packet_id
    again.send(PubComp(message.packet_id))
    assert again.is_silent()


def test_mqtt_4_6_0_2_acknowledgements_have_the_order_of_the_messages(connected: Dial) -> None:
    wire = connected()
    topics = [fresh("topic") for _ in range(30)]
    wire.send(*(Publish(topic, b"x", 1, packet_id=n) for n, topic in enumerate(topics, 1)))
    assert [wire.expect(PubAck).packet_id for _ in topics] == list(range(1, 31))


def test_mqtt_4_6_0_3_the_same_for_qos_2(connected: Dial) -> None:
    wire = connected(clean_start=False)
    topics = [fresh("topic") for _ in range(30)]
    wire.send(*(Publish(topic, b"x", 2, packet_id=n) for n, topic in enumerate(topics, 1)))
    assert [wire.expect(PubRec).packet_id for _ in topics] == list(range(1, 31))


def test_mqtt_4_6_0_6_messages_of_a_topic_keep_their_order(connected: Dial) -> None:
    topic = fresh("topic")
    wire, other = connected(), connected()
    wire.subscribe(topic)
    other.send(*(Publish(topic, b"%d" % n, 1, packet_id=n) for n in range(1, 201)))
    assert [wire.message().payload for _ in range(200)] == [b"%d" % n for n in range(1, 201)]


@pytest.mark.parametrize(
    ("filter_text", "name", "matches"),
    [
        ("{}/#", "{}", True),
        ("{}/#", "{}/a/b", True),
        ("{}/+", "{}/a", True),
        ("{}/+", "{}", False),
        ("{}/+", "{}/a/b", False),
        ("{}/+/c", "{}/b/c", True),
        ("{}/+", "{}/", True),
        ("+/{}", "/{}", True),
        ("{}/a", "{}/A", False),
        ("{}/a b", "{}/a b", True),
    ],
)
def test_mqtt_4_7_1_wildcards(connected: Dial, filter_text: str, name: str, matches: bool) -> None:
    wire, watcher, unique = connected(), connected(), fresh("topic")
    wire.subscribe(filter_text.format(unique))
    watcher.subscribe(name.format(unique))
    connected().publish(name.format(unique), b"x", 1)
    watcher.message()  # both get it at once, if at all
    assert wire.is_silent() is not matches


@pytest.mark.parametrize("text", ["a#", "a/#/b", "a+", "a/b+/c", "##", ""])
def test_mqtt_4_7_1_2_invalid_filters_close(connected: Dial, text: str) -> None:
    wire = connected()
    wire.send(Subscribe(1, [Wanted(text)]))
    assert wire.is_closed()


def test_mqtt_4_7_2_1_wildcards_do_not_match_dollar_topics(connected: Dial) -> None:
    wire, unique = connected(), fresh("topic")
    wire.subscribe(f"+/{unique}", "#")
    wire.publish(f"$x/{unique}", b"hidden", 1)
    wire.publish(f"x/{unique}", b"seen", 1, 2)
    while (found := wire.message()).topic != f"x/{unique}":
        assert not found.topic.startswith("$")
    wire.send(Unsubscribe(2, ["#"]))
    while not isinstance(wire.receive(), UnsubAck):
        pass
    wire.subscribe(f"$x/{unique}")
    wire.publish(f"$x/{unique}", b"seen by name", 1, 3)
    assert wire.message().payload == b"seen by name"


def test_mqtt_4_7_3_4_topics_are_not_normalized(connected: Dial) -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    wire, unique = connected(), fresh("topic")
    wire.subscribe(f"{unique}/{composed}")
    wire.publish(f"{unique}/{decomposed}", b"other", 1)
    wire.publish(f"{unique}/{composed}", b"same", 1, 2)
    assert wire.message().payload == b"same"


def test_a_slow_client_misses_nothing(connected: Dial) -> None:
    """More waits than the proxy keeps in memory: the session reads on by itself."""
    topic, count = fresh("topic"), 3_000
    slow, other = connected(), connected()
    slow.subscribe(topic, qos=1)
    for start in range(1, count, 500):
        packets = [Publish(topic, b"%d" % n, 1, packet_id=n) for n in range(start, start + 500)]
        other.send(*packets)
        for _ in packets:
            other.expect(PubAck)
    found = [slow.message().payload for _ in range(count)]
    assert found == [b"%d" % n for n in range(1, count + 1)]
    assert slow.is_silent()
    other.publish(topic, b"and on", 1)
    assert slow.message().payload == b"and on"


def test_sessions_end_when_a_clean_one_begins(connected: Dial, dial: Dial) -> None:
    name, topic = fresh("client"), fresh("topic")
    wire = connected(client_id=name, clean_start=False)
    wire.subscribe(topic)
    wire.send(Disconnect())
    assert wire.is_closed()
    wire = dial()
    wire.connect(name, clean_start=True)
    wire.send(Disconnect())
    assert wire.is_closed()
    assert not dial().connect(name, clean_start=False).session_present


def test_a_suback_comes_before_messages(connected: Dial) -> None:
    topic = fresh("topic")
    wire: Wire = connected()
    wire.publish(topic, b"kept", 1, retain=True)
    wire.send(Subscribe(3, [Wanted(topic, 1)]))
    assert isinstance(wire.receive(), SubAck)
    assert wire.message().retain
