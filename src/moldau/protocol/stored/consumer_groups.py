"""Consumer groups (KIP-848) in `__consumer_offsets`.

Partition metadata was replaced by a hash in the group's own record (KIP-1101): it is still read but no longer
written.
"""

from collections.abc import Sequence
from typing import ClassVar

from moldau.core.ids import TopicId
from moldau.protocol.spec import (
    array,
    bytestring,
    int8,
    int32,
    int64,
    message,
    nested,
    string,
    structure,
    uuid,
)
from moldau.protocol.stored.framing import RecordKey, RecordValue


@message(versions="0", flexible="none")
@structure
class ConsumerGroupMetadataKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 3
    group_id: str = string()


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupMetadataValue(RecordValue):
    epoch: int = int32()
    metadata_hash: int = int64(default=0, tag=0)


@message(versions="0", flexible="none")
@structure
class ConsumerGroupPartitionMetadataKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 4
    group_id: str = string()


@structure
class PartitionMetadata:
    partition: int = int32()
    racks: Sequence[str] = array("string")


@structure
class TopicMetadata:
    topic_id: TopicId = uuid()
    topic_name: str = string()
    num_partitions: int = int32()
    partition_metadata: Sequence[PartitionMetadata] = array(PartitionMetadata)


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupPartitionMetadataValue(RecordValue):
    topics: Sequence[TopicMetadata] = array(TopicMetadata)


@message(versions="0", flexible="none")
@structure
class ConsumerGroupMemberMetadataKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 5
    group_id: str = string()
    member_id: str = string()


@structure
class ClassicProtocol:
    name: str = string()
    metadata: bytes = bytestring()


@structure
class ClassicMemberMetadata:
    session_timeout_ms: int = int32()
    supported_protocols: Sequence[ClassicProtocol] = array(ClassicProtocol)


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupMemberMetadataValue(RecordValue):
    instance_id: str | None = string(nullable="0+")
    rack_id: str | None = string(nullable="0+")
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: Sequence[str] = array("string")
    subscribed_topic_regex: str | None = string(nullable="0+")
    rebalance_timeout_ms: int = int32(default=-1)
    server_assignor: str | None = string(nullable="0+")
    classic_member_metadata: ClassicMemberMetadata | None = nested(
        ClassicMemberMetadata, nullable="0+", default=None, tag=0
    )
    """Only for members that use the classic protocol."""


@message(versions="0", flexible="none")
@structure
class ConsumerGroupTargetAssignmentMetadataKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 6
    group_id: str = string()


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupTargetAssignmentMetadataValue(RecordValue):
    assignment_epoch: int = int32()


@message(versions="0", flexible="none")
@structure
class ConsumerGroupTargetAssignmentMemberKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 7
    group_id: str = string()
    member_id: str = string()


@structure
class AssignedTopicPartitions:
    topic_id: TopicId = uuid()
    partitions: Sequence[int] = array("int32")


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupTargetAssignmentMemberValue(RecordValue):
    topic_partitions: Sequence[AssignedTopicPartitions] = array(AssignedTopicPartitions)


@message(versions="0", flexible="none")
@structure
class ConsumerGroupCurrentMemberAssignmentKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 8
    group_id: str = string()
    member_id: str = string()


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupCurrentMemberAssignmentValue(RecordValue):
    member_epoch: int = int32()
    previous_member_epoch: int = int32()
    state: int = int8()
    assigned_partitions: Sequence[AssignedTopicPartitions] = array(AssignedTopicPartitions)
    partitions_pending_revocation: Sequence[AssignedTopicPartitions] = array(AssignedTopicPartitions)


@message(versions="0", flexible="none")
@structure
class ConsumerGroupRegularExpressionKey(RecordKey):
    RECORD_TYPE: ClassVar[int] = 16
    group_id: str = string()
    regular_expression: str = string()


@message(versions="0", flexible="0+")
@structure
class ConsumerGroupRegularExpressionValue(RecordValue):
    topics: Sequence[str] = array("string")
    version: int = int64()
    timestamp: int = int64()
