"""What survives the end of the proxy: a clean one, and a kill."""

import contextlib

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import Wire, fresh
from moldau.proxies.mqtt.codec.packets import PubAck, PubComp, Publish, PubRec, PubRel, Will
from moldau.testing import LocalCluster

RETAINED = 2_000


def values(consumer: Consumer, kafka_topic: str, topic: str) -> list[bytes]:
    """Records of one MQTT topic, up to the first `three`."""
    partitions = consumer.list_topics(kafka_topic, 60).topics[kafka_topic].partitions
    consumer.assign([TopicPartition(kafka_topic, number, 0) for number in partitions])
    found: list[bytes] = []
    while b"three" not in found:
        record = consumer.poll(60)
        assert record is not None, found
        if record.key() == topic.encode():
            found.append(record.value() or b"")
    consumer.close()
    return found


def end(proxy: MqttProxy, *, with_kill: bool) -> None:
    if with_kill:
        proxy.kill9()
    else:
        assert proxy.stop() == 0
    proxy.start()


@pytest.fixture(params=["stopped", "killed"])
def with_kill(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "killed")


def test_sessions_and_retained_messages_survive(start_proxy: StartProxy, with_kill: bool) -> None:
    proxy, topic = start_proxy(), fresh("topic")
    with Wire(proxy.port) as wire, Wire(proxy.port) as other:
        wire.connect("keeper", clean_start=False)
        wire.subscribe(f"{topic}/+")
        other.connect()
        other.publish(f"{topic}/kept", b"kept", 1, retain=True)
        assert wire.message().payload == b"kept"
        wire.close()
        other.publish(f"{topic}/missed", b"missed", 2)
    end(proxy, with_kill=with_kill)
    with Wire(proxy.port) as wire, Wire(proxy.port) as other:
        assert wire.connect("keeper", clean_start=False).session_present
        payloads = {wire.message().payload}
        if payloads == {b"kept"}:
            # It was acknowledged less than a few seconds before the kill.
            payloads = {wire.message().payload}
        assert payloads == {b"missed"}
        other.connect()
        other.subscribe(f"{topic}/#")
        assert other.message().payload == b"kept"
        other.publish(f"{topic}/live", b"live", 1)
        assert wire.message().payload == b"live"


def test_a_publish_of_qos_2_is_recognized_afterwards(start_proxy: StartProxy, with_kill: bool) -> None:
    proxy, topic = start_proxy(), fresh("topic")
    with Wire(proxy.port) as wire:
        wire.connect("sender", clean_start=False)
        wire.send(Publish(topic, b"one", 2, packet_id=11), Publish(topic, b"two", 2, packet_id=12))
        assert [wire.expect(PubRec).packet_id for _ in range(2)] == [11, 12]
        wire.send(PubRel(12))
        assert wire.expect(PubComp).packet_id == 12
    end(proxy, with_kill=with_kill)
    with Wire(proxy.port) as wire, Wire(proxy.port) as reader:
        reader.connect("reader", clean_start=False)
        reader.subscribe(topic)
        assert wire.connect("sender", clean_start=False).session_present
        wire.send(Publish(topic, b"one", 2, packet_id=11, dup=True))
        assert wire.expect(PubRec).packet_id == 11
        wire.send(PubRel(11))
        assert wire.expect(PubComp).packet_id == 11
        wire.publish(topic, b"three", 2, 12)
        wire.publish(topic, b"four", 2, 11)
        assert [reader.message().payload for _ in range(2)] == [b"three", b"four"]
        assert reader.is_silent()


def test_deliveries_of_qos_2_go_on_where_they_were(start_proxy: StartProxy, with_kill: bool) -> None:
    proxy, topic = start_proxy(), fresh("topic")
    with Wire(proxy.port) as wire, Wire(proxy.port) as other:
        wire.connect("reader", clean_start=False)
        wire.subscribe(topic)
        other.connect()
        for number in range(4):
            other.publish(topic, b"%d" % number, 2, number + 1)
        messages = [wire.expect(Publish) for _ in range(4)]
        first, second, third, _ = (one.packet_id for one in messages)
        wire.send(PubRec(first))
        assert wire.expect(PubRel).packet_id == first
        wire.send(PubComp(first), PubRec(second))
        assert wire.expect(PubRel).packet_id == second
    end(proxy, with_kill=with_kill)
    with Wire(proxy.port) as wire:
        wire.connect("reader", clean_start=False)
        released = set()
        again = {}
        while len(again) < 2:
            packet = wire.receive()
            if isinstance(packet, PubRel):
                released.add(packet.packet_id)
                wire.send(PubComp(packet.packet_id))
            else:
                assert isinstance(packet, Publish)
                again[packet.packet_id] = packet
        assert second in released and released <= {first, second}
        assert [again[third].payload, again[third].dup] == [b"2", True]
        assert {one.payload for one in again.values()} == {b"2", b"3"}
        for packet_id in again:
            wire.send(PubRec(packet_id))
            assert wire.expect(PubRel).packet_id == packet_id
            wire.send(PubComp(packet_id))
        assert wire.is_silent()


def test_a_will_is_published_after_the_proxy_has_come_back(start_proxy: StartProxy, with_kill: bool) -> None:
    proxy, topic = start_proxy(will_restart_grace_ms="1000"), fresh("will")
    with Wire(proxy.port) as gone, Wire(proxy.port) as back, Wire(proxy.port) as watcher:
        gone.connect("gone", will=Will(topic, b"gone", 1))
        back.connect("back", will=Will(topic, b"back", 1))
        watcher.connect("watcher", clean_start=False)
        watcher.subscribe(topic)
    end(proxy, with_kill=with_kill)
    with Wire(proxy.port) as back, Wire(proxy.port) as watcher:
        watcher.connect("watcher", clean_start=False)
        back.connect("back", will=Will(topic, b"back", 1))
        # Both connections ended before the proxy did, or with it.
        payloads = {watcher.message().payload}
        if payloads == {b"back"}:
            payloads.add(watcher.message().payload)
        assert b"gone" in payloads


def test_what_was_acknowledged_is_in_kafka(start_proxy: StartProxy, kafka: LocalCluster) -> None:
    """QoS 1 over a kill: nothing is missing, and everything has its order."""
    kafka_topic, topic = fresh("mqtt-"), fresh("topic")
    proxy = start_proxy(topic_default=kafka_topic, topic_partitions="1")
    with Wire(proxy.port) as wire:
        wire.connect("sender")
        wire.send(*(Publish(topic, b"%d" % n, 1, packet_id=n) for n in range(1, 501)))
        acknowledged = [wire.expect(PubAck).packet_id for _ in range(100)]
        proxy.kill9()
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": fresh("group")})
    consumer.assign([TopicPartition(kafka_topic, 0, 0)])
    found = [consumer.poll(60) for _ in acknowledged]
    consumer.close()
    assert [one.value() for one in found if one is not None] == [b"%d" % n for n in range(1, 101)]
    assert acknowledged == list(range(1, 101))


def test_a_second_proxy_of_the_same_name_takes_over(start_proxy: StartProxy) -> None:
    name, kafka_topic = fresh("proxy"), fresh("mqtt-")
    first = start_proxy(proxy_id=name, topic_default=kafka_topic)
    with Wire(first.port) as wire:
        wire.connect("keeper", clean_start=False)
        wire.subscribe("a/b")
    second = start_proxy(proxy_id=name, topic_default=kafka_topic)
    with Wire(second.port) as wire:
        assert wire.connect("keeper", clean_start=False).session_present
    # What it would store is not its own any more: it says so, and ends.
    with contextlib.suppress(AssertionError), Wire(first.port) as wire:
        wire.connect("keeper", clean_start=False)
    assert first._child is not None
    assert first._child.wait(60) == 2
    assert "another proxy was started with the name of this one" in first.log_text()
    assert second.stop() == 0


def test_everything_stored_is_read_after_the_producer_was_lost(
    start_proxy: StartProxy, kafka: LocalCluster
) -> None:
    """In the same process, with more in the topic than comes with one look."""
    name, topic = fresh("proxy"), fresh("topic")
    proxy = start_proxy(proxy_id=name)
    with Wire(proxy.port) as wire:
        wire.connect("filler")
        for first in range(0, RETAINED, 500):
            wire.send(*(Publish(f"{topic}/{first + n}", b"x" * 500, 0, retain=True) for n in range(500)))
        wire.publish(f"{topic}/last", b"x", 1, retain=True)
    with Wire(proxy.port) as wire:
        wire.connect("sender", clean_start=False)
        wire.send(Publish(topic, b"one", 2, packet_id=11))
        assert wire.expect(PubRec).packet_id == 11
        # Takes the transactional id away, as a coordinator does after the time of a transaction.
        other = Producer(
            {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": f"moldau-mqtt-{name}"}
        )
        other.init_transactions(60)
        wire.send(Publish(topic, b"two", 2, packet_id=12))
        assert wire.receive() is None
    with Wire(proxy.port) as wire:
        assert wire.connect("sender", clean_start=False).session_present
        wire.send(Publish(topic, b"one", 2, packet_id=11, dup=True))
        wire.send(Publish(topic, b"two", 2, packet_id=12, dup=True))
        assert {wire.expect(PubRec).packet_id for _ in range(2)} == {11, 12}
        wire.subscribe(topic)
        wire.publish(topic, b"three", 2, 13)
        assert wire.message().payload == b"three"
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": fresh("group"),
            "isolation.level": "read_committed",
        }
    )
    assert "the proxy starts again with what is stored" in proxy.log_text()
    assert values(consumer, proxy.settings["topic.default"], topic) == [b"one", b"two", b"three"]


def test_a_topic_that_was_created_again_is_read_from_its_beginning(
    start_proxy: StartProxy, kafka: LocalCluster
) -> None:
    kafka_topic = fresh("mqtt-")
    proxy = start_proxy(topic_default=kafka_topic, topic_partitions="1")
    with Wire(proxy.port) as wire, Wire(proxy.port) as other:
        wire.connect("reader", clean_start=False)
        wire.subscribe("a/b")
        other.connect()
        for number in range(1, 21):
            other.publish("a/b", b"old", 1, number)
            wire.message()
    assert proxy.stop() == 0
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.delete_topics([kafka_topic])[kafka_topic].result(60)
    proxy.start()
    with Wire(proxy.port) as other, Wire(proxy.port) as wire:
        other.connect()
        other.publish("a/b", b"new", 1)
        assert wire.connect("reader", clean_start=False).session_present
        assert wire.message().payload == b"new"
    assert "read from its beginning" in proxy.log_text()
