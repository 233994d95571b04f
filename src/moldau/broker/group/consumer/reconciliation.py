"""The reconciliation of one member: the way from its current to its target assignment (KIP-848).

First, at its old epoch, the member gives up partitions that are not in its target. Then, at the new epoch, it
gets the partitions that nobody else holds, and waits for the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_member import ConsumerMember, MemberState
from moldau.broker.group.consumer.member_values import current_recorded
from moldau.broker.group.consumer.target import topic_ids_of
from moldau.broker.group.consumer.topic_id_partitions import NO_PARTITIONS, TopicIdPartitions
from moldau.broker.group.timers import RebalanceTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicId


@dataclass(frozen=True, slots=True)
class Aim:
    """The goal of a member and the circumstances."""

    epoch: int
    target: TopicIdPartitions
    topics: frozenset[TopicId]
    """The topics it subscribes to now; they may have changed since the target was computed."""
    owned: TopicIdPartitions | None
    """As reported by the member; None if it does not report."""
    held_by_others: Callable[[TopicIdPartitions], TopicIdPartitions]

    def still_owns(self, partitions: TopicIdPartitions) -> bool:
        return bool(partitions) and (self.owned is None or bool(self.owned & partitions))


def reconcile(
    draft: ConsumerDraft, member_id: str, owned: TopicIdPartitions | None, *, subscription_changed: bool
) -> ConsumerMember:
    """The member after all steps it can take now."""
    group = draft.group
    member = group.members[member_id]
    if member.is_settled_at(group.target_epoch) and not subscription_changed:
        return member
    aim = Aim(
        group.target_epoch,
        group.target_of(member_id),
        topic_ids_of(draft, member),
        owned,
        lambda partitions: group.held_by_others(member_id, partitions),
    )
    after = reconciled(member, aim)
    if after != member:
        draft.record(current_recorded(group.group_id, after))
        if member.state is MemberState.UNREVOKED_PARTITIONS and not member.is_classic:
            draft.cancel(RebalanceTimer(group.group_id, member_id))
        draft.expect_revocation(after)
    return draft.group.members[member_id]


def reconciled(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    match member.state:
        case MemberState.STABLE if member.epoch == aim.epoch:
            return _without_unsubscribed(member, aim)
        case MemberState.UNREVOKED_PARTITIONS if aim.still_owns(member.revoking):
            return _without_unsubscribed(member, aim)
        case MemberState.UNKNOWN if aim.owned is None or aim.owned:
            raise ApiError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a state that is not known here. "
                "The member must abandon all its partitions and rejoin.",
            )
    return _next(member, aim)


def _without_unsubscribed(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    kept = frozenset(partition for partition in member.assigned if partition[0] in aim.topics)
    revoking = member.revoking | member.assigned - kept
    if kept == member.assigned:
        return member
    return _revoking(member, kept, revoking) if aim.still_owns(revoking) else replace(member, assigned=kept)


def _next(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    target = frozenset(partition for partition in aim.target if partition[0] in aim.topics)
    kept = member.assigned & target
    if aim.still_owns(member.assigned - kept):
        return _revoking(member, kept, member.assigned - kept)
    unreleased = aim.held_by_others(target - kept)
    return replace(
        member,
        epoch=aim.epoch,
        previous_epoch=member.previous_epoch if member.epoch == aim.epoch else member.epoch,
        state=MemberState.UNRELEASED_PARTITIONS if unreleased else MemberState.STABLE,
        assigned=target - unreleased,
        revoking=NO_PARTITIONS,
    )


def _revoking(member: ConsumerMember, kept: TopicIdPartitions, revoking: TopicIdPartitions) -> ConsumerMember:
    return replace(member, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking)
