"""Distinct types for numbers that must not be confused: offsets, epochs, sizes, ids.

They have names and a printed form, and no other behaviour.
"""

import base64
from typing import Final, NamedTuple, NewType

Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
ProducerEpoch = NewType("ProducerEpoch", int)
BrokerId = NewType("BrokerId", int)
Position = NewType("Position", int)
"""A byte position inside a file."""
Millis = NewType("Millis", int)
"""Milliseconds: a point in time since the Unix epoch, or a span."""
TopicId = NewType("TopicId", bytes)
"""A topic's 16-byte identity, which outlives its name."""

TOPIC_ID_ZERO: Final = TopicId(bytes(16))
NO_TIMESTAMP: Final = Millis(-1)
NO_PRODUCER_ID: Final = ProducerId(-1)
NO_PRODUCER_EPOCH: Final = ProducerEpoch(-1)
NO_SEQUENCE: Final = -1
NO_LEADER_EPOCH: Final = LeaderEpoch(-1)


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def topic_id_text(topic_id: TopicId) -> str:
    """The form Kafka prints and stores: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def topic_id_parse(text: str) -> TopicId:
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != 16:
        raise ValueError(f"a topic id has 16 bytes, {text!r} has {len(raw)}")
    return TopicId(raw)
