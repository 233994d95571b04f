"""A classic group and its members as values, with queries on them.

Owns the states and their transitions. Nothing here changes: `classic_evolution` makes the next value, and the
deciders in this folder say when.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from moldau.broker.group.classic.subscriptions import GroupProtocol, subscribed_topics
from moldau.broker.group.offsets.committed import Retention
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.list_groups import ListedGroup
from moldau.protocol.stored.consumer_protocol import CONSUMER_PROTOCOL_TYPE


class ClassicState(StrEnum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """Reported for a group that does not exist here."""


PREVIOUS: Final[Mapping[ClassicState, frozenset[ClassicState]]] = {
    ClassicState.EMPTY: frozenset({ClassicState.EMPTY, ClassicState.PREPARING_REBALANCE}),
    ClassicState.PREPARING_REBALANCE: frozenset(
        {ClassicState.EMPTY, ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE}
    ),
    ClassicState.COMPLETING_REBALANCE: frozenset({ClassicState.PREPARING_REBALANCE}),
    # Stable may follow Stable: a static member returns under a new id.
    ClassicState.STABLE: frozenset({ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE}),
    ClassicState.DEAD: frozenset({ClassicState.EMPTY}),
}
"""The states from which each state may be entered."""


class InitialDelay(NamedTuple):
    """The delay of the first rebalance of an empty group. It may be extended while members join."""

    delay_ms: int
    remaining_ms: int
    member_added: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str | None
    """The name of a static member (KIP-345)."""
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[GroupProtocol, ...]
    """In the member's order of preference. After a reload only the protocol the group had chosen."""
    assignment: bytes = b""
    is_new: bool = False
    """Has not completed a join phase. Its waiting JoinGroup does not keep its session alive."""
    joining: int | None = None
    """The id of the waiting JoinGroup request."""
    syncing: int | None = None
    """The id of the waiting SyncGroup request."""

    def metadata(self, protocol_name: str) -> bytes | None:
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        return None

    def vote(self, candidates: Collection[str]) -> str:
        return next(name for name, _ in self.protocols if name in candidates)


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    group_id: str
    state: ClassicState = ClassicState.EMPTY
    generation_id: int = 0
    protocol_type: str | None = None
    """None for a simple group: offsets committed without membership."""
    protocol_name: str | None = None
    leader: str | None = None
    state_since_ms: int | None = None
    members: Mapping[str, Member] = field(default_factory=dict)
    """By member id, in the order of joining."""
    pending_joins: frozenset[str] = frozenset()
    """Ids that were assigned and not yet used to join (KIP-394)."""
    pending_syncs: frozenset[str] = frozenset()
    """Members of this generation that have not sent SyncGroup."""
    initial_delay: InitialDelay | None = None
    """Set while a group that was empty prepares its first rebalance."""

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    @property
    def is_forgettable(self) -> bool:
        """Whether the group can be removed once it has no offsets."""
        return self.is_empty and not self.pending_joins

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def members_joining(self) -> int:
        return sum(member.joining is not None for member in self.members.values())

    @property
    def has_all_joined(self) -> bool:
        return not self.pending_joins and self.members_joining == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of all members; a negative one means no wait."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def static_member_id(self, instance_id: str) -> str | None:
        members = self.members.values()
        return next((member.member_id for member in members if member.instance_id == instance_id), None)

    def member_error(self, member_id: str, instance_id: str | None) -> ErrorCode:
        member = self.members.get(member_id)
        if instance_id is None or (member is not None and member.instance_id == instance_id):
            return ErrorCode.NONE if member is not None else ErrorCode.UNKNOWN_MEMBER_ID
        if self.static_member_id(instance_id) is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.FENCED_INSTANCE_ID

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a member with these protocols is compatible with all present members."""
        if self.is_empty:
            return bool(protocol_type) and any(True for _ in names)
        if protocol_type != self.protocol_type:
            return False
        members = self.members.values()
        return any(all(member.metadata(name) is not None for member in members) for name in names)

    def chosen_protocol(self) -> str:
        """The protocol with the most votes among those that all members support. The protocols of the oldest
        member break ties."""
        members = self.members.values()
        first = next(iter(members))
        candidates = {
            name
            for name, _ in first.protocols
            if all(member.metadata(name) is not None for member in members)
        }
        votes = [member.vote(candidates) for member in members]
        return max(dict.fromkeys(votes), key=votes.count)

    def subscribed_topics(self) -> frozenset[str] | None:
        """The topics of all members, if they are consumers; None if the topics are unknown."""
        if not self.uses_consumer_protocol:
            return None
        topics: set[str] = set()
        for member in self.members.values():
            metadata = member.metadata(self.protocol_name or "")
            subscribed = None if metadata is None else subscribed_topics(metadata)
            if subscribed is None:
                return None
            topics |= subscribed
        return frozenset(topics)

    def subscribes_to(self, topic: str) -> bool:
        topics = self.subscribed_topics()
        return self.uses_consumer_protocol if topics is None else topic in topics

    def listed(self) -> ListedGroup:
        return ListedGroup(
            group_id=self.group_id,
            protocol_type=self.protocol_type or "",
            group_state=self.state,
            group_type="classic",
        )

    def commit_error(
        self,
        member_id: str,
        instance_id: str | None,
        generation_id: int,
        *,
        transactional: bool,
        version: int,
    ) -> ErrorCode:
        if generation_id < 0 and self.is_empty:
            return ErrorCode.NONE
        if generation_id >= 0 or member_id or instance_id is not None:
            error = self.member_error(member_id, instance_id)
            if error is not ErrorCode.NONE:
                return error
            if generation_id != self.generation_id:
                return ErrorCode.ILLEGAL_GENERATION
        elif not transactional:
            # Early versions of TxnOffsetCommit name no member; all others must (KIP-447).
            return ErrorCode.UNKNOWN_MEMBER_ID
        if self.state is ClassicState.COMPLETING_REBALANCE and not transactional:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def session_restarted_ms(self, member_id: str) -> int | None:
        member = self.members.get(member_id)
        alive = self.state in (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE)
        return member.session_timeout_ms if member is not None and alive else None

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        """Every client may read the offsets of a classic group."""
        return ErrorCode.NONE

    def offset_delete_error(self) -> ErrorCode:
        if self.is_empty or self.uses_consumer_protocol:
            return ErrorCode.NONE
        return ErrorCode.NON_EMPTY_GROUP

    def retention(self) -> Retention | None:
        """KIP-211: the offsets of an empty group age together. In an active group only those of topics
        without a subscriber age, each by itself."""
        if self.protocol_type is None:
            return Retention()
        if self.is_empty:
            return Retention(since_ms=self.state_since_ms)
        topics = self.subscribed_topics() if self.state is ClassicState.STABLE else None
        return None if topics is None else Retention(topics_kept=topics)
