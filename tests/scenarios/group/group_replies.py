"""Answers of the group coordinator as lines of a transcript."""

from typing import Any

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.consumer_group_describe import ConsumerGroupDescribeResponse
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsResponse
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsResponse
from moldau.protocol.messages.groups.heartbeat import HeartbeatResponse
from moldau.protocol.messages.groups.join_group import JoinGroupResponse
from moldau.protocol.messages.groups.leave_group import LeaveGroupResponse
from moldau.protocol.messages.groups.list_groups import ListGroupsResponse
from moldau.protocol.messages.groups.offset_commit import OffsetCommitResponse
from moldau.protocol.messages.groups.offset_delete import OffsetDeleteResponse
from moldau.protocol.messages.groups.offset_fetch import OffsetFetchResponse
from moldau.protocol.messages.groups.sync_group import SyncGroupResponse
from moldau.protocol.messages.transactions.txn_offset_commit import TxnOffsetCommitResponse
from moldau.protocol.stored.consumer_protocol import ConsumerProtocolAssignment
from moldau.protocol.stored.framing import decode_versioned
from scenarios.group.fake_topics import FakeTopics


def printed_reply(reply: Any, topics: FakeTopics) -> list[str]:
    match reply:
        case ConsumerGroupHeartbeatResponse():
            return [_heartbeat(reply, topics)]
        case ConsumerGroupDescribeResponse():
            return [line for group in reply.groups for line in _described_consumers(group)]
        case JoinGroupResponse():
            return [_join(reply)]
        case SyncGroupResponse():
            return [
                f"assignment {printed_assignment(reply.assignment)}" if not reply.error_code else _name(reply)
            ]
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
            f" assignment {printed_assignment(member.member_assignment)}"
        )
    return lines


def printed_assignment(assignment: bytes) -> str:
    """Scripts assign plain text; a group with members of both protocols does as consumers do."""
    if not assignment.startswith(b"\0"):
        return repr(assignment.decode())
    decoded = decode_versioned(ConsumerProtocolAssignment, assignment)
    shares = [
        f"{topic.topic}:{','.join(map(str, topic.partitions))}" for topic in decoded.assigned_partitions
    ]
    return " ".join(shares) or "nothing"


def _heartbeat(reply: ConsumerGroupHeartbeatResponse, topics: FakeTopics) -> str:
    if reply.error_code:
        return f"{_name(reply)} {reply.error_message!r}"
    share = ""
    if reply.assignment is not None:
        assigned = reply.assignment.topic_partitions
        share = f", has {topics.shown((topic.topic_id, topic.partitions) for topic in assigned)}"
    return f"{reply.member_id} at epoch {reply.member_epoch}{share}"


def _described_consumers(group: Any) -> list[str]:
    if group.error_code:
        return [f"{group.group_id} {group.group_state} {_name(group)} {group.error_message!r}"]
    lines = [
        f"{group.group_id} {group.group_state} epoch {group.group_epoch}"
        f" assignment epoch {group.assignment_epoch} {group.assignor_name}"
    ]
    for member in group.members:
        instance = f" static {member.instance_id}" if member.instance_id is not None else ""
        names = ",".join(member.subscribed_topic_names) or "nothing"
        regex = f" and {member.subscribed_topic_regex}" if member.subscribed_topic_regex else ""
        kind = " classic" if member.member_type == 0 else ""
        lines.append(
            f"  {member.member_id}{instance}{kind} {member.client_id} {member.client_host}"
            f" epoch {member.member_epoch} reads {names}{regex},"
            f" has {_named(member.assignment)} of {_named(member.target_assignment)}"
        )
    return lines


def _named(assignment: Any) -> str:
    shares = [
        f"{topic.topic_name}:{','.join(map(str, topic.partitions))}" for topic in assignment.topic_partitions
    ]
    return " ".join(shares) or "nothing"
