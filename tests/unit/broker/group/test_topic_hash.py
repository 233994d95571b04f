"""The hash of topics: numbers computed by Kafka's own (hash4j's XXH3)."""

from struct import pack

from xxhash import xxh3_64_intdigest

from moldau.broker.group.consumer.topic_hash import _topic_hash, topics_hash
from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.core.ids import TopicId

ID = TopicId(bytes.fromhex("0102030405060708fffffffffffffffe"))


def test_a_topic() -> None:
    assert _topic_hash("orders", TopicInfo(ID, 3)) == 1890852219692940849
    assert _topic_hash("orders", TopicInfo(ID, 100)) == -4280055615262824334


def test_a_group() -> None:
    assert topics_hash({}) == 0
    b, a = TopicInfo(ID, 3), TopicInfo(ID, 4)
    in_order = pack("<qq", _topic_hash("a", a), _topic_hash("b", b))
    assert topics_hash({"b": b, "a": a}) & 0xFFFF_FFFF_FFFF_FFFF == xxh3_64_intdigest(in_order)
