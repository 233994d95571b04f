"""A member of a consumer group as a value: what it reported and the progress of its reconciliation."""

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Final

from moldau.broker.group.classic.subscriptions import GroupProtocol
from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_STATIC_EPOCH: Final = -2
"""A static member has left and will return before its session expires."""


class MemberState(IntEnum):
    """The numbers of the stored records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """Must give up partitions first."""
    UNRELEASED_PARTITIONS = 2
    """Waits for partitions that others have not given up."""
    UNKNOWN = 127


class Step(StrEnum):
    """The next step of the classic protocol that a member owes its consumer group."""

    JOIN = "JoinGroup"
    SYNC = "SyncGroup"


@dataclass(frozen=True, slots=True)
class ClassicSide:
    """The state of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[GroupProtocol, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a member reports about itself."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    topic_regex: str = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicSide | None = None

    def subscribes_as(self, other: "Profile") -> bool:
        return self.topic_names == other.topic_names and self.topic_regex == other.topic_regex


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    member_id: str
    profile: Profile = Profile()
    epoch: int = JOIN_EPOCH
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: TopicIdPartitions = NO_PARTITIONS
    revoking: TopicIdPartitions = NO_PARTITIONS
    """Still the member's until it confirms the revocation."""
    awaited: Step | None = None

    @property
    def instance_id(self) -> str | None:
        return self.profile.instance_id

    @property
    def client_id(self) -> str:
        return self.profile.client_id

    @property
    def client_host(self) -> str:
        return self.profile.client_host

    @property
    def is_classic(self) -> bool:
        return self.profile.classic is not None

    @property
    def is_away(self) -> bool:
        return self.epoch == LEAVE_STATIC_EPOCH

    @property
    def held(self) -> TopicIdPartitions:
        return self.assigned | self.revoking

    def holds(self, partitions: TopicIdPartitions) -> TopicIdPartitions:
        return partitions & self.assigned | partitions & self.revoking

    def is_settled_at(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch

    def departed(self) -> "ConsumerMember":
        """The value of a static member that is away."""
        return replace(self, epoch=LEAVE_STATIC_EPOCH, revoking=NO_PARTITIONS)
