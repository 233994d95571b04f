"""A consumer group (KIP-848) as a value, with queries on it.

Nothing here changes: `consumer_evolution` makes the next value, and the deciders in this folder say when.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from moldau.broker.group.consumer.consumer_member import ConsumerMember
from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions
from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.broker.group.offsets.committed import Retention
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.list_groups import ListedGroup
from moldau.protocol.stored.consumer_protocol import CONSUMER_PROTOCOL_TYPE

_MEMBER_EPOCH_VERSION: Final = 9
"""From this version on OffsetCommit carries member epochs."""


class ConsumerState(StrEnum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    """A new target assignment is due; the next heartbeat computes it."""
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"
    """Reported for a group that does not exist here."""


class ResolvedRegex(NamedTuple):
    topics: frozenset[str]
    version: int
    resolved_ms: int


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    group_id: str
    epoch: int = 0
    metadata_hash: int = 0
    target_epoch: int = 0
    members: Mapping[str, ConsumerMember] = field(default_factory=dict)
    targets: Mapping[str, TopicIdPartitions] = field(default_factory=dict)
    """The target assignment of each member."""
    regexes: Mapping[str, ResolvedRegex] = field(default_factory=dict)
    has_partition_metadata: bool = False
    topics_version: int | None = None
    """The version of the topics at the last check; None for a group just loaded."""
    topics_seen: Mapping[str, TopicInfo] = field(default_factory=dict)
    topics_seen_ms: int = 0

    @property
    def state(self) -> ConsumerState:
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerState.ASSIGNING
        settled = all(member.is_settled_at(self.target_epoch) for member in self.members.values())
        return ConsumerState.STABLE if settled else ConsumerState.RECONCILING

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def is_forgettable(self) -> bool:
        return self.is_empty

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        members = self.members.values()
        return next((member for member in members if member.instance_id == instance_id), None)

    def target_of(self, member_id: str) -> TopicIdPartitions:
        return self.targets.get(member_id, NO_PARTITIONS)

    def held_by_others(self, member_id: str, partitions: TopicIdPartitions) -> TopicIdPartitions:
        held = NO_PARTITIONS
        for other in self.members.values():
            if other.member_id != member_id and partitions:
                held |= other.holds(partitions)
        return held

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The topics subscribed by name, and those the pattern matched when it was last resolved."""
        regex = self.regexes.get(member.profile.topic_regex)
        return member.profile.topic_names | regex.topics if regex is not None else member.profile.topic_names

    def subscribed_topics(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.topics_of, self.members.values()))

    def subscribed_regexes(self) -> frozenset[str]:
        return frozenset(self._regexes())

    def _regexes(self) -> Iterator[str]:
        return (member.profile.topic_regex for member in self.members.values() if member.profile.topic_regex)

    def preferred_assignor(self, known: Sequence[str]) -> str:
        """The assignor most members ask for; the first known one if nobody asks."""
        votes = [member.profile.server_assignor for member in self.members.values()]
        return max(known, key=votes.count)

    def subscribes_to(self, topic: str) -> bool:
        return topic in self.subscribed_topics()

    def listed(self) -> ListedGroup:
        return ListedGroup(
            group_id=self.group_id,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            group_state=self.state,
            group_type="consumer",
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
        if transactional and generation_id == -1 and not member_id and instance_id is None:
            return ErrorCode.NONE
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not transactional and not member.is_classic and version < _MEMBER_EPOCH_VERSION:
            return ErrorCode.UNSUPPORTED_VERSION
        error = _epoch_error(member, generation_id)
        # Transactional commits know generations only.
        stale = transactional and error is ErrorCode.STALE_MEMBER_EPOCH
        return ErrorCode.ILLEGAL_GENERATION if stale else error

    def session_restarted_ms(self, member_id: str) -> int | None:
        return None

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None and member_epoch < 0:
            return ErrorCode.NONE
        member = self.members.get(member_id or "")
        return ErrorCode.UNKNOWN_MEMBER_ID if member is None else _epoch_error(member, member_epoch)

    def offset_delete_error(self) -> ErrorCode:
        return ErrorCode.NONE

    def retention(self) -> Retention | None:
        return Retention(topics_kept=self.subscribed_topics())


def _epoch_error(member: ConsumerMember, epoch: int) -> ErrorCode:
    if epoch == member.epoch:
        return ErrorCode.NONE
    return ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
