"""ConsumerGroupHeartbeat: members of a consumer group join, stay, say what they read and own, and leave (KIP-848).

v1 lets the member make its own id (KIP-1082) and subscribe by a pattern.
"""

from typing import Final

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    Profile,
)
from moldau.broker.group.consumer.departures import leave
from moldau.broker.group.consumer.entry import consumer_group, introduce, member_to_be
from moldau.broker.group.consumer.heartbeat_replies import heartbeat_refused, heartbeat_reply
from moldau.broker.group.consumer.reconciliation import reconcile
from moldau.broker.group.consumer.target import assign_if_due
from moldau.broker.group.consumer.topic_id_partitions import partitions_of
from moldau.broker.group.consumer.topics import has_seen_all_topics, renew_epoch
from moldau.broker.group.migration.upgrade import draft_to_join
from moldau.broker.group.state import ShardState
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

_OWN_ID_VERSION: Final = 1
_UNCHANGED: Final = -1


def consumer_group_heartbeat(
    state: ShardState, call: Call, request: ConsumerGroupHeartbeatRequest
) -> GroupOutcome:
    try:
        _check(state, call, request)
        if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
            return leave(state, call, request)
        return _beat(state, call, request)
    except ApiError as error:
        return call.answered(heartbeat_refused(error))


def _check(state: ShardState, call: Call, request: ConsumerGroupHeartbeatRequest) -> None:
    epoch = request.member_epoch
    needs_id = call.version >= _OWN_ID_VERSION or epoch > JOIN_EPOCH or epoch == LEAVE_EPOCH
    if needs_id and not request.member_id:
        raise _invalid("MemberId can't be empty.")
    if not request.group_id:
        raise _invalid("GroupId can't be empty.")
    if request.instance_id == "":
        raise _invalid("InstanceId can't be empty.")
    if request.rack_id == "":
        raise _invalid("RackId can't be empty.")
    if epoch == JOIN_EPOCH:
        _check_join(request)
    if epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    if epoch < LEAVE_STATIC_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    known = state.consumer_settings(request.group_id).assignors
    if request.server_assignor is not None and request.server_assignor not in known:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(known)}.",
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == _UNCHANGED:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _beat(state: ShardState, call: Call, request: ConsumerGroupHeartbeatRequest) -> GroupOutcome:
    joins = request.member_epoch == JOIN_EPOCH
    draft = draft_to_join(state, call, request.group_id) if joins else _draft(state, call, request.group_id)
    before = member_to_be(draft, request, request.member_id or call.new_id)
    owned = None if request.topic_partitions is None else partitions_of(request.topic_partitions)
    changed = introduce(draft, before, _profile(call, request, before.profile))
    if changed or draft.group.epoch == 0 or not has_seen_all_topics(draft):
        renew_epoch(draft, members_changed=changed or draft.group.epoch == 0)
    assign_if_due(draft)
    member = reconcile(draft, before.member_id, owned, subscription_changed=changed)
    draft.expect(member)
    tells_all = (
        request.rebalance_timeout_ms != _UNCHANGED
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and owned is not None
    )
    with_assignment = joins or tells_all or member.assigned != before.assigned
    draft.answer(call.request_id, heartbeat_reply(member, draft.settings, with_assignment=with_assignment))
    return draft.outcome()


def _draft(state: ShardState, call: Call, group_id: str) -> ConsumerDraft:
    if group_id not in state.groups:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
    return ConsumerDraft(consumer_group(state, group_id), state, call.now_ms)


def _profile(call: Call, request: ConsumerGroupHeartbeatRequest, known: Profile) -> Profile:
    """What the request leaves out has not changed."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return Profile(
        instance_id=known.instance_id if request.instance_id is None else request.instance_id,
        rack_id=known.rack_id if request.rack_id is None else request.rack_id,
        client_id=call.client.client_id,
        client_host=call.client.host,
        topic_names=known.topic_names if names is None else frozenset(names),
        topic_regex=known.topic_regex if regex is None else regex,
        rebalance_timeout_ms=known.rebalance_timeout_ms if timeout_ms == _UNCHANGED else timeout_ms,
        server_assignor=known.server_assignor if request.server_assignor is None else request.server_assignor,
    )
