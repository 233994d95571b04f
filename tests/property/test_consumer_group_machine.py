"""Consumer groups with members of both protocols under random heartbeats, timers, topics, losses and crashes.

After every step: what was written rebuilds what is durable, compacted or not; no partition has two owners, counting
what members have not given up; every timer has its reason. At the end, when everybody keeps sending heartbeats, the
group settles and every partition is read.
"""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.classic.classic_group import ClassicGroup
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.consumer.consumer_group import ConsumerGroup, ConsumerState
from moldau.broker.group.consumer.consumer_member import MemberState
from moldau.broker.group.consumer.topic_id_partitions import TopicIdPartition
from moldau.broker.group.facts import TransactionEnded
from moldau.broker.group.machine import GroupMachine
from moldau.broker.group.records import from_record
from moldau.broker.group.settings import ConsumerSettings, GroupSettings, MigrationPolicy
from moldau.broker.group.timers import RebalanceTimer, SessionTimer
from moldau.protocol.messages.groups.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest
from moldau.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from moldau.protocol.spec import Request
from property.consumer_clients import GROUP, SESSION_MS, Client, NewClient, OldClient
from property.examples import machine_settings
from scenarios.group.group_runner import GroupRunner

SETTINGS = GroupSettings(initial_rebalance_delay_ms=0, session_timeout_min_ms=10, offsets_retention_ms=2_000)
ROUNDS_TO_SETTLE = 25

names = st.sampled_from(["a", "b", "c", "static", "old-d", "old-e", "old-static"])
subscriptions = st.sampled_from([("t",), ("t",), ("t", "u"), ("u",), ("nowhere",), ()])


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = GroupRunner(SETTINGS, self.see)
        self.runner.consumer_settings = ConsumerSettings(session_timeout_ms=SESSION_MS, group_size_max=6)
        self.runner.topics.put("t", 4)
        self.runner.start()
        self.clients: dict[str, Client] = {}
        self.askers: dict[int, tuple[str, Request]] = {}
        self.losing = False
        self.shadow = self.runner.new_machine()
        self.shadow_read = 0

    def client(self, name: str) -> Any:
        if name not in self.clients:
            instance_id = "s" if "static" in name else None
            if name.startswith("old"):
                self.clients[name] = OldClient(name, lambda: self.runner.topics, instance_id)
            else:
                self.clients[name] = NewClient(name, instance_id)
        return self.clients[name]

    @property
    def group(self) -> ConsumerGroup | None:
        return self.runner.groups.state.consumer(GROUP)

    def see(self, outcome: GroupOutcome) -> None:
        for answer in outcome.answers:
            if answer.request_id in self.askers:
                name, request = self.askers.pop(answer.request_id)
                client = self.client(name)
                client.waiting -= 1
                if self.losing:
                    client.lost(request)
                else:
                    client.learn(request, answer.reply)

    def ask(self, name: str, request: Request, version: int) -> None:
        facts = ClientFacts(name, "/127.0.0.1")
        decide, now_ms = self.runner.groups.decide, self.runner.now_ms
        once, twice = (decide(0, request, version, facts, now_ms, "x") for _ in range(2))
        assert once == twice, "deciding has changed the state"
        self.runner.ask(request, version, facts)

    def send(self, name: str) -> None:
        client = self.client(name)
        if client.waiting:
            return
        request, version = client.next_request()
        client.waiting += 1
        self.askers[self.runner.next_request_id] = (name, request)
        self.ask(name, request, version)

    @initialize(wanted=st.lists(names, max_size=3, unique=True))
    def start_with_some(self, wanted: list[str]) -> None:
        for _ in range(4):
            self.live(wanted, 0)

    @rule(wanted=st.lists(names, min_size=1, max_size=4, unique=True), span=st.sampled_from([0, 0, 20, 100]))
    def live(self, wanted: list[str], span: int) -> None:
        for name in wanted:
            self.client(name).obey()
            self.send(name)
        self.runner.advance(span)

    @rule(name=names)
    def beat(self, name: str) -> None:
        """Without having done what it was told."""
        self.send(name)

    @rule(name=names)
    def beat_unheard(self, name: str) -> None:
        self.losing = True
        self.send(name)
        self.losing = False

    @rule(name=names, topics=subscriptions, regex=st.sampled_from([None, None, "t|u", "u.*"]))
    def subscribe(self, name: str, topics: tuple[str, ...], regex: str | None) -> None:
        client = self.client(name)
        client.topics, client.regex = topics, regex
        if isinstance(client, NewClient):
            client.told = False

    @rule(name=names)
    def leave(self, name: str) -> None:
        goodbye = self.client(name).goodbye()
        if goodbye is not None:
            self.ask(name, *goodbye)

    @rule(name=names, epoch=st.integers(-3, 9), mine=st.booleans())
    def say_nonsense(self, name: str, epoch: int, mine: bool) -> None:
        client = self.client(name)
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id="nobody" if mine else client.member_id,
            member_epoch=epoch,
            instance_id="s" if not mine else None,
        )
        if epoch > 0:
            self.ask("stranger", request, 1)

    @rule(name=names, epoch=st.integers(-1, 9))
    def commit(self, name: str, epoch: int) -> None:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=epoch,
            member_id=self.client(name).member_id,
            topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])],
        )
        self.ask(name, request, 9)

    @rule(name=st.sampled_from("tu"), count=st.sampled_from([0, 2, 4, 6]), tell=st.booleans())
    def change_topic(self, name: str, count: int, tell: bool) -> None:
        topics = self.runner.topics
        known = topics.find(name)
        if count == 0 and known is not None:
            topics.remove(name)
        elif count > (known.partition_count if known else 0):
            topics.put(name, count)
        if tell:
            self.runner.run(self.runner.groups.decide_topics_changed(self.runner.now_ms))

    @rule(policy=st.sampled_from(MigrationPolicy))
    def change_policy(self, policy: MigrationPolicy) -> None:
        self.runner.consumer_settings = replace(self.runner.consumer_settings, migration=policy)

    @rule()
    def look(self) -> None:
        self.ask("admin", ConsumerGroupDescribeRequest(group_ids=[GROUP, "nobody"]), 1)
        self.ask("admin", DescribeGroupsRequest(groups=[GROUP]), 6)
        self.ask("admin", ListGroupsRequest(), 5)
        assert self.runner.groups.explain_group(GROUP).summary

    @rule()
    def delete(self) -> None:
        self.ask("admin", DeleteGroupsRequest(groups_names=[GROUP]), 2)

    @rule(span=st.sampled_from([1, 20, 50, 100, 210, 310]))
    def advance(self, span: int) -> None:
        self.runner.advance(span)

    @rule()
    def crash(self) -> None:
        for request_id in self.runner.crash():
            if request_id in self.askers:
                name, request = self.askers.pop(request_id)
                self.client(name).waiting -= 1
                self.client(name).lost(request)

    @invariant()
    def what_was_written_rebuilds_what_is_durable(self) -> None:
        for entry in self.runner.log[self.shadow_read :]:
            fact = entry if isinstance(entry, TransactionEnded) else from_record(*entry)
            assert fact is not None
            self.shadow.replay(fact)
        self.shadow_read = len(self.runner.log)
        live, shadow = self.runner.groups.state.groups, self.shadow.state.groups
        assert live.keys() == shadow.keys()
        for group_id, group in live.items():
            if isinstance(group, ConsumerGroup):
                assert durable(group) == durable(shadow[group_id])

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        group = self.runner.groups.state.groups.get(GROUP)
        if not isinstance(group, ConsumerGroup | ClassicGroup):
            return
        holders: defaultdict[TopicIdPartition, list[str]] = defaultdict(list)
        for member in self.group.members.values() if self.group is not None else ():
            assert not member.assigned & member.revoking
            for place in member.assigned | member.revoking:
                holders[place].append(member.member_id)
        assert all(len(members) == 1 for members in holders.values()), dict(holders)
        readers: defaultdict[TopicIdPartition, list[str]] = defaultdict(list)
        for client in self.clients.values():
            for place in client.owned if client.member_id in group.members else ():
                readers[place].append(client.name)
        assert all(len(reading) == 1 for reading in readers.values()), dict(readers)

    @invariant()
    def targets_are_for_members_and_each_partition_is_in_one(self) -> None:
        if self.group is None:
            return
        assert self.group.targets.keys() <= self.group.members.keys()
        every = [place for target in self.group.targets.values() for place in target]
        assert len(every) == len(set(every))
        instances = [member.instance_id for member in self.group.members.values() if member.instance_id]
        assert len(instances) == len(set(instances))
        assert self.group.target_epoch <= self.group.epoch
        assert self.group.regexes.keys() == self.group.subscribed_regexes()

    @invariant()
    def timers_and_their_reasons(self) -> None:
        timers = self.runner.timers.keys()
        rebalancing = {key.member_id for key in timers if isinstance(key, RebalanceTimer)}
        if self.group is None:
            assert not rebalancing
            return
        members = self.group.members.values()
        assert {key.member_id for key in timers if isinstance(key, SessionTimer)} == self.group.members.keys()
        assert rebalancing == {
            member.member_id
            for member in members
            if member.awaited is not None
            or (
                member.state is MemberState.UNREVOKED_PARTITIONS
                and not member.is_classic
                and not member.is_away
            )
        }

    def teardown(self) -> None:
        self.check_compaction()
        self.settle()
        self.rest()

    def check_compaction(self) -> None:
        latest: dict[bytes, Any] = {}
        for entry in self.runner.log:
            assert not isinstance(entry, TransactionEnded)
            latest.pop(entry[0], None)
            latest[entry[0]] = entry
        compacted, tombstoned = self.runner.new_machine(), self.runner.new_machine()
        for entry in latest.values():
            fact = from_record(*entry)
            assert fact is not None
            tombstoned.replay(fact)
            if entry[1] is not None:
                compacted.replay(fact)
        for rebuilt in (compacted, tombstoned):
            assert groups_of(rebuilt) == groups_of(self.shadow)

    def settle(self) -> None:
        """Everybody who ever was a member keeps at it; and again, after a topic has grown."""
        policy = replace(self.runner.consumer_settings, migration=MigrationPolicy.BIDIRECTIONAL)
        self.runner.consumer_settings = policy
        staying = [name for name in self.clients if name != "old-static" or "static" not in self.clients]
        self.keep_at_it(staying)
        self.runner.topics.put("t", 8)
        self.keep_at_it(staying)

    def keep_at_it(self, staying: list[str]) -> None:
        for _ in range(ROUNDS_TO_SETTLE):
            self.live(staying, 20)
            self.no_partition_has_two_owners()
        group = self.group
        if group is not None and group.members:
            assert group.state is ConsumerState.STABLE, self.runner.groups.explain_group(GROUP)
            infos = {name: self.runner.topics.find(name) for name in group.subscribed_topics()}
            every = {(i.topic_id, n) for i in infos.values() if i for n in range(i.partition_count)}
            assert {place for name in staying for place in self.clients[name].owned} == every

    def rest(self) -> None:
        """When nobody is heard of any more, nobody is left."""
        self.runner.advance(SESSION_MS * 10)
        group = self.runner.groups.state.groups.get(GROUP)
        assert group is None or group.is_empty
        assert len(self.runner.timers) == 1


def durable(group: Any) -> Any:
    """Without what is known only as long as the coordinator runs."""
    if not isinstance(group, ConsumerGroup):
        return group
    members = {name: replace(member, awaited=None) for name, member in group.members.items()}
    return replace(group, members=members, topics_version=None, topics_seen={}, topics_seen_ms=0)


def groups_of(groups: GroupMachine) -> Any:
    """A simple group that was never written down is as good as none."""
    return {
        group_id: group for group_id, group in groups.state.groups.items() if group != ClassicGroup(group_id)
    }


TestConsumerGroupMachine = Machine.TestCase
TestConsumerGroupMachine.settings = machine_settings(examples=80, steps=40)
