"""Consumers as they behave: what they remember, own, and send next. For machines that play with many of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from moldau.broker.group.consumer.topic_id_partitions import (
    NO_PARTITIONS,
    TopicIdPartition,
    TopicIdPartitions,
    by_topic,
    partitions_of,
)
from moldau.broker.group.migration.embedded import assigned_partitions
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.groups.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from moldau.protocol.spec import Request
from moldau.protocol.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.stored.consumer_protocol import TopicPartitions as NamedPartitions
from moldau.protocol.stored.framing import encode_versioned
from scenarios.group.fake_topics import FakeTopics

GROUP = "g"
SESSION_MS, REBALANCE_MS = 300, 200


class Client(Protocol):
    name: str
    member_id: str
    owned: TopicIdPartitions
    """What it really reads from, whatever anybody thinks."""
    waiting: int

    def next_request(self) -> tuple[Request, int]: ...

    def learn(self, request: Request, reply: Any) -> None: ...

    def lost(self, request: Request) -> None:
        """There will be no answer."""

    def obey(self) -> None:
        """Gives up and takes what it was told to."""

    def goodbye(self) -> tuple[Request, int] | None: ...


@dataclass
class NewClient:
    """In the new protocol."""

    name: str
    instance_id: str | None = None
    topics: tuple[str, ...] = ("t",)
    regex: str | None = None
    member_id: str = ""
    epoch: int = 0
    owned: TopicIdPartitions = NO_PARTITIONS
    assigned: TopicIdPartitions = NO_PARTITIONS
    told: bool = False
    lives: int = 0
    waiting: int = 0

    def next_request(self) -> tuple[Request, int]:
        joins = self.epoch == 0
        if joins and not self.member_id:
            self.lives += 1
            self.member_id = f"{self.name}-{self.lives}"
        owned = [
            TopicPartitions(topic_id=topic, partitions=numbers) for topic, numbers in by_topic(self.owned)
        ]
        full = joins or not self.told
        self.told = True
        return ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS if full else -1,
            subscribed_topic_names=list(self.topics) if full else None,
            subscribed_topic_regex=(self.regex or "") if full else None,
            topic_partitions=owned if full else None,
        ), 1

    def learn(self, request: Request, reply: Any) -> None:
        assert isinstance(reply, ConsumerGroupHeartbeatResponse)
        assert isinstance(request, ConsumerGroupHeartbeatRequest)
        if reply.error_code == ErrorCode.FENCED_MEMBER_EPOCH:
            self._start_afresh(self.member_id)
        elif reply.error_code:
            self._start_afresh("")
        elif request.member_epoch >= 0 and reply.member_id == self.member_id:
            self.epoch = reply.member_epoch
            if reply.assignment is not None:
                self.assigned = partitions_of(reply.assignment.topic_partitions)

    def lost(self, request: Request) -> None:
        self.told = False

    def obey(self) -> None:
        if self.owned != self.assigned:
            self.owned, self.told = self.assigned, False

    def goodbye(self) -> tuple[Request, int] | None:
        if not self.member_id:
            return None
        epoch = -1 if self.instance_id is None else -2
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance_id
        )
        self._start_afresh("")
        return request, 1

    def _start_afresh(self, member_id: str) -> None:
        self.member_id, self.epoch, self.told = member_id, 0, False
        self.owned = self.assigned = NO_PARTITIONS


@dataclass
class OldClient:
    """In the classic protocol, giving up everything before it rejoins."""

    name: str
    find_topics: Callable[[], FakeTopics]
    instance_id: str | None = None
    topics: tuple[str, ...] = ("t",)
    regex: str | None = None
    member_id: str = ""
    generation_id: int = -1
    owned: TopicIdPartitions = NO_PARTITIONS
    assigned: TopicIdPartitions = NO_PARTITIONS
    synced: bool = False
    waiting: int = 0
    members: dict[str, bytes] = field(default_factory=dict)
    """Known to a leader."""

    def next_request(self) -> tuple[Request, int]:
        if self.generation_id < 0:
            self.owned = self.assigned = NO_PARTITIONS
            return self._join(), 9
        if not self.synced:
            return self._sync(), 5
        return HeartbeatRequest(
            group_id=GROUP,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        ), 4

    def _join(self) -> JoinGroupRequest:
        metadata = encode_versioned(ConsumerProtocolSubscription(topics=list(self.topics)), 1)
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )

    def _sync(self) -> SyncGroupRequest:
        shares: dict[str, list[TopicIdPartition]] = {member_id: [] for member_id in self.members}
        topics = self.find_topics()
        every = [
            (name, n)
            for name in ("t", "u")
            if (info := topics.find(name))
            for n in range(info.partition_count)
        ]
        for at, place in enumerate(every if shares else ()):
            shares[list(shares)[at % len(shares)]].append(place)  # type: ignore[arg-type]
        assignments = [
            SyncGroupRequestAssignment(
                member_id=member_id,
                assignment=encode_versioned(
                    ConsumerProtocolAssignment(
                        assigned_partitions=[
                            NamedPartitions(topic=str(name), partitions=numbers)
                            for name, numbers in by_topic(share)
                        ]
                    ),
                    1,
                ),
            )
            for member_id, share in shares.items()
        ]
        return SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            assignments=assignments,
        )

    def learn(self, request: Request, reply: Any) -> None:
        error = ErrorCode(reply.error_code)
        if isinstance(reply, JoinGroupResponse) and error in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.member_id, self.generation_id = reply.member_id, reply.generation_id
            self.synced, self.members = False, {member.member_id: b"" for member in reply.members}
        elif isinstance(reply, SyncGroupResponse) and error is ErrorCode.NONE:
            if isinstance(request, SyncGroupRequest) and request.generation_id == self.generation_id:
                self.assigned, self.synced = assigned_partitions(reply.assignment, self.find_topics()), True
        elif isinstance(reply, HeartbeatResponse) and error is ErrorCode.NONE:
            pass
        elif error is ErrorCode.REBALANCE_IN_PROGRESS:
            self.generation_id, self.owned, self.assigned = -1, NO_PARTITIONS, NO_PARTITIONS
        else:
            self.member_id, self.generation_id, self.owned, self.assigned = (
                "",
                -1,
                NO_PARTITIONS,
                NO_PARTITIONS,
            )

    def lost(self, request: Request) -> None:
        if isinstance(request, JoinGroupRequest):
            self.generation_id = -1

    def obey(self) -> None:
        self.owned = self.assigned

    def goodbye(self) -> tuple[Request, int] | None:
        if not self.member_id:
            return None
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        self.member_id, self.generation_id, self.owned, self.assigned = "", -1, NO_PARTITIONS, NO_PARTITIONS
        return LeaveGroupRequest(group_id=GROUP, members=[identity]), 5
