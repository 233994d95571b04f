"""A committed offset as a value, and the retention a group gives it."""

from dataclasses import dataclass
from typing import NamedTuple

from moldau.core.ids import NO_LEADER_EPOCH, NO_TIMESTAMP, TOPIC_ID_ZERO, TopicId


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp_ms: int = NO_TIMESTAMP
    expire_timestamp_ms: int = NO_TIMESTAMP
    """Only from clients older than KIP-211, which chose their own retention."""
    topic_id: TopicId = TOPIC_ID_ZERO
    """Zero from clients that commit by topic name."""

    def belongs_to(self, topic_id: TopicId) -> bool:
        """False if it was committed for a deleted topic of the same name."""
        return TOPIC_ID_ZERO in (topic_id, self.topic_id) or topic_id == self.topic_id


class Retention(NamedTuple):
    """When a group's offsets age. A group without one keeps all its offsets for now."""

    since_ms: int | None = None
    """None: each offset ages from its own commit."""
    topics_kept: frozenset[str] = frozenset()

    def expires_at_ms(self, topic: str, committed: CommittedOffset, retention_ms: int) -> int | None:
        """None for a topic that is being read."""
        if topic in self.topics_kept:
            return None
        if committed.expire_timestamp_ms != NO_TIMESTAMP:
            return committed.expire_timestamp_ms
        return (committed.commit_timestamp_ms if self.since_ms is None else self.since_ms) + retention_ms
