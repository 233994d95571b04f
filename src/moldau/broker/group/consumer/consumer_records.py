"""Encodes facts of consumer groups as records of `__consumer_offsets`, byte for byte as Kafka does."""

from collections.abc import Mapping
from typing import Any, Final

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
from moldau.core.ports import Buffer
from moldau.protocol.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from moldau.protocol.stored.framing import (
    RecordKey,
    RecordValue,
    decode_key,
    decode_versioned,
    encode_key,
    encode_versioned,
)

_VERSION: Final = 0
_LAYOUTS: Final[Mapping[type, tuple[type[RecordKey], type[RecordValue]]]] = {
    EpochRecorded: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    PartitionMetadataRecorded: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    ProfileRecorded: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    TargetEpochRecorded: (
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMetadataValue,
    ),
    TargetRecorded: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    CurrentRecorded: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    RegexRecorded: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
}
"""The fields of a key are the fields of the fact except its value."""
_FACTS: Final[Mapping[int, Any]] = {key.RECORD_TYPE: fact for fact, (key, _) in _LAYOUTS.items()}


_NO_TAGS: Final = b"\0"
_NO_CLASSIC_SIDE: Final = b"\1\0\1\0"
"""How Kafka ends the record of a member of the new protocol: one tagged field, number 0, one byte long, null.
Without it Kafka would take the member for one of the classic protocol without any protocols."""


def to_consumer_record(fact: DurableConsumerFact) -> tuple[bytes, bytes | None]:
    key_type, _ = _LAYOUTS[type(fact)]
    fields = {name: getattr(fact, name) for name in type(fact).__slots__ if name != "value"}
    value = None if fact.value is None else encode_versioned(fact.value, _VERSION)
    if isinstance(fact, ProfileRecorded) and fact.value and fact.value.classic_member_metadata is None:
        value = (value or b"").removesuffix(_NO_TAGS) + _NO_CLASSIC_SIDE
    return encode_key(key_type(**fields)), value


def from_consumer_record(kind: int, key: Buffer, value: Buffer | None) -> DurableConsumerFact | None:
    """None for a record type that does not belong to consumer groups."""
    fact_type = _FACTS.get(kind)
    if fact_type is None:
        return None
    key_type, value_type = _LAYOUTS[fact_type]
    decoded = decode_key(key_type, key)
    fields = {name: getattr(decoded, name) for name in fact_type.__slots__ if name != "value"}
    if value_type is ConsumerGroupMemberMetadataValue and value is not None:
        stripped = bytes(value).removesuffix(_NO_CLASSIC_SIDE)
        value = stripped + _NO_TAGS if len(stripped) < len(value) else value
    stored = None if value is None else decode_versioned(value_type, value)
    fact: DurableConsumerFact = fact_type(**fields, value=stored)
    return fact
