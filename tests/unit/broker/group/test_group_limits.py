"""Limits of the group coordinator that take many clients to reach, and what it costs to be large."""

from moldau.broker.group.client import ClientFacts
from moldau.broker.group.settings import PENDING_MEMBERS_MAX, GroupSettings
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest
from scenarios.group.group_runner import GroupRunner

CLIENT = ClientFacts("c", "/h")


def joining(member_id: str = "", group: str = "g") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def reply_to(runner: GroupRunner, request: JoinGroupRequest, version: int = 9) -> JoinGroupResponse:
    reply = runner.answers[runner.ask(request, version, CLIENT)]
    assert isinstance(reply, JoinGroupResponse)
    return reply


def test_ids_given_out_are_limited() -> None:
    runner = GroupRunner(GroupSettings())
    runner.start()
    first = reply_to(runner, joining())
    # One value built at once: ten thousand requests would only show the same.
    group = runner.groups.state.classic("g")
    assert group is not None
    pending = frozenset({*group.pending_joins, *map(str, range(PENDING_MEMBERS_MAX))})
    runner.groups.state._groups["g"] = type(group)("g", pending_joins=pending)
    assert reply_to(runner, joining()).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    runner.ask(joining(first.member_id), 9, CLIENT)
    assert len(runner.waiting) == 1


def test_a_group_of_two_hundred() -> None:
    runner = GroupRunner(GroupSettings())
    runner.start()
    for _ in range(200):
        runner.ask(joining(), 3, CLIENT)
    while len(runner.waiting) > 0:
        runner.fire_next_timer()
    members = {reply.member_id for reply in runner.answers.values() if isinstance(reply, JoinGroupResponse)}
    assert len(members) == 200
    group = runner.groups.state.classic("g")
    assert group is not None and group.generation_id == 1
    for member_id in members:
        runner.ask(SyncGroupRequest(group_id="g", generation_id=1, member_id=member_id), 5, CLIENT)
    assert not runner.waiting
