"""What happens to transactional ids that people ask about later: the words of the history."""

from dataclasses import dataclass
from enum import StrEnum

from moldau.core.ids import Millis, TopicPartition


class EventKind(StrEnum):
    LOADED = "read from the log"
    """The broker started, or took over from another. Nothing is remembered from before."""
    INITIALIZED = "producer got its id and epoch"
    BEGAN = "transaction began"
    PARTITIONS_ADDED = "partitions joined the transaction"
    COMMIT_DECIDED = "commit decided"
    ABORT_DECIDED = "abort decided"
    COMMITTED = "committed: all partitions have their markers"
    ABORTED = "aborted: all partitions have their markers"
    REFUSED = "request refused"
    MARKERS_BY_ADMIN = "markers written by an administrator"
    """To end what hangs in a partition without the coordinator's knowledge (KIP-664)."""
    EXPIRED = "forgotten: unused for too long"


class EndReason(StrEnum):
    CLIENT = "its producer asked for it"
    TIMEOUT = "it was open for longer than its timeout"
    NEW_PRODUCER = "another producer initialized with the same transactional id"
    PRODUCER_RESTARTED = "its producer initialized again"


@dataclass(frozen=True, slots=True)
class Event:
    kind: EventKind
    at_ms: Millis
    producer_id: int
    producer_epoch: int
    """Of the transactional id after the event; of the one who asked, if refused."""
    client_id: str = ""
    client_host: str = ""
    """Who caused it; empty if it was the coordinator itself."""
    detail: str = ""
    partitions: tuple[TopicPartition, ...] = ()
    partitions_left_out: int = 0
    times: int = 1
    """Refusals alike in a row are one event, told with the time of the last."""
