"""Answers of the group coordinator as lines of a transcript."""

from typing import Any

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.delete_groups import DeleteGroupsResponse
from moldau.protocol.messages.describe_groups import DescribeGroupsResponse
from moldau.protocol.messages.heartbeat import HeartbeatResponse
from moldau.protocol.messages.join_group import JoinGroupResponse
from moldau.protocol.messages.leave_group import LeaveGroupResponse
from moldau.protocol.messages.list_groups import ListGroupsResponse
from moldau.protocol.messages.offset_commit import OffsetCommitResponse
from moldau.protocol.messages.offset_delete import OffsetDeleteResponse
from moldau.protocol.messages.offset_fetch import OffsetFetchResponse
from moldau.protocol.messages.sync_group import SyncGroupResponse
from moldau.protocol.messages.txn_offset_commit import TxnOffsetCommitResponse


def printed_reply(reply: Any) -> list[str]:
    match reply:
        case JoinGroupResponse():
            return [_join(reply)]
        case SyncGroupResponse():
            return [f"assignment {reply.assignment.decode()!r}" if not reply.error_code else _name(reply)]
        case LeaveGroupResponse():
            members = [
                f"{member.member_id or member.group_instance_id or 'nobody'} {_name(member)}"
                for member in reply.members
            ]
            return [f"left: {', '.join(members)}" if reply.members else _name(reply)]
        case HeartbeatResponse():
            return [_name(reply)]
        case OffsetCommitResponse() | TxnOffsetCommitResponse() | OffsetDeleteResponse():
            places = [
                f"{topic.name}:{partition.partition_index} {_name(partition)}"
                for topic in reply.topics
                for partition in topic.partitions
            ]
            return places or [_name(reply)]
        case OffsetFetchResponse():
            return _fetched(reply)
        case DescribeGroupsResponse():
            return [line for group in reply.groups for line in _described(group)]
        case ListGroupsResponse():
            groups = [f"{group.group_id} {group.group_state} {group.group_type}" for group in reply.groups]
            return [f"groups: {', '.join(groups) or 'none'}"]
        case DeleteGroupsResponse():
            return [f"{result.group_id} {_name(result)}" for result in reply.results]
    raise AssertionError(f"no words for {reply!r}")


def _name(reply: Any) -> str:
    return ErrorCode(reply.error_code).name if reply.error_code else "ok"


def _join(reply: JoinGroupResponse) -> str:
    if reply.error_code:
        return f"{_name(reply)} as {reply.member_id!r}"
    members = "".join(f" {member.member_id}" for member in reply.members)
    skip = ", skip assignment" if reply.skip_assignment else ""
    return (
        f"joined generation {reply.generation_id} as {reply.member_id}, {reply.protocol_name},"
        f" leader {reply.leader}{', members' + members if members else ''}{skip}"
    )


def _fetched(reply: OffsetFetchResponse) -> list[str]:
    topics = reply.groups[0].topics if reply.groups else reply.topics
    error = reply.groups[0].error_code if reply.groups else reply.error_code
    if error:
        return [ErrorCode(error).name]
    offsets = [
        f"{topic.name}:{partition.partition_index}={partition.committed_offset}"
        + (f" {partition.metadata!r}" if partition.metadata else "")
        + (f" {_name(partition)}" if partition.error_code else "")
        for topic in topics
        for partition in topic.partitions
    ]
    return offsets or ["no offsets"]


def _described(group: Any) -> list[str]:
    error = f" {_name(group)} {group.error_message!r}" if group.error_code else ""
    lines = [
        f"{group.group_id} {group.group_state} {group.protocol_type} {group.protocol_data}".rstrip() + error
    ]
    for member in group.members:
        instance = f" static {member.group_instance_id}" if member.group_instance_id is not None else ""
        metadata = "metadata" if member.member_metadata else "no metadata"
        lines.append(
            f"  {member.member_id}{instance} {member.client_id} {member.client_host} {metadata}"
            f" assignment {member.member_assignment.decode()!r}"
        )
    return lines
