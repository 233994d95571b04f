"""The answers to JoinGroup and SyncGroup as values."""

from moldau.broker.group.classic.classic_group import ClassicGroup, Member
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.join_group import JoinGroupResponse, JoinGroupResponseMember
from moldau.protocol.messages.groups.sync_group import SyncGroupResponse


def join_refused(error: ErrorCode, member_id: str) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error, member_id=member_id, protocol_name="", leader="", members=[])


def joined(group: ClassicGroup, member: Member, *, skip_assignment: bool = False) -> JoinGroupResponse:
    """The current generation. The answer to the leader lists all members."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=_members(group) if group.leader == member.member_id else [],
    )


def joined_as_follower(group: ClassicGroup, member: Member, leader: str) -> JoinGroupResponse:
    """Like `joined`, for a member that must not assign even if it is the leader."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=leader,
        member_id=member.member_id,
        members=[],
    )


def _members(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            metadata=member.metadata(group.protocol_name or "") or b"",
        )
        for member in group.members.values()
    ]


def sync_refused(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error, assignment=b"")


def synced(group: ClassicGroup, member: Member) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )
