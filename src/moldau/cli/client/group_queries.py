"""Groups of either protocol as their coordinators describe them, and their committed offsets."""

from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.wire import GROUP, Address
from moldau.cli.failures import Failure, similar_names
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import PeerError
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.groups import consumer_group_describe, describe_groups
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.protocol.stored.consumer_protocol import (
    CONSUMER_PROTOCOL_TYPE,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.stored.framing import decode_prefix

INTERNAL_GROUPS = {"schema-registry"}
INTERNAL_PROTOCOLS = {"sr", "connect"}
CLASSIC = "classic"
CONSUMER = "consumer"


@dataclass(frozen=True)
class ListedGroup:
    group: str
    type: str
    protocol: str
    state: str

    @property
    def is_internal(self) -> bool:
        """A group of a platform service, which uses the group protocol for election, not to consume."""
        return self.group in INTERNAL_GROUPS or self.protocol in INTERNAL_PROTOCOLS


@dataclass(frozen=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    epoch: int | None
    """None in the classic protocol, which has one generation per group."""
    subscription: Sequence[str]
    assignment: Sequence[TopicPartition]
    target: Sequence[TopicPartition] | None
    """The target assignment in the consumer protocol (KIP-848)."""

    @property
    def label(self) -> str:
        return f"{self.client_id} at {self.host} ({self.instance_id or self.member_id})"


@dataclass(frozen=True)
class Group:
    group: str
    type: str
    protocol: str
    state: str
    assignor: str
    epoch: int | None
    coordinator: Address
    members: Sequence[Member]


@dataclass(frozen=True)
class Committed:
    offset: int
    leader_epoch: int | None
    metadata: str | None


def list_groups(cluster: Cluster) -> Sequence[ListedGroup]:
    """Asks every broker for the groups it coordinates."""
    doing = "list groups"
    found = []
    for address in cluster.wire.brokers.values():

        def ask(address: Address = address) -> tuple[int, ListGroupsResponse]:
            answer = cluster.wire.ask(address, ListGroupsRequest(), ListGroupsResponse, doing)
            return answer.error_code, answer

        for group in cluster.wire.settled(ask, doing).groups:
            kind = (group.group_type or CLASSIC).lower()
            found.append(ListedGroup(group.group_id, kind, group.protocol_type, group.group_state))
    return sorted(found, key=lambda listed: listed.group)


def find_group(cluster: Cluster, group: str) -> Group | None:
    """Tries the consumer protocol first, like Kafka's tools. None if the group does not exist."""
    doing = f"describe group '{group}'"
    coordinator = cluster.wire.coordinator(group, GROUP, doing)
    try:
        return _describe_consumer(cluster, coordinator, group, doing)
    except Failure as failure:
        if failure.code not in (KafkaError.GROUP_ID_NOT_FOUND, KafkaError.UNSUPPORTED_VERSION):
            raise
    try:
        return _describe_classic(cluster, coordinator, group, doing)
    except Failure as failure:
        if failure.code != KafkaError.GROUP_ID_NOT_FOUND:
            raise
        return None


def describe_group(cluster: Cluster, group: str) -> Group:
    found = find_group(cluster, group)
    if found is None:
        raise unknown_group(cluster, group)
    return found


def unknown_group(cluster: Cluster, group: str) -> Failure:
    similar = similar_names(group, [listed.group for listed in list_groups(cluster)])
    hint = (
        "Did you mean " + " or ".join(f"'{name}'" for name in similar) + "?"
        if similar
        else "`moldau groups list` lists all groups. A group exists from its first member or commit."
    )
    return Failure(f"there is no group '{group}' at {cluster.bootstrap_servers}.", hint)


def committed_offsets(cluster: Cluster, group: str) -> dict[TopicPartition, Committed]:
    [future] = cluster.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    answer = cluster.wait(future, f"list the offsets of group '{group}'")
    return {
        TopicPartition(part.topic, part.partition): Committed(
            part.offset, part.leader_epoch, part.metadata or None
        )
        for part in answer.topic_partitions or ()
        if part.error is None and part.offset >= 0
    }


def _describe_consumer(cluster: Cluster, coordinator: Address, group: str, doing: str) -> Group:
    request = consumer_group_describe.ConsumerGroupDescribeRequest(
        group_ids=[group], include_authorized_operations=False
    )

    def ask() -> tuple[int, consumer_group_describe.DescribedGroup]:
        answer = cluster.wire.ask(
            coordinator, request, consumer_group_describe.ConsumerGroupDescribeResponse, doing
        )
        return answer.groups[0].error_code, answer.groups[0]

    found = cluster.wire.settled(ask, doing)
    return Group(
        group,
        CONSUMER,
        CONSUMER_PROTOCOL_TYPE,
        found.group_state,
        found.assignor_name,
        found.group_epoch,
        coordinator,
        [
            Member(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host.removeprefix("/"),
                member.member_epoch,
                [*member.subscribed_topic_names, *filter(None, [member.subscribed_topic_regex])],
                _places(member.assignment),
                _places(member.target_assignment),
            )
            for member in found.members
        ],
    )


def _places(assignment: consumer_group_describe.Assignment) -> Sequence[TopicPartition]:
    return sorted(
        TopicPartition(topic.topic_name, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )


def _describe_classic(cluster: Cluster, coordinator: Address, group: str, doing: str) -> Group:
    request = describe_groups.DescribeGroupsRequest(groups=[group])

    def ask() -> tuple[int, describe_groups.DescribedGroup]:
        answer = cluster.wire.ask(coordinator, request, describe_groups.DescribeGroupsResponse, doing)
        found = answer.groups[0]
        # Before KIP-1043, unknown groups were described as dead.
        return found.error_code or ErrorCode.GROUP_ID_NOT_FOUND * (found.group_state == "Dead"), found

    found = cluster.wire.settled(ask, doing)
    return Group(
        group,
        CLASSIC,
        found.protocol_type,
        found.group_state,
        found.protocol_data,
        None,
        coordinator,
        [_classic_member(member, found.protocol_type) for member in found.members],
    )


def _classic_member(member: describe_groups.DescribedGroupMember, protocol_type: str) -> Member:
    readable = protocol_type == CONSUMER_PROTOCOL_TYPE
    return Member(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host.removeprefix("/"),
        None,
        _subscription(member.member_metadata) if readable else (),
        _assignment(member.member_assignment) if readable else (),
        None,
    )


def _subscription(metadata: bytes) -> Sequence[str]:
    """Empty if unreadable: the bytes are defined by the members. The same applies to assignments."""
    try:
        return sorted(decode_prefix(ConsumerProtocolSubscription, metadata).topics)
    except PeerError:
        return ()


def _assignment(assignment: bytes) -> Sequence[TopicPartition]:
    try:
        found = decode_prefix(ConsumerProtocolAssignment, assignment)
    except PeerError:
        return ()
    return sorted(
        TopicPartition(topic.topic, partition)
        for topic in found.assigned_partitions
        for partition in topic.partitions
    )
