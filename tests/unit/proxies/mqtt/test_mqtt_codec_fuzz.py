"""Whatever the bytes are, the outcome is a packet or a MalformedPacket; and what is encoded is decoded to the same."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moldau.proxies.mqtt.codec.decoding import decode
from moldau.proxies.mqtt.codec.encoding import encode
from moldau.proxies.mqtt.codec.framing import FrameReader
from moldau.proxies.mqtt.codec.packets import (
    V5,
    V311,
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
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
from moldau.proxies.mqtt.codec.primitives import MalformedPacket
from moldau.proxies.mqtt.codec.properties import FORMS, WILL, Kind, Property
from moldau.proxies.mqtt.codec.reason_codes import (
    AUTH_REASONS,
    DISCONNECT_REASONS,
    PUBLISH_ANSWERS,
    RELEASE_ANSWERS,
)

LIMIT = 1 << 20
texts = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12)
names = st.text("abc/ é$", min_size=1, max_size=12)
filters = st.lists(st.sampled_from(["a", "+", "", "b c"]), min_size=1, max_size=4).map("/".join).filter(bool)
ids = st.integers(1, 65_535)
blobs = st.binary(max_size=40)
versions = st.sampled_from([V311, V5])


def values(number: int) -> st.SearchStrategy[Any]:
    form = FORMS[number]
    low = 1 if form.is_positive else 0
    if number == Property.RESPONSE_TOPIC:
        return names
    return {
        Kind.FLAG: st.integers(0, 1),
        Kind.U16: st.integers(low, 65_535),
        Kind.U32: st.integers(low, 2**32 - 1),
        Kind.VARINT: st.integers(low, 268_435_455),
        Kind.TEXT: texts,
        Kind.BINARY: blobs,
        Kind.PAIR: st.lists(st.tuples(texts, texts), min_size=1, max_size=3),
    }[form.kind]


def properties(packet: int) -> st.SearchStrategy[Any]:
    allowed = {number: values(number) for number, form in FORMS.items() if packet in form.packets}
    if packet == 3:
        allowed[Property.SUBSCRIPTION_IDENTIFIER] = st.lists(st.integers(1, 1000), min_size=1, max_size=3)
    if packet == 1:
        del allowed[Property.AUTHENTICATION_DATA]
    return st.fixed_dictionaries({}, optional=allowed)


@st.composite
def packets(draw: st.DrawFn) -> tuple[Packet, int]:
    version = draw(versions)
    is_new = version == V5

    def props(packet: int) -> Any:
        return draw(properties(packet)) if is_new else {}

    def answer(kind: Any, number: int, reasons: frozenset[int]) -> Packet:
        return kind(draw(ids), draw(st.sampled_from(sorted(reasons))) if is_new else 0, props(number))

    def wanted() -> Wanted:
        one = Wanted(draw(filters), draw(st.integers(0, 2)))
        if is_new:
            one.no_local, one.retain_as_published = draw(st.booleans()), draw(st.booleans())
            one.retain_handling = draw(st.integers(0, 2))
        return one

    def connect() -> Connect:
        will = Will(draw(names), draw(blobs), draw(st.integers(0, 2)), draw(st.booleans()), props(WILL))
        username = draw(st.none() | texts)
        password = draw(st.none() | blobs) if username is not None or is_new else None
        return Connect(
            draw(texts),
            version,
            draw(st.booleans()),
            draw(st.integers(0, 65_535)),
            draw(st.sampled_from([None, will])),
            username,
            password,
            props(1),
        )

    def publish() -> Publish:
        qos = draw(st.integers(0, 2))
        dup = draw(st.booleans()) if qos else False
        packet_id = draw(ids) if qos else 0
        return Publish(draw(names), draw(blobs), qos, draw(st.booleans()), dup, packet_id, props(3))

    makers = {
        "connect": connect,
        "connack": lambda: ConnAck(draw(st.booleans()), draw(st.integers(0, 5)), props(2)),
        "publish": publish,
        "puback": lambda: answer(PubAck, 4, PUBLISH_ANSWERS),
        "pubrec": lambda: answer(PubRec, 5, PUBLISH_ANSWERS),
        "pubrel": lambda: answer(PubRel, 6, RELEASE_ANSWERS),
        "pubcomp": lambda: answer(PubComp, 7, RELEASE_ANSWERS),
        "subscribe": lambda: Subscribe(
            draw(ids), [wanted() for _ in range(draw(st.integers(1, 3)))], props(8)
        ),
        "suback": lambda: SubAck(draw(ids), draw(st.lists(st.sampled_from([0, 1, 2, 128]))), props(9)),
        "unsubscribe": lambda: Unsubscribe(
            draw(ids), draw(st.lists(filters, min_size=1, max_size=3)), props(10)
        ),
        "unsuback": lambda: (
            UnsubAck(draw(ids), draw(st.lists(st.sampled_from([0, 17, 128]))), props(11))
            if is_new
            else UnsubAck(draw(ids), (), {})
        ),
        "pingreq": PingReq,
        "pingresp": PingResp,
        "disconnect": lambda: (
            Disconnect(draw(st.sampled_from(sorted(DISCONNECT_REASONS))), props(14))
            if is_new
            else Disconnect()
        ),
        "auth": lambda: Auth(draw(st.sampled_from(sorted(AUTH_REASONS))), props(15)),
    }
    if not is_new:
        del makers["auth"]
    return makers[draw(st.sampled_from(sorted(makers)))](), version


@given(packets())
@settings(max_examples=400)
def test_what_is_encoded_is_decoded_to_the_same(drawn: tuple[Packet, int]) -> None:
    packet, version = drawn
    [(first, body)] = FrameReader(LIMIT).feed(encode(packet, version))
    found = decode(first, body, version)
    assert found == packet
    for name in getattr(type(packet), "__slots__", ()):
        assert getattr(found, name) == getattr(packet, name)


@given(st.integers(0, 255), st.binary(max_size=60), versions)
@example(0x30, b"", V5)
@example(0x10, b"\0\4MQTT", V311)
@settings(max_examples=1000)
def test_any_body_is_a_packet_or_malformed(first: int, body: bytes, version: int) -> None:
    try:
        decode(first, body, version)
    except MalformedPacket as failure:
        assert str(failure)


@given(packets(), st.data())
@settings(max_examples=500)
def test_a_damaged_packet_is_a_packet_or_malformed(drawn: tuple[Packet, int], data: st.DataObject) -> None:
    packet, version = drawn
    damaged = bytearray(encode(packet, version))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    reader = FrameReader(LIMIT)
    for first, body in reader.feed(bytes(damaged)):
        try:
            decode(first, body, version)
        except MalformedPacket as failure:
            assert str(failure)


@given(st.lists(packets(), min_size=1, max_size=5), st.lists(st.integers(1, 50), min_size=1))
@settings(max_examples=200)
def test_packets_come_out_however_the_stream_is_cut(
    drawn: list[tuple[Packet, int]], sizes: list[int]
) -> None:
    stream = b"".join(encode(packet, version) for packet, version in drawn)
    reader, found, at, turn = FrameReader(LIMIT), [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        found += reader.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert found == FrameReader(LIMIT).feed(stream)
    assert len(found) == len(drawn)


@given(st.lists(st.binary(max_size=30), max_size=6))
@settings(max_examples=500)
def test_a_stream_of_anything_keeps_little(pieces: list[bytes]) -> None:
    reader = FrameReader(64)
    for piece in pieces:
        for _, body in reader.feed(piece):
            assert len(body) <= 64
    assert reader.failure is None or str(reader.failure)


@pytest.mark.parametrize("length", [b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x01", b"\x80\x00"])
def test_a_length_that_cannot_be_is_refused_before_the_bytes_come(length: bytes) -> None:
    reader = FrameReader(LIMIT)
    assert reader.feed(b"\x30" + length) == []
    assert reader.failure is not None
    assert reader.feed(b"more") == []


def test_packets_before_the_malformed_one_are_served() -> None:
    reader = FrameReader(LIMIT)
    assert reader.feed(b"\xc0\0" + b"\x30\xff\xff\xff\xff") == [(0xC0, b"")]
    assert reader.failure is not None
