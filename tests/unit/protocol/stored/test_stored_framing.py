"""Keys and values of internal topics, byte by byte."""

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.stored.classic_groups import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.stored.consumer_protocol import ConsumerProtocolSubscription, TopicPartitions
from moldau.protocol.stored.framing import (
    decode_key,
    decode_prefix,
    decode_versioned,
    encode_key,
    encode_versioned,
    record_type,
)


def test_key_starts_with_its_record_type() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=7)
    data = encode_key(key)
    assert data == b"\0\1" + b"\0\1g" + b"\0\1t" + b"\0\0\0\7"
    assert record_type(data) == 1
    assert decode_key(OffsetCommitKey, data) == key
    assert encode_key(GroupMetadataKey(group="g"))[:2] == b"\0\2"


@pytest.mark.parametrize("version", range(5))
def test_group_value_in_every_version(version: int) -> None:
    member = MemberMetadata(
        member_id="m",
        client_id="c",
        client_host="/h",
        session_timeout=1,
        subscription=b"s",
        assignment=b"a",
    )
    value = GroupMetadataValue(
        protocol_type="consumer", generation=3, protocol="range", leader="m", members=[member]
    )
    data = encode_versioned(value, version)
    assert data[:2] == version.to_bytes(2, "big")
    assert decode_versioned(GroupMetadataValue, data) == value


def test_value_of_unknown_version_is_refused() -> None:
    with pytest.raises(PeerError, match=r"OffsetCommitValue v5 is not supported, only v0-4"):
        decode_versioned(OffsetCommitValue, b"\0\5" + bytes(30))


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff"])
def test_value_without_version_is_refused(data: bytes) -> None:
    with pytest.raises(PeerError, match="does not start with a version"):
        decode_versioned(OffsetCommitValue, data)


def test_key_without_record_type_is_refused() -> None:
    with pytest.raises(PeerError, match="no record type"):
        record_type(b"\0")


def test_subscription_of_a_newer_version_is_read_as_far_as_known() -> None:
    subscription = ConsumerProtocolSubscription(
        topics=["a", "b"],
        owned_partitions=[TopicPartitions(topic="a", partitions=[0, 2])],
        generation_id=4,
        rack_id="r",
    )
    newer = b"\0\x09" + encode_versioned(subscription, 3)[2:] + b"what nobody knows yet"
    assert decode_prefix(ConsumerProtocolSubscription, newer) == subscription
