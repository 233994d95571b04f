"""Classic groups and committed offsets in `__consumer_offsets`.

OffsetCommitValue: v1 expiry. v2 no expiry (KIP-211). v3 leader epochs (KIP-320). v4 flexible; topic ids.
GroupMetadataValue: v1 rebalance timeouts. v2 time of the last state change (KIP-211). v3 static members
(KIP-345). v4 flexible.
"""

from collections.abc import Sequence
from typing import ClassVar

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.spec import array, bytestring, int32, int64, message, string, structure, uuid
from moldau.protocol.stored.framing import RecordKey, RecordValue


@message(versions="0", flexible="none")
@structure
class LegacyOffsetCommitKey(RecordKey):
    """Not written since Kafka 0.9. Its value has the same versions as OffsetCommitValue."""

    RECORD_TYPE: ClassVar[int] = 0
    group: str = string()
    topic: str = string()
    partition: int = int32()


@message(versions="0", flexible="none")
@structure
class OffsetCommitKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 1
    group: str = string()
    topic: str = string()
    partition: int = int32()


@message(versions="0-4", flexible="4+")
@structure
class OffsetCommitValue(RecordValue):
    offset: int = int64()
    leader_epoch: int = int32(versions="3+", default=-1, ignorable=True)
    metadata: str = string()
    commit_timestamp: int = int64()
    expire_timestamp: int = int64(versions="1", default=-1, ignorable=True)
    topic_id: TopicId = uuid(versions="4+", default=TOPIC_ID_ZERO, tag=0, ignorable=True)


@message(versions="0", flexible="none")
@structure
class GroupMetadataKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 2
    group: str = string()


@structure
class MemberMetadata:
    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    rebalance_timeout: int = int32(versions="1+", default=-1, ignorable=True)
    """v0 uses the session timeout instead."""
    session_timeout: int = int32()
    subscription: bytes = bytestring()
    assignment: bytes = bytestring()


@message(versions="0-4", flexible="4+")
@structure
class GroupMetadataValue(RecordValue):
    protocol_type: str = string()
    generation: int = int32()
    protocol: str | None = string(nullable="0+")
    leader: str | None = string(nullable="0+")
    current_state_timestamp: int = int64(versions="2+", default=-1, ignorable=True)
    members: Sequence[MemberMetadata] = array(MemberMetadata)
