"""The hash of topics: numbers computed by Kafka's own (hash4j's XXH3)."""

from struct import pack

import pytest

from moldau.broker.group.topic_hash import _topic_hash, topics_hash
from moldau.broker.group.topic_view import TopicInfo
from moldau.broker.group.xxh3 import xxh3_64
from moldau.core.ids import TopicId

ID = TopicId(bytes.fromhex("0102030405060708fffffffffffffffe"))
VECTORS = {
    0: 3244421341483603138,
    1: 5502495245947142431,
    3: 7943829059066201772,
    4: 6650799683851767871,
    8: -433104430451296011,
    9: 8944394699905593055,
    16: -8742622969447446440,
    17: -5364924204495744911,
    33: -6566554354575335565,
    65: -7510104758670172471,
    128: 1211889905577015873,
    129: 1605741916052902306,
    240: -5273803999686196762,
    241: -7679571566553258082,
    512: -6851812253923438377,
    1024: 8123710315364152507,
    1025: 7405123385822357415,
    2049: 6349179943806269125,
    5000: -2017479414651090596,
}


@pytest.mark.parametrize("size", VECTORS)
def test_xxh3(size: int) -> None:
    assert xxh3_64(bytes((at * 131 + 7) & 255 for at in range(size))) == VECTORS[size]


def test_a_topic() -> None:
    assert _topic_hash("orders", TopicInfo(ID, 3)) == 1890852219692940849
    assert _topic_hash("orders", TopicInfo(ID, 100)) == -4280055615262824334


def test_a_group() -> None:
    assert topics_hash({}) == 0
    b, a = TopicInfo(ID, 3), TopicInfo(ID, 4)
    expected = xxh3_64(pack("<qq", _topic_hash("a", a), _topic_hash("b", b)))
    assert topics_hash({"b": b, "a": a}) == expected
    assert xxh3_64(pack("<qq", 5, -7)) == -4646943608980624969
