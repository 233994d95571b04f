"""Durable facts of the group coordinator as records, and back."""

import pytest

from moldau.broker.group.facts import DurableFact, GroupRemoved, GroupSaved, OffsetCommitted, OffsetRemoved
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.broker.group.records import from_record, to_record
from moldau.core.errors import PeerError
from moldau.core.ids import ProducerId, TopicId
from moldau.protocol.stored.classic_groups import (
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    MemberMetadata,
    OffsetCommitValue,
)
from moldau.protocol.stored.framing import encode_key, encode_versioned

COMMITTED = CommittedOffset(offset=42, leader_epoch=3, metadata="note", commit_timestamp_ms=1000)
GROUP = GroupMetadataValue(
    protocol_type="consumer",
    generation=7,
    protocol="range",
    leader="m",
    current_state_timestamp=5,
    members=[
        MemberMetadata(
            member_id="m",
            group_instance_id="i",
            client_id="c",
            client_host="/h",
            rebalance_timeout=2,
            session_timeout=1,
            subscription=b"s",
            assignment=b"a",
        )
    ],
)


@pytest.mark.parametrize(
    "fact",
    [
        GroupSaved("g", GROUP),
        GroupRemoved("g"),
        OffsetCommitted("g", "t", 1, COMMITTED),
        OffsetCommitted("g", "t", 1, CommittedOffset(offset=1, topic_id=TopicId(bytes(range(16))))),
        OffsetCommitted("g", "t", 1, CommittedOffset(offset=1, expire_timestamp_ms=9)),
        OffsetRemoved("g", "t", 1),
    ],
    ids=repr,
)
def test_round_trip(fact: DurableFact) -> None:
    assert from_record(*to_record(fact)) == fact


def test_layouts_are_those_kafka_writes() -> None:
    key, value = to_record(OffsetCommitted("g", "t", 1, COMMITTED))
    assert key == b"\0\1\0\1g\0\1t\0\0\0\1"
    assert value is not None
    offset, epoch, timestamp = (42).to_bytes(8, "big"), (3).to_bytes(4, "big"), (1000).to_bytes(8, "big")
    assert value == b"\0\4" + offset + epoch + b"\5note" + timestamp + b"\0"
    _, with_expiry = to_record(OffsetCommitted("g", "t", 1, CommittedOffset(1, expire_timestamp_ms=9)))
    assert with_expiry is not None and with_expiry[:2] == b"\0\1"
    key, value = to_record(GroupSaved("g", GROUP))
    assert key == b"\0\2\0\1g"
    assert value is not None and value[:2] == b"\0\3"


def test_transactional_commit_is_known_by_its_batch() -> None:
    key, value = to_record(OffsetCommitted("g", "t", 1, COMMITTED))
    fact = from_record(key, value, ProducerId(7))
    assert isinstance(fact, OffsetCommitted) and fact.producer_id == 7


def test_legacy_offset_is_read() -> None:
    key = encode_key(LegacyOffsetCommitKey(group="g", topic="t", partition=1))
    value = encode_versioned(OffsetCommitValue(offset=5, metadata="", commit_timestamp=6), 0)
    expected = CommittedOffset(offset=5, commit_timestamp_ms=6)
    assert from_record(key, value) == OffsetCommitted("g", "t", 1, expected)


def test_unknown_record_types_are_skipped() -> None:
    share_group = b"\0\x0b\0\1g"
    assert from_record(share_group, b"") is None
    assert from_record(b"\x7f\xff whatever", None) is None


def test_unknown_value_layout_is_no_offset_at_all() -> None:
    key, _ = to_record(OffsetRemoved("g", "t", 1))
    with pytest.raises(PeerError):
        from_record(key, b"\0\x09")
