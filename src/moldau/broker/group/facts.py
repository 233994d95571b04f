"""The facts of the group coordinator: the only input of `replay`.

Durable facts are written to `__consumer_offsets` (`records` encodes them) and replayed at a reload. Volatile
ones are replayed once and lost with the process: waiting requests, and entries of the history.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

from moldau.broker.group.classic.classic_group import InitialDelay, Member
from moldau.broker.group.consumer.consumer_facts import ConsumerFact, DurableConsumerFact
from moldau.broker.group.history.changes import Change, OffsetChange
from moldau.broker.group.offsets.committed import CommittedOffset
from moldau.core.ids import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerEpoch, ProducerId
from moldau.protocol.stored.classic_groups import GroupMetadataValue


@dataclass(frozen=True, slots=True)
class GroupSaved:
    """A generation with its assignments, or an empty group."""

    group_id: str
    value: GroupMetadataValue


@dataclass(frozen=True, slots=True)
class GroupRemoved:
    """Of a classic group. Consumer groups are removed with their epoch."""

    group_id: str


@dataclass(frozen=True, slots=True)
class OffsetCommitted:
    group_id: str
    topic: str
    partition: int
    committed: CommittedOffset
    producer_id: ProducerId = NO_PRODUCER_ID
    """Set if the offset counts only once this producer's transaction commits; it is written under that id and
    epoch."""
    producer_epoch: ProducerEpoch = NO_PRODUCER_EPOCH


@dataclass(frozen=True, slots=True)
class OffsetRemoved:
    group_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class TransactionEnded:
    """In the log it is a control batch, written by the marker writer; replayed after that."""

    producer_id: ProducerId
    committed: bool


@dataclass(frozen=True, slots=True)
class MemberIdGiven:
    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberIdWithdrawn:
    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class MemberAdded:
    group_id: str
    member: Member
    protocol_type: str


@dataclass(frozen=True, slots=True)
class MemberUpdated:
    """The member joined again, perhaps with other protocols and timeouts."""

    group_id: str
    member: Member


@dataclass(frozen=True, slots=True)
class MemberReplaced:
    """A static member came back without its id and got a new one."""

    group_id: str
    member_id_before: str
    member: Member


@dataclass(frozen=True, slots=True)
class MemberRemoved:
    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class RebalanceStarted:
    group_id: str
    at_ms: int
    initial_delay: InitialDelay | None = None


@dataclass(frozen=True, slots=True)
class InitialDelayExtended:
    group_id: str
    initial_delay: InitialDelay


@dataclass(frozen=True, slots=True)
class GenerationFormed:
    """The join phase is over; the group waits for the leader's assignment."""

    group_id: str
    generation_id: int
    protocol_name: str
    leader: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class SyncReceived:
    group_id: str
    member_id: str
    waiting: int | None
    """The request that waits for the leader's assignment."""


@dataclass(frozen=True, slots=True)
class GroupLoaded:
    """This coordinator loaded the group from the log. Its history starts here."""

    group_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class EpochStarted:
    """A consumer group has a new epoch, for the reasons noted before."""

    group_id: str
    epoch: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class EpochAssigned:
    """The target assignment is computed."""

    group_id: str
    epoch: int
    at_ms: int
    assignor: str
    members: int


@dataclass(frozen=True, slots=True)
class EpochSettled:
    """All members have reached their target."""

    group_id: str
    epoch: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class ProtocolChanged:
    """The group moved between the classic and the consumer protocol with its members."""

    group_id: str
    at_ms: int
    group_type: str


@dataclass(frozen=True, slots=True)
class RemovalNoted:
    group_id: str
    at_ms: int
    why: str


@dataclass(frozen=True, slots=True)
class ChangeNoted:
    group_id: str
    change: Change


@dataclass(frozen=True, slots=True)
class OffsetChangeNoted:
    group_id: str
    change: OffsetChange


ClassicFact = (
    GroupSaved
    | MemberIdGiven
    | MemberIdWithdrawn
    | MemberAdded
    | MemberUpdated
    | MemberReplaced
    | MemberRemoved
    | RebalanceStarted
    | InitialDelayExtended
    | GenerationFormed
    | SyncReceived
)
OffsetFact = OffsetCommitted | OffsetRemoved | TransactionEnded
DurableFact = GroupSaved | GroupRemoved | OffsetCommitted | OffsetRemoved | DurableConsumerFact
HistoryFact = (
    GroupLoaded
    | EpochStarted
    | EpochAssigned
    | EpochSettled
    | ProtocolChanged
    | RemovalNoted
    | ChangeNoted
    | OffsetChangeNoted
)
GroupFact = ClassicFact | ConsumerFact | OffsetFact | GroupRemoved | HistoryFact


def is_durable(fact: Any) -> TypeGuard[DurableFact]:
    return isinstance(fact, DurableFact)
