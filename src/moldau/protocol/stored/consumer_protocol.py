"""The opaque bytes of consumers in JoinGroup and SyncGroup: subscriptions and assignments.

The broker passes them on and reads only the topics of a group. Later versions only append fields, so a newer
one is read like the newest known. Subscription: v1 owned partitions (KIP-429). v2 their generation (KIP-792).
v3 rack (KIP-881).
"""

from collections.abc import Sequence
from typing import Final

from moldau.protocol.spec import Message, array, bytestring, int32, message, string, structure

CONSUMER_PROTOCOL_TYPE: Final = "consumer"


@structure
class TopicPartitions:
    topic: str = string()
    partitions: Sequence[int] = array("int32")


@message(versions="0-3", flexible="none")
@structure
class ConsumerProtocolSubscription(Message):
    topics: Sequence[str] = array("string")
    user_data: bytes | None = bytestring(nullable="0+", default=None)
    owned_partitions: Sequence[TopicPartitions] = array(
        TopicPartitions, versions="1+", default=(), ignorable=True
    )
    generation_id: int = int32(versions="2+", default=-1, ignorable=True)
    rack_id: str | None = string(versions="3+", nullable="3+", default=None, ignorable=True)


@message(versions="0-3", flexible="none")
@structure
class ConsumerProtocolAssignment(Message):
    assigned_partitions: Sequence[TopicPartitions] = array(TopicPartitions)
    user_data: bytes | None = bytestring(nullable="0+", default=None)
