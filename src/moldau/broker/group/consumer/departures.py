"""Members of a consumer group leave, time out, or are fenced because they keep revoked partitions."""

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic.rebalance import start_rebalance
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_member import LEAVE_STATIC_EPOCH, ConsumerMember, MemberState, Step
from moldau.broker.group.consumer.entry import check_member, consumer_group
from moldau.broker.group.consumer.heartbeat_replies import left_reply
from moldau.broker.group.consumer.member_values import current_recorded
from moldau.broker.group.consumer.topics import renew_epoch
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.migration.downgrade import downgraded
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import RebalanceTimer
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def leave(state: ShardState, call: Call, request: ConsumerGroupHeartbeatRequest) -> GroupOutcome:
    draft = ConsumerDraft(consumer_group(state, request.group_id), state, call.now_ms)
    member = draft.group.members[check_member(draft, request.member_id, request.instance_id)]
    draft.answer(call.request_id, left_reply(member.member_id, request.member_epoch))
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        draft.record(current_recorded(draft.group_id, member.departed()))
        draft.note(ChangeKind.STATIC_MEMBER_AWAY, member)
        draft.cancel(RebalanceTimer(draft.group_id, member.member_id))
    else:
        expel(draft, member, ChangeKind.LEFT)
    return draft.outcome()


def expel(draft: ConsumerDraft, member: ConsumerMember, kind: ChangeKind, detail: str = "") -> None:
    """Fences a member. Its partitions are free at once: a fenced member must give up everything."""
    remove_with_reason(draft, member, kind, detail)
    continue_without_removed(draft)


def remove_with_reason(
    draft: ConsumerDraft, member: ConsumerMember, kind: ChangeKind, detail: str = ""
) -> None:
    draft.note(kind, member, detail)
    draft.remove(member.member_id)


def continue_without_removed(draft: ConsumerDraft) -> None:
    """Continues the rebalance after members were removed."""
    classic = downgraded(draft)
    if classic is None:
        renew_epoch(draft, members_changed=True)
    else:
        start_rebalance(classic)
        draft.add_outcome(classic.outcome())


def decide_consumer_session_timer(draft: ConsumerDraft, member_id: str) -> None:
    member = draft.group.members.get(member_id)
    if member is not None:
        classic = member.profile.classic
        timeout_ms = draft.settings.session_timeout_ms if classic is None else classic.session_timeout_ms
        expel(draft, member, ChangeKind.SESSION_TIMED_OUT, f"no heartbeat for {timeout_ms} ms")


def decide_rebalance_timer(draft: ConsumerDraft, member_id: str) -> None:
    member = draft.group.members.get(member_id)
    if member is None:
        return
    if member.awaited is not None:
        detail = f"no {member.awaited} for {member.profile.rebalance_timeout_ms} ms"
        is_join = member.awaited is Step.JOIN
        expel(draft, member, ChangeKind.DID_NOT_REJOIN if is_join else ChangeKind.DID_NOT_SYNC, detail)
    elif member.state is MemberState.UNREVOKED_PARTITIONS and not member.is_classic:
        detail = f"its rebalance timeout is {member.profile.rebalance_timeout_ms} ms"
        expel(draft, member, ChangeKind.DID_NOT_REVOKE, detail)
