"""A member of a classic group in bare frames: each request as it is written, each answer as it comes."""

from typing import Any

from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

COMMIT_BY_NAME = 9


class RawMember:
    """Alone in its group, and its leader."""

    def __init__(self, wire: WireClient, group: str) -> None:
        self.wire = wire
        self.group = group
        self.member_id = ""
        self.generation = -1

    def join(self) -> None:
        refused = self.ask_to_join(member_id="")
        assert refused.error_code == ErrorCode.MEMBER_ID_REQUIRED
        answer = self.ask_to_join(member_id=refused.member_id)
        assert answer.error_code == 0, ErrorCode(answer.error_code).name
        self.member_id, self.generation = answer.member_id, answer.generation_id
        assert self.sync() == ErrorCode.NONE

    def ask_to_join(self, **changes: Any) -> Any:
        fields: dict[str, Any] = {
            "group_id": self.group,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "member_id": self.member_id,
            "protocol_type": "consumer",
            "protocols": [JoinGroupRequestProtocol(name="range", metadata=b"")],
        }
        return self.wire.call(JoinGroupRequest(**fields | changes))

    def sync(self, **changes: Any) -> ErrorCode:
        assignment = SyncGroupRequestAssignment(member_id=self.member_id, assignment=b"all")
        fields: dict[str, Any] = {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [assignment],
        }
        return ErrorCode(self.wire.call(SyncGroupRequest(**fields | changes)).error_code)

    def heartbeat(self, **changes: Any) -> ErrorCode:
        fields: dict[str, Any] = {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
        }
        return ErrorCode(self.wire.call(HeartbeatRequest(**fields | changes)).error_code)

    def commit(self, topic: str, offset: int = 1, metadata: str = "", **changes: Any) -> ErrorCode:
        place = OffsetCommitRequestPartition(
            partition_index=changes.pop("partition", 0), committed_offset=offset, committed_metadata=metadata
        )
        fields: dict[str, Any] = {
            "group_id": self.group,
            "generation_id_or_member_epoch": self.generation,
            "member_id": self.member_id,
            "topics": [OffsetCommitRequestTopic(name=topic, partitions=[place])],
        }
        answer = self.wire.call(OffsetCommitRequest(**fields | changes), COMMIT_BY_NAME)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def leave(self, member_id: str | None = None) -> ErrorCode:
        identity = MemberIdentity(member_id=self.member_id if member_id is None else member_id)
        answer = self.wire.call(LeaveGroupRequest(group_id=self.group, members=[identity]))
        return ErrorCode(answer.error_code or answer.members[0].error_code)
