"""Identifies the sender of a heartbeat: a known member, a new one, or a static one back under another id."""

from dataclasses import replace

from moldau.broker.group.classic.subscriptions import reading_change
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.consumer_member import JOIN_EPOCH, ConsumerMember, Profile
from moldau.broker.group.consumer.member_values import current_recorded, profile_recorded, target_recorded
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartitions, partitions_of
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.regex import pattern
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def consumer_group(state: ShardState, group_id: str) -> ConsumerGroup:
    """ApiError GROUP_ID_NOT_FOUND if there is none."""
    group = state.consumer(group_id)
    if group is None:
        why = "not found" if group_id not in state.groups else "is not a consumer group"
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {why}.")
    return group


def heartbeat_sender(
    draft: ConsumerDraft, request: ConsumerGroupHeartbeatRequest, member_id: str
) -> ConsumerMember:
    """The member as it was before this heartbeat. ApiError if it may not join or continue."""
    group, instance_id = draft.group, request.instance_id
    joins = request.member_epoch == JOIN_EPOCH
    known = group.members.get(member_id)
    holder = None if instance_id is None else group.static_member(instance_id)
    if joins and known is None:
        check_room(draft, holder)
    if joins and holder is not None and holder.member_id != member_id:
        if not holder.is_classic and not holder.is_away:
            raise ApiError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} cannot join the group because "
                f"the instance id is owned by {holder.member_id} member.",
            )
        return take_over(draft, holder, member_id)
    if joins:
        return known or ConsumerMember(member_id)
    member = group.members[check_member(draft, member_id, instance_id)]
    owned = None if request.topic_partitions is None else partitions_of(request.topic_partitions)
    _check_epoch(member, request.member_epoch, owned)
    return member


def check_room(draft: ConsumerDraft, replaced: ConsumerMember | None) -> None:
    size_max = draft.settings.group_size_max
    if replaced is None and len(draft.group.members) >= size_max:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size_max} members.",
        )


def check_member(draft: ConsumerDraft, member_id: str, instance_id: str | None) -> str:
    """The member's id, if its instance id agrees."""
    if instance_id is None:
        if member_id not in draft.group.members:
            raise ApiError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {draft.group_id}."
            )
        return member_id
    holder = draft.group.static_member(instance_id)
    if holder is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if holder.member_id != member_id:
        raise ApiError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{holder.member_id}.",
        )
    return member_id


def _check_epoch(member: ConsumerMember, epoch: int, owned: TopicIdPartitions | None) -> None:
    if epoch == member.epoch:
        return
    # The answer with the newer epoch may have been lost.
    lost = epoch == member.previous_epoch and owned is not None and owned <= member.assigned
    if epoch > member.epoch or not lost:
        kind = "greater" if epoch > member.epoch else "smaller"
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The consumer group member has a {kind} member epoch ({epoch}) than the one known by the group "
            f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
        )


def take_over(draft: ConsumerDraft, holder: ConsumerMember, member_id: str) -> ConsumerMember:
    """A static member is back under a new id and takes over all its former state."""
    target = draft.group.target_of(holder.member_id)
    member = replace(holder, member_id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH, awaited=None)
    draft.remove(holder.member_id)
    draft.record(profile_recorded(draft.group_id, member))
    draft.record(target_recorded(draft.group_id, member_id, target))
    draft.record(current_recorded(draft.group_id, member))
    draft.note(ChangeKind.STATIC_MEMBER_RETURNED, member)
    return member


def record_profile(draft: ConsumerDraft, before: ConsumerMember, profile: Profile) -> bool:
    """Records what the member reports about itself. Returns whether its subscription changed."""
    is_new = before.member_id not in draft.group.members
    after = replace(before, profile=profile)
    if profile.topic_regex and profile.topic_regex != before.profile.topic_regex:
        pattern(profile.topic_regex)
    if is_new or profile != before.profile:
        draft.record(profile_recorded(draft.group_id, after))
    changed = not profile.subscribes_as(before.profile)
    if is_new:
        draft.note(ChangeKind.JOINED, after)
    elif changed:
        draft.note(ChangeKind.SUBSCRIPTION_CHANGED, after, _change(before.profile, profile))
    return changed


def _change(before: Profile, after: Profile) -> str:
    def read(profile: Profile) -> frozenset[str]:
        pattern_read = {f"what matches {profile.topic_regex!r}"} if profile.topic_regex else set()
        return profile.topic_names | pattern_read

    return reading_change(read(before), read(after))
