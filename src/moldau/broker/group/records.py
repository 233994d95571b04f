"""Encodes durable facts as records of `__consumer_offsets`, byte for byte as Kafka does."""

from typing import Final

from moldau.broker.group.consumer.consumer_records import from_consumer_record, to_consumer_record
from moldau.broker.group.facts import DurableFact, GroupRemoved, GroupSaved, OffsetCommitted, OffsetRemoved
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.core.ids import NO_PRODUCER_ID, NO_TIMESTAMP, ProducerId
from moldau.core.ports import Buffer
from moldau.protocol.stored.classic_groups import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.stored.framing import (
    decode_key,
    decode_versioned,
    encode_key,
    encode_versioned,
    record_type,
)

GROUP_METADATA_VERSION: Final = 3
OFFSET_COMMIT_VERSION: Final = 4
OFFSET_COMMIT_VERSION_WITH_EXPIRY: Final = 1
"""The only version with an expiry."""


def to_record(fact: DurableFact) -> tuple[bytes, bytes | None]:
    """Key and value; None as value is a tombstone."""
    match fact:
        case GroupSaved(group_id, value):
            key = encode_key(GroupMetadataKey(group=group_id))
            return key, encode_versioned(value, GROUP_METADATA_VERSION)
        case GroupRemoved(group_id):
            return encode_key(GroupMetadataKey(group=group_id)), None
        case OffsetCommitted(group_id, topic, partition, committed):
            return _offset_key(group_id, topic, partition), _offset_value(committed)
        case OffsetRemoved(group_id, topic, partition):
            return _offset_key(group_id, topic, partition), None
        case _:
            return to_consumer_record(fact)


def from_record(
    key: Buffer, value: Buffer | None, producer_id: ProducerId = NO_PRODUCER_ID
) -> DurableFact | None:
    """None for unknown record types, which are skipped. The producer is that of a transactional batch."""
    kind = record_type(key)
    if kind == GroupMetadataKey.RECORD_TYPE:
        group_id = decode_key(GroupMetadataKey, key).group
        if value is None:
            return GroupRemoved(group_id)
        return GroupSaved(group_id, decode_versioned(GroupMetadataValue, value))
    if kind == OffsetCommitKey.RECORD_TYPE:
        committed = decode_key(OffsetCommitKey, key)
        return _offset_fact(committed.group, committed.topic, committed.partition, value, producer_id)
    if kind == LegacyOffsetCommitKey.RECORD_TYPE:
        legacy = decode_key(LegacyOffsetCommitKey, key)
        return _offset_fact(legacy.group, legacy.topic, legacy.partition, value, producer_id)
    return from_consumer_record(kind, key, value)


def _offset_key(group_id: str, topic: str, partition: int) -> bytes:
    return encode_key(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def _offset_value(committed: CommittedOffset) -> bytes:
    has_expiry = committed.expire_timestamp_ms != NO_TIMESTAMP
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=committed.expire_timestamp_ms,
        topic_id=committed.topic_id,
    )
    return encode_versioned(value, OFFSET_COMMIT_VERSION_WITH_EXPIRY if has_expiry else OFFSET_COMMIT_VERSION)


def _offset_fact(
    group_id: str, topic: str, partition: int, value: Buffer | None, producer_id: ProducerId
) -> DurableFact:
    if value is None:
        return OffsetRemoved(group_id, topic, partition)
    stored = decode_versioned(OffsetCommitValue, value)
    committed = CommittedOffset(
        offset=stored.offset,
        leader_epoch=stored.leader_epoch,
        metadata=stored.metadata,
        commit_timestamp_ms=stored.commit_timestamp,
        expire_timestamp_ms=stored.expire_timestamp,
        topic_id=stored.topic_id,
    )
    return OffsetCommitted(group_id, topic, partition, committed, producer_id)
