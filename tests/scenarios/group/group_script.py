"""The commands of the group scenarios. Clients remember their member id and generation as real ones do."""

import shlex
from dataclasses import astuple, dataclass
from typing import Any

from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import (
    GroupLoaded,
    GroupRemoved,
    GroupSaved,
    OffsetCommitted,
    OffsetRemoved,
    TransactionEnded,
)
from moldau.broker.group.settings import GroupSettings
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import ProducerId
from moldau.core.machine import SetTimer
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
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
from moldau.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.protocol.messages.transactions.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from moldau.protocol.spec import Request
from moldau.protocol.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartitions,
)
from moldau.protocol.stored.framing import encode_versioned
from scenarios.group.group_replies import printed_assignment, printed_reply
from scenarios.group.group_runner import GroupRunner

ADMIN = "admin"


@dataclass
class Client:
    member_id: str = ""
    generation_id: int = -1


class GroupScript:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._clients: dict[str, Client] = {}
        self._askers: dict[int, str] = {}
        self._states: dict[str, str] = {}
        self._asking = ADMIN
        self._runner = GroupRunner(GroupSettings(), self._see)
        self._runner.start()

    def handle(self, line: str) -> list[str]:
        """`verb argument... option=value...`; what happens, as lines."""
        self._lines.clear()
        verb, *words = shlex.split(line)
        options = dict(word.split("=", 1) for word in words if "=" in word and ":" not in word.split("=")[0])
        arguments = [word for word in words if word.split("=", 1)[0] not in options]
        getattr(self, f"do_{verb.replace('-', '_')}")(*arguments, **options)
        return list(self._lines)

    def do_settings(self, **options: str) -> None:
        settings = GroupSettings(**{name: int(value) for name, value in options.items()})
        self._runner = GroupRunner(settings, self._see)
        self._runner.start()

    def do_join(self, group: str, name: str, **options: str) -> None:
        client = self._client(group, name)
        topics = options.get("topics", "t").split(",")
        owned = [
            TopicPartitions(topic="t", partitions=[int(n) for n in options.get("owned", "").split(",") if n])
        ]
        metadata = encode_versioned(ConsumerProtocolSubscription(topics=topics, owned_partitions=owned), 3)
        if "metadata" in options:
            metadata = options["metadata"].encode()
        names = [text for text in options.get("protocols", "range").split(",") if text]
        version = int(options.get("version", 9))
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=int(options.get("session", 10_000)),
            rebalance_timeout_ms=int(options.get("rebalance", 60_000)) if version > 0 else -1,
            member_id=options.get("member", client.member_id),
            group_instance_id=options.get("instance"),
            protocol_type=options.get("type", "consumer"),
            protocols=[JoinGroupRequestProtocol(name=text, metadata=metadata) for text in names],
            reason=options.get("reason"),
        )
        self._ask(group, name, request, version)

    def do_stable(self, group: str, *assignments: str, **options: str) -> None:
        """A stable group of these members, without the details of how it came to be."""
        names = [text.partition(":")[0] for text in assignments]
        for name in names:
            self.do_join(group, name, **options)
            if int(options.get("version", 9)) >= 4:
                self.do_join(group, name, **options)
        self.do_advance("6000")
        for name in names[1:]:
            self.do_sync(group, name)
        self.do_sync(group, names[0], *assignments)
        written = [line for line in self._lines if line.startswith("write group")]
        self._lines[:] = [f"now {self._runner.now_ms}", written[-1]]

    def do_sync(self, group: str, name: str, *assignments: str, **options: str) -> None:
        """Assignments are `client:text`, or `client:t/1,2` as consumers write it."""
        client = self._client(group, name)
        given = [text.split(":", 1) for text in assignments]
        request = SyncGroupRequest(
            group_id=group,
            generation_id=int(options.get("generation", client.generation_id)),
            member_id=options.get("member", client.member_id),
            group_instance_id=options.get("instance"),
            protocol_type=options.get("type"),
            protocol_name=options.get("protocol"),
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=self._client(group, to).member_id, assignment=_assignment(text)
                )
                for to, text in given
            ],
        )
        self._ask(group, name, request, int(options.get("version", 5)))

    def do_heartbeat(self, group: str, name: str, **options: str) -> None:
        client = self._client(group, name)
        request = HeartbeatRequest(
            group_id=group,
            generation_id=int(options.get("generation", client.generation_id)),
            member_id=options.get("member", client.member_id),
            group_instance_id=options.get("instance"),
        )
        self._ask(group, name, request, 4)

    def do_leave(self, group: str, *names: str, **options: str) -> None:
        """Names of clients; or by `instance=`, as tools do. `version=` below 3 knows one member only."""
        version = int(options.get("version", 5))
        members = [
            MemberIdentity(member_id=self._client(group, name).member_id, reason=options.get("reason"))
            for name in names
        ]
        if "instance" in options:
            members.append(
                MemberIdentity(member_id=options.get("member", ""), group_instance_id=options["instance"])
            )
        if version < 3:
            request = LeaveGroupRequest(group_id=group, member_id=members[0].member_id)
        else:
            request = LeaveGroupRequest(group_id=group, members=members)
        self._ask(group, names[0] if names else ADMIN, request, version)

    def do_commit(self, group: str, name: str, *offsets: str, **options: str) -> None:
        """Offsets are `topic:partition=offset`; `outside` commits without being a member."""
        client = Client() if name == "outside" else self._client(group, name)
        version = int(options.get("version", 9))
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=int(options.get("generation", client.generation_id)),
            member_id=options.get("member", client.member_id),
            group_instance_id=options.get("instance"),
            retention_time_ms=int(options.get("retention", -1)),
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=options.get("metadata", ""),
                        )
                    ],
                )
                for topic, partition, offset in map(_offset, offsets)
            ],
        )
        self._ask(group, name, request, version)

    def do_txn_commit(self, group: str, producer: str, *offsets: str, **options: str) -> None:
        member = Client()
        if "as" in options:
            member = self._client(group, options["as"])
        request = TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=group,
            producer_id=int(producer),
            producer_epoch=0,
            generation_id=int(options.get("generation", member.generation_id)),
            member_id=options.get("member", member.member_id),
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=partition, committed_offset=offset, committed_metadata=None
                        )
                    ],
                )
                for topic, partition, offset in map(_offset, offsets)
            ],
        )
        self._ask(group, f"producer {producer}", request, 5)

    def do_txn_end(self, producer: str, how: str) -> None:
        outcome = self._runner.groups.decide_transaction_ended(
            ProducerId(int(producer)), how == "commit", self._runner.now_ms
        )
        self._runner.run(outcome)

    def do_fetch(self, group: str, *partitions: str, **options: str) -> None:
        """Partitions are `topic:partition`; none asks for all."""
        version = int(options.get("version", 9))
        stable = options.get("stable") == "yes"
        wanted = [(topic, [int(partition)]) for topic, _, partition in (p.partition(":") for p in partitions)]
        if version >= 8:
            topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=p) for topic, p in wanted]
            asked = OffsetFetchRequestGroup(
                group_id=group,
                topics=topics or None,
                member_id=options.get("member"),
                member_epoch=int(options.get("epoch", -1)),
            )
            request = OffsetFetchRequest(groups=[asked], require_stable=stable)
        else:
            old = [OffsetFetchRequestTopic(name=topic, partition_indexes=p) for topic, p in wanted]
            request = OffsetFetchRequest(group_id=group, topics=old or None, require_stable=stable)
        self._ask(group, ADMIN, request, version)

    def do_delete_offsets(self, group: str, *partitions: str) -> None:
        topics = [
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=int(partition))]
            )
            for topic, _, partition in (text.partition(":") for text in partitions)
        ]
        self._ask(group, ADMIN, OffsetDeleteRequest(group_id=group, topics=topics), 0)

    def do_delete_topic(self, topic: str) -> None:
        self._runner.run(self._runner.groups.decide_topics_deleted([topic], self._runner.now_ms))

    def do_describe(self, group: str, **options: str) -> None:
        self._ask(group, ADMIN, DescribeGroupsRequest(groups=[group]), int(options.get("version", 6)))

    def do_list(self, **options: str) -> None:
        states = options["states"].split(",") if "states" in options else []
        types = options["types"].split(",") if "types" in options else []
        self._ask("", ADMIN, ListGroupsRequest(states_filter=states, types_filter=types), 5)

    def do_delete(self, *groups: str) -> None:
        self._ask("", ADMIN, DeleteGroupsRequest(groups_names=list(groups)), 2)

    def do_advance(self, span_ms: str) -> None:
        """Lets time pass, timer by timer."""
        runner = self._runner
        end_ms = runner.now_ms + int(span_ms)
        while (timer := runner.next_timer()) is not None and timer[1] <= end_ms:
            self._lines.append(f"at {timer[1]} {_timer(timer[0])}")
            runner.fire_next_timer()
        runner.advance(end_ms - runner.now_ms)

    def do_crash(self) -> None:
        """The coordinator starts again with what is in the log."""
        lost = self._runner.crash()
        if lost:
            self._lines.append(f"lost: {', '.join(self._askers[request] for request in lost)}")

    def do_lower(self, **options: str) -> None:
        """The coordinator starts again with other settings."""
        self._runner.settings = GroupSettings(**{name: int(value) for name, value in options.items()})
        self.do_crash()

    def do_unload(self) -> None:
        """The coordinator has to hand its groups to another."""
        self._runner.run(self._runner.groups.decide_unloaded())

    def do_explain(self, group: str) -> None:
        self._explain(self._runner.groups.explain_group(group))

    def do_explain_offset(self, group: str, partition: str) -> None:
        topic, _, index = partition.partition(":")
        self._explain(self._runner.groups.explain_offset(group, topic, int(index)))

    def _explain(self, explanation: Any) -> None:
        self._lines.append(explanation.summary)
        for entry in explanation.timeline:
            self._lines += [f"{entry.at_ms} {entry.text}", *(f"    {detail}" for detail in entry.details)]

    def _client(self, group: str, name: str) -> Client:
        return self._clients.setdefault(f"{group}/{name}", Client())

    def _ask(self, group: str, name: str, request: Request, version: int) -> None:
        self._asking = f"{group}/{name}"
        self._runner.ask(request, version, ClientFacts(client_id=name, host="/127.0.0.1"))

    def _see(self, outcome: GroupOutcome) -> None:
        for request_id in self._runner.waiting.keys() - self._askers.keys():
            self._askers[request_id] = self._asking
        for fact in outcome.facts:
            self._lines += self.written(fact)
        self._see_states()
        for answer in outcome.answers:
            asker = self._askers.setdefault(answer.request_id, self._asking)
            reply = self._runner.answers[answer.request_id]
            lines = printed_reply(reply, self._runner.topics)
            self._lines += [f"{asker.partition('/')[2]} <- {text}" for text in lines]
            self.remember(asker, reply)
        for timer in outcome.timers:
            name = _timer(timer.key)
            late = f"at {timer.deadline_ms}" if isinstance(timer, SetTimer) else "cancelled"
            self._lines.append(f"{name} {late}")

    def _see_states(self) -> None:
        groups = self._runner.groups.state.groups.values()
        states = {group.group_id: str(group.listed().group_state) for group in groups}
        for group_id in sorted(states.keys() | self._states.keys()):
            before, after = self._states.get(group_id, "Dead"), states.get(group_id, "Dead")
            if before != after:
                self._lines.append(f"group {group_id}: {before} -> {after}")
        self._states = states

    def written(self, fact: Any) -> list[str]:
        return _written(fact)

    def remember(self, asker: str, reply: Any) -> None:
        _remember(self._clients.get(asker), reply)


def _offset(text: str) -> tuple[str, int, int]:
    place, _, offset = text.partition("=")
    topic, _, partition = place.partition(":")
    return topic, int(partition), int(offset)


def _timer(key: Any) -> str:
    parts = [str(part) for part in astuple(key) if part is not None]
    return " ".join([f"timer {type(key).__name__.removesuffix('Timer').lower()}", *parts])


def _written(fact: Any) -> list[str]:
    match fact:
        case GroupSaved(group_id, value):
            shares = [f"{member.member_id}:{_share(member.assignment)}" for member in value.members]
            members = " ".join(shares) or "no members"
            return [f"write group {group_id} generation {value.generation} leader {value.leader}, {members}"]
        case GroupRemoved(group_id):
            return [f"write group {group_id} removed"]
        case OffsetCommitted(group_id, topic, partition, committed):
            pending = f" if producer {fact.producer_id} commits" if fact.producer_id != -1 else ""
            return [f"write offset {group_id} {topic}:{partition}={committed.offset}{pending}"]
        case OffsetRemoved(group_id, topic, partition):
            return [f"write offset {group_id} {topic}:{partition} removed"]
        case TransactionEnded(producer_id, committed):
            return [f"producer {producer_id} {'committed' if committed else 'aborted'}"]
        case GroupLoaded(group_id, _):
            return [f"loaded {group_id}"]
    return []


def _assignment(text: str) -> bytes:
    topic, slash, partitions = text.partition("/")
    if not slash:
        return text.encode()
    share = TopicPartitions(topic=topic, partitions=[int(number) for number in partitions.split(",")])
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=[share]), 3)


def _share(assignment: bytes) -> str:
    return printed_assignment(assignment).strip("'")


def _remember(client: Client | None, reply: Any) -> None:
    """What a consumer does with the answer to its JoinGroup, or when it is told that it is unknown."""
    if client is None:
        return
    error = ErrorCode(getattr(reply, "error_code", 0))
    if hasattr(reply, "generation_id") and error in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
        client.member_id = reply.member_id
        client.generation_id = reply.generation_id
    elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
        client.member_id, client.generation_id = "", -1
