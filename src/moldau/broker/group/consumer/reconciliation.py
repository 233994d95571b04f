"""How one member of a consumer group gets from what it has to what it is to have (KIP-848).

It gives up first, at its old epoch, what is not to be its own; then it gets, at the new epoch, what nobody else holds
any more; and it waits for the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_member import ConsumerMember, MemberState
from moldau.broker.group.consumer.member_values import current_recorded
from moldau.broker.group.consumer.places import NOWHERE, Places
from moldau.broker.group.consumer.target import topic_ids_of
from moldau.broker.group.timers import RebalanceTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicId


@dataclass(frozen=True, slots=True)
class Aim:
    """What a member is to become, and what stands in the way."""

    epoch: int
    target: Places
    topics: frozenset[TopicId]
    """Those it subscribes to, which may have changed since the target was computed."""
    owned: Places | None
    """As the member says; None if it does not say."""
    held_by_others: Callable[[Places], Places]

    def still_owns(self, places: Places) -> bool:
        return bool(places) and (self.owned is None or bool(self.owned & places))


def reconcile(
    draft: ConsumerDraft, member_id: str, owned: Places | None, *, subscription_changed: bool
) -> ConsumerMember:
    """The member as far as it can get now."""
    group = draft.group
    member = group.members[member_id]
    if member.is_settled_at(group.target_epoch) and not subscription_changed:
        return member
    aim = Aim(
        group.target_epoch,
        group.target_of(member_id),
        topic_ids_of(draft, member),
        owned,
        lambda places: group.held_by_others(member_id, places),
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
    kept = frozenset(place for place in member.assigned if place[0] in aim.topics)
    revoking = member.revoking | member.assigned - kept
    if kept == member.assigned:
        return member
    return _revoking(member, kept, revoking) if aim.still_owns(revoking) else replace(member, assigned=kept)


def _next(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    target = frozenset(place for place in aim.target if place[0] in aim.topics)
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
        revoking=NOWHERE,
    )


def _revoking(member: ConsumerMember, kept: Places, revoking: Places) -> ConsumerMember:
    return replace(member, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, revoking=revoking)
