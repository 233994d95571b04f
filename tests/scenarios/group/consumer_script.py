"""The commands of scenarios with consumer groups (KIP-848). Clients do as they are told: what an answer takes from
them they have given up by the next heartbeat, unless the script says otherwise."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from moldau.broker.group.consumer.consumer_facts import (
    CurrentRecorded,
    EpochRecorded,
    PartitionMetadataRecorded,
    ProfileRecorded,
    RegexRecorded,
    TargetEpochRecorded,
    TargetRecorded,
)
from moldau.broker.group.consumer.consumer_member import MemberState
from moldau.broker.group.consumer.topic_id_partitions import (
    NO_PARTITIONS,
    TopicIdPartitions,
    by_topic,
    partitions_of,
)
from moldau.broker.group.facts import ProtocolChanged
from moldau.broker.group.records import to_record
from moldau.broker.group.settings import ConsumerSettings, MigrationPolicy
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import NO_PRODUCER_ID, TopicId
from moldau.protocol.messages.groups.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.groups.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from moldau.protocol.stored.consumer_groups import ConsumerGroupPartitionMetadataValue
from scenarios.group.group_script import ADMIN, GroupScript


@dataclass
class Consumer:
    owned: TopicIdPartitions = NO_PARTITIONS
    told: bool = True
    """Whether the coordinator has heard what it owns."""


class ConsumerScript(GroupScript):
    def __init__(self) -> None:
        super().__init__()
        self._consumers: dict[str, Consumer] = {}

    def do_topic(self, name: str, partition_count: str) -> None:
        self._runner.topics.put(name, int(partition_count))

    def do_drop_topic(self, name: str) -> None:
        self._runner.topics.remove(name)

    def do_hide_topic(self, name: str) -> None:
        """From patterns, as one that may not be read."""
        self._runner.topics.hidden.add(name)

    def do_topics_changed(self) -> None:
        self._runner.run(self._runner.groups.decide_topics_changed(self._runner.now_ms))

    def do_consumer_settings(self, **options: str) -> None:
        values: dict[str, Any] = {name: int(value) for name, value in options.items() if value.isdigit()}
        if "assignors" in options:
            values["assignors"] = tuple(options["assignors"].split(","))
        if "migration" in options:
            values["migration"] = MigrationPolicy(options["migration"])
        self._runner.consumer_settings = ConsumerSettings(**values)

    def do_beat(self, group: str, name: str, **options: str) -> None:
        """Joins if it is no member. `owned=` says other things than the truth: `all`, `none`, `unsaid`."""
        client, consumer = self._client(group, name), self._consumer(group, name)
        epoch = int(options.get("epoch", client.generation_id))
        joins = epoch <= 0 and "epoch" not in options
        owned = None if consumer.told else consumer.owned
        if joins or options.get("owned") == "none":
            epoch, owned = 0 if joins else epoch, NO_PARTITIONS
        elif options.get("owned") == "all":
            owned = self._everything()
        elif options.get("owned") == "unsaid":
            owned = None
        version = int(options.get("version", 1))
        names = options.get("topics", "t" if joins and "regex" not in options else None)
        request = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=options.get("member", client.member_id or (name if version >= 1 else "")),
            member_epoch=epoch,
            instance_id=options.get("instance"),
            rack_id=options.get("rack"),
            rebalance_timeout_ms=int(options.get("rebalance", 60_000 if joins else -1)),
            subscribed_topic_names=None if names is None else [text for text in names.split(",") if text],
            subscribed_topic_regex=options.get("regex"),
            server_assignor=options.get("assignor"),
            topic_partitions=None if owned is None else _request(owned),
        )
        consumer.told = True
        self._ask(group, name, request, version)

    def do_settle(self, group: str, *names: str, **options: str) -> None:
        """Everybody sends heartbeats until nothing happens any more. Only where it ends is told."""
        for _ in range(10):
            before = self._runner.groups.state.groups.get(group)
            for name in names:
                self.do_beat(group, name, **options)
            options = {key: value for key, value in options.items() if key == "instance"}
            if self._runner.groups.state.groups.get(group) == before:
                break
        self._lines.clear()
        self.do_describe_consumers(group)

    def do_leave_for_good(self, group: str, name: str, **options: str) -> None:
        self._go(group, name, -1, options)

    def do_leave_for_now(self, group: str, name: str, **options: str) -> None:
        self._go(group, name, -2, options)

    def _go(self, group: str, name: str, epoch: int, options: dict[str, str]) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=options.get("member", self._client(group, name).member_id),
            member_epoch=epoch,
            instance_id=options.get("instance"),
        )
        self._ask(group, name, request, 1)

    def do_describe_consumers(self, *groups: str) -> None:
        self._ask("", ADMIN, ConsumerGroupDescribeRequest(group_ids=list(groups)), 1)

    def do_old_partition_metadata(self, group: str) -> None:
        """As a Kafka before 4.1 has left it."""
        fact = PartitionMetadataRecorded(group, ConsumerGroupPartitionMetadataValue(topics=[]))
        self._runner.log.append((*to_record(fact), NO_PRODUCER_ID))
        self.do_crash()

    def written(self, fact: Any) -> list[str]:
        return _written(fact, self._shown) or super().written(fact)

    def remember(self, asker: str, reply: Any) -> None:
        super().remember(asker, reply)
        client = self._clients.get(asker)
        if client is None or not isinstance(reply, ConsumerGroupHeartbeatResponse):
            return
        consumer = self._consumers.setdefault(asker, Consumer())
        if reply.error_code:
            if reply.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
                client.generation_id, consumer.owned, consumer.told = -1, NO_PARTITIONS, True
            return
        client.member_id, client.generation_id = reply.member_id or "", reply.member_epoch
        if reply.member_epoch < 0:
            client.member_id, consumer.owned, consumer.told = "", NO_PARTITIONS, True
        elif reply.assignment is not None:
            owned = partitions_of(reply.assignment.topic_partitions)
            consumer.told = owned == consumer.owned
            consumer.owned = owned

    def _consumer(self, group: str, name: str) -> Consumer:
        return self._consumers.setdefault(f"{group}/{name}", Consumer())

    def _everything(self) -> TopicIdPartitions:
        topics = self._runner.topics
        found = (topics.find(name) for name in topics.names())
        return frozenset(
            (topic.topic_id, number) for topic in found if topic for number in range(topic.partition_count)
        )

    def _shown(self, topics: Iterable[Any]) -> str:
        return self._runner.topics.shown((topic.topic_id, topic.partitions) for topic in topics)


def _request(owned: TopicIdPartitions) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id=TopicId(topic_id), partitions=partitions)
        for topic_id, partitions in by_topic(owned)
    ]


def _written(fact: Any, shown: Any) -> list[str]:
    match fact:
        case EpochRecorded(group_id, value):
            return [f"write {group_id} epoch {value.epoch}" if value else f"write {group_id} removed"]
        case PartitionMetadataRecorded(group_id, value):
            return [f"write {group_id} partition metadata {'kept' if value else 'removed'}"]
        case ProfileRecorded(group_id, member_id, value):
            if value is None:
                return [f"write {group_id}/{member_id} removed"]
            names = ",".join(value.subscribed_topic_names) or "nothing"
            regex = f" and {value.subscribed_topic_regex}" if value.subscribed_topic_regex else ""
            kind = " in the classic protocol" if value.classic_member_metadata else ""
            return [f"write {group_id}/{member_id} reads {names}{regex}{kind}"]
        case TargetEpochRecorded(group_id, value):
            return [f"write {group_id} target epoch {value.assignment_epoch if value else 'removed'}"]
        case TargetRecorded(group_id, member_id, value):
            if value is None:
                return [f"write {group_id}/{member_id} target removed"]
            return [f"write {group_id}/{member_id} target {shown(value.topic_partitions)}"]
        case CurrentRecorded(group_id, member_id, value):
            if value is None:
                return [f"write {group_id}/{member_id} assignment removed"]
            revoking = value.partitions_pending_revocation
            lost = f", gives up {shown(revoking)}" if revoking else ""
            return [
                f"write {group_id}/{member_id} epoch {value.member_epoch} {MemberState(value.state).name}"
                f" has {shown(value.assigned_partitions)}{lost}"
            ]
        case RegexRecorded(group_id, regex, value):
            return [
                f"write {group_id} {regex} {'is ' + (','.join(value.topics) or 'nothing') if value else 'removed'}"
            ]
        case ProtocolChanged(group_id, _, group_type):
            return [f"group {group_id} is a {group_type} group now"]
    return []
