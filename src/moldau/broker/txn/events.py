"""The kinds of events in the history of transactional ids, with the words for people."""

from dataclasses import dataclass
from enum import StrEnum

from moldau.core.ids import Millis, TopicPartition


class EventKind(StrEnum):
    LOADED = "loaded from the log"
    """The broker started, or took over from another. Earlier events are unknown."""
    INITIALIZED = "producer got its id and epoch"
    BEGAN = "transaction began"
    PARTITIONS_ADDED = "partitions joined the transaction"
    COMMIT_DECIDED = "commit decided"
    ABORT_DECIDED = "abort decided"
    COMMITTED = "committed: all partitions have their markers"
    ABORTED = "aborted: all partitions have their markers"
    REFUSED = "request rejected"
    MARKERS_BY_ADMIN = "markers written by an administrator"
    """To end a transaction that hangs in a partition and that the coordinator does not know (KIP-664)."""
    EXPIRED = "removed: unused for too long"


class EndReason(StrEnum):
    CLIENT = "its producer requested it"
    TIMEOUT = "it exceeded its timeout"
    NEW_PRODUCER = "another producer initialized with the same transactional id"
    PRODUCER_RESTARTED = "its producer initialized again"


@dataclass(frozen=True, slots=True)
class Event:
    kind: EventKind
    at_ms: Millis
    producer_id: int
    producer_epoch: int
    """Of the transactional id after the event; of the sender if the request was rejected."""
    client_id: str = ""
    client_host: str = ""
    """The client that caused it; empty if it was the coordinator itself."""
    detail: str = ""
    partitions: tuple[TopicPartition, ...] = ()
    partitions_left_out: int = 0
    times: int = 1
    """Equal rejections in a row are one event, with the time of the last."""
