"""The group coordinator under random requests, timers, clock jumps and crashes.

After every step: what was written rebuilds what is durable; every timer has its reason and every reason its timer;
whoever waits is known to somebody. At the end, when nobody asks any more, everything comes to rest.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState
from moldau.broker.group.classic.rebalance import saved
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import GroupRemoved, TransactionEnded
from moldau.broker.group.machine import GroupMachine
from moldau.broker.group.records import from_record
from moldau.broker.group.settings import GroupSettings
from moldau.broker.group.timers import JoinTimer, RetentionTimer, SessionTimer, SyncTimer
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import ProducerId
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from moldau.protocol.messages.groups.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from moldau.protocol.messages.groups.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from moldau.protocol.messages.transactions.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from moldau.protocol.spec import Request
from moldau.protocol.stored.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.stored.framing import encode_versioned
from property.examples import machine_settings
from scenarios.group.group_runner import GroupRunner, loaded

SETTINGS = GroupSettings(
    initial_rebalance_delay_ms=100,
    session_timeout_min_ms=10,
    group_size_max=4,
    offset_metadata_length_max=4,
    offsets_retention_ms=2_000,
    offsets_retention_check_interval_ms=250,
)
PARTITIONS = range(4)
TIMERS_UNTIL_REST = 1000

groups = st.sampled_from(["g", "g", "g", "h"])
clients = st.sampled_from(["a", "b", "c", "d", "static-1", "static-2"])
protocols = st.sampled_from([("range", "sticky"), ("sticky", "range"), ("sticky",), ()])
topics = st.sampled_from([("t",), ("t", "u"), ("u",)])
partitions = st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 1))
producers = st.sampled_from([1, 2])
crowd = st.lists(clients, min_size=1, max_size=6, unique=True)
spans = st.sampled_from([0, 0, 20, 100])


@dataclass
class Client:
    """What a consumer remembers."""

    member_id: str = ""
    generation_id: int = -1
    assigned: bool = False
    waiting: int = 0

    def learn(self, reply: Any) -> None:
        error = ErrorCode(getattr(reply, "error_code", 0))
        if isinstance(reply, JoinGroupResponse) and error in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.member_id, self.generation_id, self.assigned = reply.member_id, reply.generation_id, False
        elif isinstance(reply, SyncGroupResponse) and error is ErrorCode.NONE:
            self.assigned = True
        elif error is ErrorCode.REBALANCE_IN_PROGRESS:
            self.generation_id, self.assigned = -1, False
        elif error is not ErrorCode.NONE:
            self.member_id, self.generation_id, self.assigned = "", -1, False


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.shadow = GroupMachine(SETTINGS)
        self.shadow_read = 0
        self.runner = GroupRunner(SETTINGS, self.see)
        self.clients: defaultdict[tuple[str, str], Client] = defaultdict(Client)
        self.askers: dict[int, tuple[str, str, Request]] = {}
        self.owners: dict[tuple[str, int, int], str] = {}
        self.runner.start()

    def see(self, outcome: GroupOutcome) -> None:
        for fact in outcome.facts:
            if isinstance(fact, GroupRemoved):
                self.owners = {key: owner for key, owner in self.owners.items() if key[0] != fact.group_id}
        for answer in outcome.answers:
            if answer.request_id in self.askers:
                self.learn(*self.askers.pop(answer.request_id), answer.reply)

    def learn(self, group: str, name: str, request: Request, reply: Any) -> None:
        client = self.clients[group, name]
        client.waiting -= 1
        client.learn(reply)
        if isinstance(request, SyncGroupRequest) and not reply.error_code:
            # A static member keeps its share under every id it is given in this generation.
            owner = name if name.startswith("static") else request.member_id
            for partition in reply.assignment:
                known = self.owners.setdefault((group, request.generation_id, partition), owner)
                assert known == owner, f"partition {partition} belongs to {known} and to {owner}"

    def ask(self, group: str, name: str, request: Request, version: int) -> None:
        facts = ClientFacts(name, "/127.0.0.1")
        decide, now_ms = self.runner.groups.decide, self.runner.now_ms
        once, twice = (decide(0, request, version, facts, now_ms, "x") for _ in range(2))
        assert once == twice, "deciding has changed the state"
        self.askers[self.runner.next_request_id] = (group, name, request)
        self.clients[group, name].waiting += 1
        self.runner.ask(request, version, facts)

    @initialize(names=st.lists(clients, max_size=3, unique=True))
    def start_with_a_stable_group(self, names: list[str]) -> None:
        for _ in range(5):
            self.live("g", names, 100)

    @rule(group=groups, names=crowd, span=spans)
    def live(self, group: str, names: list[str], span: int) -> None:
        """Consumers that do what consumers do, each its next step."""
        for name in names:
            client = self.clients[group, name]
            if client.waiting:
                continue
            if client.generation_id < 0:
                self.send_join(group, name, ("range", "sticky"), ("t",))
            elif not client.assigned:
                self.send_sync(group, name, client.generation_id)
            else:
                self.heartbeat(group, name)
        self.runner.advance(span)

    @rule(group=groups, names=crowd, spans=st.lists(spans, min_size=1, max_size=6))
    def live_on(self, group: str, names: list[str], spans: list[int]) -> None:
        for span in spans:
            self.live(group, names, span)

    @rule(
        group=groups,
        name=clients,
        names=protocols,
        topics=topics,
        session_ms=st.integers(10, 400),
        rebalance_ms=st.integers(-5, 400),
        version=st.sampled_from([3, 8, 9]),
        forget=st.booleans(),
        kind=st.sampled_from(["consumer"] * 5 + ["connect"]),
    )
    def join(self, group: str, name: str, names: Any, topics: Any, **options: Any) -> None:
        self.send_join(group, name, names, topics, **options)

    def send_join(
        self,
        group: str,
        name: str,
        names: tuple[str, ...],
        topics: tuple[str, ...],
        *,
        session_ms: int = 300,
        rebalance_ms: int = 200,
        version: int = 9,
        forget: bool = False,
        kind: str = "consumer",
    ) -> None:
        static = name.startswith("static")
        version = max(version, 5) if static else version
        metadata = encode_versioned(ConsumerProtocolSubscription(topics=list(topics)), 1)
        member_id = "" if forget else self.clients[group, name].member_id
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member_id,
            group_instance_id=name if static else None,
            protocol_type=kind,
            protocols=[JoinGroupRequestProtocol(name=text, metadata=metadata) for text in names],
        )
        known = self.classic(group)
        rejoins = known is not None and member_id in known.members
        self.ask(group, name, request, version)
        reply = self.runner.answers.get(self.runner.next_request_id - 1)
        if rejoins and isinstance(reply, JoinGroupResponse):
            assert reply.error_code != ErrorCode.UNKNOWN_MEMBER_ID, "a member that rejoins is known"

    @rule(group=groups, name=clients, stale=st.booleans())
    def sync(self, group: str, name: str, stale: bool) -> None:
        self.send_sync(group, name, self.clients[group, name].generation_id - stale)

    def send_sync(self, group: str, name: str, generation_id: int) -> None:
        state, member_id = self.classic(group), self.clients[group, name].member_id
        assignments = []
        if state is not None and state.leader == member_id:
            members = list(state.members)
            assignments = [
                SyncGroupRequestAssignment(
                    member_id=member, assignment=bytes(p for p in PARTITIONS if p % len(members) == at)
                )
                for at, member in enumerate(members)
            ]
        request = SyncGroupRequest(
            group_id=group, generation_id=generation_id, member_id=member_id, assignments=assignments
        )
        self.ask(group, name, request, 5)

    def heartbeat(self, group: str, name: str) -> None:
        client = self.clients[group, name]
        request = HeartbeatRequest(
            group_id=group, generation_id=client.generation_id, member_id=client.member_id
        )
        self.ask(group, name, request, 4)

    @rule(group=groups, leaving=st.lists(clients, max_size=2, unique=True), by_name=st.booleans())
    def leave(self, group: str, leaving: list[str], by_name: bool) -> None:
        members = [
            MemberIdentity(member_id="", group_instance_id=name)
            if by_name and name.startswith("static")
            else MemberIdentity(member_id=self.clients[group, name].member_id)
            for name in leaving
        ]
        self.ask(group, "admin", LeaveGroupRequest(group_id=group, members=members), 5)

    @rule(
        group=groups,
        name=clients,
        outside=st.booleans(),
        place=partitions,
        offset=st.integers(0, 9),
        metadata=st.sampled_from(["", "four", "more than four"]),
        retention=st.sampled_from([-1, -1, 1000]),
    )
    def commit(
        self,
        group: str,
        name: str,
        outside: bool,
        place: tuple[str, int],
        offset: int,
        metadata: str,
        retention: int,
    ) -> None:
        client = Client() if outside else self.clients[group, name]
        partition = OffsetCommitRequestPartition(
            partition_index=place[1], committed_offset=offset, committed_metadata=metadata
        )
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=client.generation_id,
            member_id=client.member_id,
            retention_time_ms=retention,
            topics=[OffsetCommitRequestTopic(name=place[0], partitions=[partition])],
        )
        self.ask(group, "committer", request, 4)

    @rule(group=groups, producer=producers, place=partitions, end=st.sampled_from([None, True, False]))
    def transaction(self, group: str, producer: int, place: tuple[str, int], end: bool | None) -> None:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=place[1], committed_offset=self.runner.next_request_id, committed_metadata=None
        )
        request = TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=group,
            producer_id=producer,
            producer_epoch=0,
            topics=[TxnOffsetCommitRequestTopic(name=place[0], partitions=[partition])],
        )
        self.ask(group, "producer", request, 5)
        if end is not None:
            ended = self.runner.groups.decide_transaction_ended(ProducerId(producer), end, self.runner.now_ms)
            self.runner.run(ended)

    @rule(group=groups, place=partitions, what=st.sampled_from(["offset", "topic", "group"]))
    def delete(self, group: str, place: tuple[str, int], what: str) -> None:
        if what == "group":
            self.ask(group, "admin", DeleteGroupsRequest(groups_names=[group]), 2)
        elif what == "topic":
            self.runner.run(self.runner.groups.decide_topics_deleted({place[0]}, self.runner.now_ms))
        else:
            partition = OffsetDeleteRequestPartition(partition_index=place[1])
            topic = OffsetDeleteRequestTopic(name=place[0], partitions=[partition])
            self.ask(group, "admin", OffsetDeleteRequest(group_id=group, topics=[topic]), 0)

    @rule(group=groups, version=st.integers(0, 6), stable=st.booleans())
    def look(self, group: str, version: int, stable: bool) -> None:
        self.ask(group, "admin", DescribeGroupsRequest(groups=[group, "nobody"]), version)
        self.ask(group, "admin", ListGroupsRequest(), min(version, 5))
        asked = OffsetFetchRequestGroup(group_id=group, topics=None)
        self.ask(group, "admin", OffsetFetchRequest(groups=[asked], require_stable=stable), 8)
        self.ask(group, "admin", OffsetFetchRequest(group_id=group, topics=None), max(version, 2))
        for explained in (
            self.runner.groups.explain_group(group),
            self.runner.groups.explain_offset(group, "t", 0),
        ):
            assert explained.summary

    @rule(span=st.sampled_from([1, 20, 100, 100, 300, 30_000]))
    def advance(self, span: int) -> None:
        self.runner.advance(span)

    @rule()
    def fire_next_timer(self) -> None:
        self.runner.fire_next_timer()

    @rule()
    def crash(self) -> None:
        for request_id in self.runner.crash():
            group, name, _ = self.askers.pop(request_id)
            self.clients[group, name].waiting -= 1

    def classic(self, group_id: str) -> ClassicGroup | None:
        return self.runner.groups.state.classic(group_id)

    def read_log(self) -> None:
        for entry in self.runner.log[self.shadow_read :]:
            fact = entry if isinstance(entry, TransactionEnded) else from_record(*entry)
            assert fact is not None
            self.shadow.replay(fact)
        self.shadow_read = len(self.runner.log)

    @invariant()
    def what_was_written_rebuilds_what_is_durable(self) -> None:
        self.read_log()
        live, shadow = self.runner.groups.state, self.shadow.state
        assert live.groups.keys() == shadow.groups.keys()
        assert durable_offsets(self.runner.groups) == durable_offsets(self.shadow)
        for group_id in live.groups:
            group, rebuilt = live.classic(group_id), shadow.classic(group_id)
            assert group is not None and rebuilt is not None
            if group.state in (ClassicState.STABLE, ClassicState.EMPTY):
                assert group.state is rebuilt.state
                assert saved(group) == saved(rebuilt)
            else:
                assert rebuilt.generation_id <= group.generation_id

    @invariant()
    def timers_and_their_reasons(self) -> None:
        expected: set[Any] = {key for key in self.runner.timers if isinstance(key, RetentionTimer)}
        assert len(expected) == 1
        waiting_sessions = set()
        for group in map(self.classic, self.runner.groups.state.groups):
            assert group is not None
            if group.state is ClassicState.PREPARING_REBALANCE:
                expected.add(JoinTimer(group.group_id))
            if group.pending_syncs:
                expected.add(SyncTimer(group.group_id))
            expected |= {SessionTimer(group.group_id, member_id) for member_id in group.pending_joins}
            for member in group.members.values():
                timer = SessionTimer(group.group_id, member.member_id)
                waits = not member.is_new and (member.joining is not None or member.syncing is not None)
                (waiting_sessions if waits else expected).add(timer)
        assert expected <= self.runner.timers.keys() <= expected | waiting_sessions

    @invariant()
    def groups_are_sound(self) -> None:
        parked = []
        for group in map(self.classic, self.runner.groups.state.groups):
            assert group is not None
            members = group.members.values()
            parked += [member.joining for member in members] + [member.syncing for member in members]
            instances = [member.instance_id for member in members if member.instance_id is not None]
            assert len(instances) == len(set(instances))
            assert (group.leader in group.members) if members else group.leader is None
            assert bool(members) or group.state in (ClassicState.EMPTY, ClassicState.PREPARING_REBALANCE)
            assert group.pending_syncs <= group.members.keys()
            if group.state is not ClassicState.PREPARING_REBALANCE:
                assert not any(member.joining for member in members)
                # Static members that are away keep their places beside those who came.
                assert len(members) <= SETTINGS.group_size_max + len(instances)
        waiting = sorted(request_id for request_id in parked if request_id is not None)
        assert waiting == sorted(self.runner.waiting), "whoever waits is known to exactly one member"

    def teardown(self) -> None:
        self.read_log()
        rebuilt = loaded(SETTINGS, self.runner.log)
        assert durable_offsets(rebuilt) == durable_offsets(self.shadow)
        assert rebuilt.state.groups == self.shadow.state.groups
        for _ in range(TIMERS_UNTIL_REST):
            if all(isinstance(key, RetentionTimer) for key in self.runner.timers):
                break
            self.runner.fire_next_timer()
        assert not self.runner.waiting, "a request was never answered"
        assert all(group.is_empty for group in self.runner.groups.state.groups.values())
        assert len(self.runner.timers) == 1


def durable_offsets(groups: GroupMachine) -> Any:
    offsets = groups.state.offsets
    return {
        group_id: (
            sorted(offsets.of_group(group_id), key=lambda place: place[:2]),
            sorted(offsets.pending_of_group(group_id)),
            offsets.has_open_transactions(group_id),
        )
        for group_id in offsets.group_ids()
    }


TestGroupMachine = Machine.TestCase
TestGroupMachine.settings = machine_settings(examples=80, steps=40)
