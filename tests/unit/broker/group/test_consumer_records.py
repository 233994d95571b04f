"""Facts of consumer groups as records, and back: Kafka's bytes."""

import pytest

from moldau.broker.group.classic.subscriptions import GroupProtocol
from moldau.broker.group.consumer.consumer_facts import (
    CurrentRecorded,
    DurableConsumerFact,
    EpochRecorded,
    PartitionMetadataRecorded,
    ProfileRecorded,
    RegexRecorded,
    TargetEpochRecorded,
    TargetRecorded,
)
from moldau.broker.group.consumer.consumer_member import ClassicSide, ConsumerMember, MemberState, Profile
from moldau.broker.group.consumer.member_values import (
    current_recorded,
    profile_of,
    profile_recorded,
    target_recorded,
)
from moldau.broker.group.records import from_record, to_record
from moldau.core.ids import TopicId
from moldau.protocol.stored.consumer_groups import (
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    PartitionMetadata,
    TopicMetadata,
)

TOPIC = TopicId(bytes(range(16)))
PLACES = frozenset({(TOPIC, 2), (TOPIC, 0)})
NEW = ConsumerMember(
    "m",
    Profile("i", "r", "c", "/h", frozenset({"b", "a"}), "x.*", 9, "range"),
    epoch=3,
    previous_epoch=2,
    state=MemberState.UNREVOKED_PARTITIONS,
    assigned=PLACES,
    revoking=frozenset({(TOPIC, 1)}),
)
CLASSIC = ConsumerMember("m", Profile(classic=ClassicSide(256, (GroupProtocol("range", b"\1\2"),))))
OLD_TOPIC = TopicMetadata(
    topic_id=TOPIC,
    topic_name="t",
    num_partitions=1,
    partition_metadata=[PartitionMetadata(partition=0, racks=["r"])],
)


@pytest.mark.parametrize(
    "fact",
    [
        EpochRecorded("g", ConsumerGroupMetadataValue(epoch=1, metadata_hash=-5)),
        EpochRecorded("g", None),
        PartitionMetadataRecorded("g", ConsumerGroupPartitionMetadataValue(topics=[OLD_TOPIC])),
        profile_recorded("g", NEW),
        profile_recorded("g", CLASSIC),
        profile_recorded("g", ConsumerMember("m")),
        ProfileRecorded("g", "m", None),
        TargetEpochRecorded("g", ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=2)),
        target_recorded("g", "m", PLACES),
        target_recorded("g", "m", frozenset()),
        current_recorded("g", NEW),
        RegexRecorded("g", "x.*", ConsumerGroupRegularExpressionValue(topics=["x"], version=3, timestamp=4)),
        RegexRecorded("g", "x.*", None),
    ],
    ids=repr,
)
def test_round_trip(fact: DurableConsumerFact) -> None:
    assert from_record(*to_record(fact)) == fact


@pytest.mark.parametrize("member", [NEW, CLASSIC, ConsumerMember("m")])
def test_profiles_come_back(member: ConsumerMember) -> None:
    value = profile_recorded("g", member).value
    assert value is not None and profile_of(value) == member.profile


GROUP_KEY, MEMBER_KEY = b"\0\1g", b"\0\1g\0\1m"


@pytest.mark.parametrize(
    ("fact", "key", "value"),
    [
        (
            EpochRecorded("g", ConsumerGroupMetadataValue(epoch=1)),
            b"\0\3" + GROUP_KEY,
            b"\0\0\0\0\0\1\0",
        ),
        (
            EpochRecorded("g", ConsumerGroupMetadataValue(epoch=1, metadata_hash=5)),
            b"\0\3" + GROUP_KEY,
            b"\0\0\0\0\0\1\1\0\x08\0\0\0\0\0\0\0\5",
        ),
        (
            # Kafka says in a tag that there is no classic side.
            profile_recorded("g", ConsumerMember("m", Profile(client_id="c", client_host="/h"))),
            b"\0\5" + MEMBER_KEY,
            b"\0\0\0\0\2c\3/h\1\1\xff\xff\xff\xff\0\1\0\1\0",
        ),
        (
            profile_recorded("g", CLASSIC),
            b"\0\5" + MEMBER_KEY,
            b"\0\0\0\0\1\1\1\1\xff\xff\xff\xff\0\1\0\x11\1\0\0\1\0\2\6range\3\1\2\0\0",
        ),
        (target_recorded("g", "m", frozenset()), b"\0\7" + MEMBER_KEY, b"\0\0\1\0"),
        (
            current_recorded("g", ConsumerMember("m", epoch=2, previous_epoch=1, assigned=PLACES)),
            b"\0\x08" + MEMBER_KEY,
            b"\0\0\0\0\0\2\0\0\0\1\0\2" + TOPIC + b"\3\0\0\0\0\0\0\0\2\0\1\0",
        ),
        (RegexRecorded("g", "x", None), b"\0\x10\0\1g\0\1x", None),
    ],
)
def test_bytes(fact: DurableConsumerFact, key: bytes, value: bytes | None) -> None:
    assert to_record(fact) == (key, value)


def test_a_state_that_is_not_known_here() -> None:
    key, value = to_record(current_recorded("g", ConsumerMember("m")))
    assert value is not None
    fact = from_record(key, value[:10] + b"\x63" + value[11:])
    assert isinstance(fact, CurrentRecorded) and fact.value is not None and fact.value.state == 99


def test_targets_are_known_by_their_member() -> None:
    fact = from_record(*to_record(target_recorded("g", "m", PLACES)))
    assert isinstance(fact, TargetRecorded) and fact.member_id == "m"
