"""The codec over every declared message in every version: round trips, and what hostile bytes do to it."""

import tracemalloc
from typing import Any

import pytest
from codec_messages import message_classes, messages, versions_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moldau.core.errors import PeerError
from moldau.protocol.codec import decode, encode
from moldau.protocol.spec import Message

each_message = pytest.mark.parametrize("cls", message_classes(), ids=lambda cls: cls.__name__)
frugal = settings(
    max_examples=6,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@each_message
@frugal
@given(data=st.data())
def test_decoding_gives_back_what_was_encoded(cls: type[Message], data: st.DataObject) -> None:
    for version in versions_of(cls):
        message = data.draw(messages(cls, version))
        encoded = encode(message, version)
        assert decode(cls, version, encoded) == (message, len(encoded))
        assert decode(cls, version, memoryview(b"before" + encoded), 6) == (message, 6 + len(encoded))


@each_message
@frugal
@given(data=st.data())
def test_every_truncation_is_the_peers_fault(cls: type[Message], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(versions_of(cls)))
    encoded = encode(data.draw(messages(cls, version)), version)
    for size in range(len(encoded)):
        with pytest.raises(PeerError):
            decode(cls, version, encoded[:size])


@each_message
@frugal
@given(data=st.data())
def test_damage_is_decoded_as_something_else_or_is_the_peers_fault(
    cls: type[Message], data: st.DataObject
) -> None:
    version = data.draw(st.sampled_from(versions_of(cls)))
    encoded = encode(data.draw(messages(cls, version)), version)
    flips = data.draw(st.integers(1, 255))
    for position in range(len(encoded)):
        damaged = bytearray(encoded)
        damaged[position] ^= flips
        _decode_or_complain(cls, version, damaged)


@each_message
@frugal
@given(garbage=st.binary(max_size=300))
def test_garbage_is_decoded_as_something_or_is_the_peers_fault(cls: type[Message], garbage: bytes) -> None:
    for version in versions_of(cls):
        _decode_or_complain(cls, version, garbage)


@each_message
@settings(frugal, max_examples=2)
@given(data=st.data())
def test_a_claimed_length_allocates_nothing(cls: type[Message], data: st.DataObject) -> None:
    """At every position of a valid frame, the bytes that would be the largest lengths follow instead."""
    frames = []
    for version in {cls.VERSIONS.low, cls.VERSIONS.high}:
        encoded = encode(data.draw(messages(cls, version)), version)[:100]
        for size in range(len(encoded)):
            for claim in (b"\x7f\xff\xff\xff", b"\x7f\xff", b"\xff\xff\xff\xff\x07"):
                frames.append((version, encoded[:size] + claim + bytes(20)))
        _decode_or_complain(cls, version, encoded)
    tracemalloc.start()
    try:
        for version, frame in frames:
            _decode_or_complain(cls, version, frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def _decode_or_complain(cls: type[Message], version: int, buffer: Any) -> None:
    try:
        _, end = decode(cls, version, buffer)
    except PeerError:
        return
    assert end <= len(buffer)
