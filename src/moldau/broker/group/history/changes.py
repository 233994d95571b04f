"""The kinds of events in the history, with the words for people."""

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """Why a group rebalances, or did not."""

    JOINED = "joined"
    LEFT = "left"
    SESSION_TIMED_OUT = "session timed out"
    DID_NOT_REJOIN = "did not rejoin in time"
    DID_NOT_SYNC = "did not fetch its assignment in time"
    SUBSCRIPTION_CHANGED = "changed its subscription or metadata"
    LEADER_REJOINED = "asked for a rebalance as leader"
    """A consumer that leads the group has seen a change in topics or partition counts."""
    STATIC_MEMBER_REPLACED = "returned as a static member under a new id"
    STATIC_MEMBER_RETURNED = "returned as a static member under a new id; no rebalance was needed"
    STATIC_MEMBER_AWAY = "left as a static member that will return; its partitions stay assigned to it"
    DID_NOT_REVOKE = "did not revoke its partitions in time"
    TOPICS_CHANGED = "subscribes to topics that have changed"
    GROUP_TOO_LARGE = "was rejected because the group is full"
    LIMIT_LOWERED = "has more members than group.max.size now allows"
    """Concerns the group as a whole; no member is named."""


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    at_ms: int
    member_id: str = ""
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    detail: str = ""
    """The client's own reason (KIP-800), or what changed."""


class OffsetChangeKind(StrEnum):
    MOVED_BACK = "moved back"
    SET_FROM_OUTSIDE = "set from outside the group"
    """By a tool, or by a consumer without group membership."""
    EXPIRED = "expired"
    DELETED = "deleted by request"
    GROUP_DELETED = "deleted with its group"
    TOPIC_DELETED = "deleted with its topic"
    TRANSACTION_ABORTED = "not stored: its transaction was aborted"


@dataclass(frozen=True, slots=True)
class OffsetChange:
    kind: OffsetChangeKind
    at_ms: int
    topic: str
    partition: int
    offset_before: int | None
    offset_after: int | None
    client_id: str = ""
    client_host: str = ""
    detail: str = ""
