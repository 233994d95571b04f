"""Brokers, partitions, reassignments and elections, requested with Kafka's protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.wire import Address
from moldau.cli.failures import Failure, refused
from moldau.cli.render.output import counted
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.topics import alter_partition_reassignments as alter
from moldau.protocol.messages.topics import elect_leaders as elect
from moldau.protocol.messages.topics import list_partition_reassignments as listing
from moldau.protocol.messages.topics.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

NO_BROKER = -1


@dataclass(frozen=True)
class Broker:
    broker_id: int
    address: Address
    rack: str | None


@dataclass(frozen=True)
class Partition:
    place: TopicPartition
    leader: int | None
    replicas: Sequence[int]
    isr: Sequence[int]

    @property
    def is_under_replicated(self) -> bool:
        return len(self.isr) < len(self.replicas)


@dataclass(frozen=True)
class Picture:
    """The cluster as one broker sees it."""

    cluster_id: str | None
    controller: int | None
    brokers: Mapping[int, Broker]
    partitions: Sequence[Partition]

    @property
    def topics(self) -> int:
        return len({partition.place.topic for partition in self.partitions})


@dataclass(frozen=True)
class Move:
    place: TopicPartition
    replicas: Sequence[int]
    adding: Sequence[int]
    removing: Sequence[int]


@dataclass(frozen=True)
class Outcome:
    """The result of a request for one partition. No message on success."""

    place: TopicPartition
    code: ErrorCode
    message: str | None


def picture(cluster: Cluster, topics: Sequence[str] | None = None) -> Picture:
    """All topics, or those named. Never creates a topic."""
    doing = "describe the cluster"
    request = MetadataRequest(
        topics=None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
        allow_auto_topic_creation=False,
    )
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, MetadataResponse, doing, version_min=4)
    brokers = {
        each.node_id: Broker(each.node_id, Address(each.host, each.port), each.rack)
        for each in answer.brokers
    }
    controller = answer.controller_id if answer.controller_id != NO_BROKER else None
    partitions = [part for topic in answer.topics for part in _partitions(cluster, topic)]
    return Picture(answer.cluster_id, controller, brokers, sorted(partitions, key=lambda part: part.place))


def _partitions(cluster: Cluster, topic: MetadataResponseTopic) -> Sequence[Partition]:
    name = topic.name or ""
    if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise cluster.unknown_topic(name)
    if topic.error_code not in (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE):
        raise refused(KafkaError(topic.error_code), f"describe topic '{name}'")
    return [
        Partition(
            TopicPartition(name, part.partition_index),
            part.leader_id if part.leader_id != NO_BROKER else None,
            part.replica_nodes,
            part.isr_nodes,
        )
        for part in topic.partitions
    ]


def controller_address(cluster: Cluster) -> Address:
    """The broker that answers requests to the controller."""
    seen = picture(cluster, [])
    if seen.controller is None or seen.controller not in seen.brokers:
        raise Failure(
            "the cluster has no controller at the moment.",
            "Brokers elect one as soon as possible; `moldau cluster status` shows it.",
        )
    return seen.brokers[seen.controller].address


def moves(cluster: Cluster) -> Sequence[Move]:
    request = listing.ListPartitionReassignmentsRequest(topics=None)
    doing = "list reassignments"
    address = controller_address(cluster)
    answer = cluster.wire.ask(address, request, listing.ListPartitionReassignmentsResponse, doing)
    if answer.error_code:
        raise refused(KafkaError(answer.error_code, answer.error_message), doing)
    return [
        Move(
            TopicPartition(topic.name, part.partition_index),
            part.replicas,
            part.adding_replicas,
            part.removing_replicas,
        )
        for topic in answer.topics
        for part in topic.partitions
    ]


def start_moves(
    cluster: Cluster, targets: Mapping[TopicPartition, Sequence[int] | None]
) -> Sequence[Outcome]:
    """Starts reassignments. None in place of replicas cancels one."""
    request = alter.AlterPartitionReassignmentsRequest(
        topics=[
            alter.ReassignableTopic(
                name=name,
                partitions=[
                    alter.ReassignablePartition(partition_index=place.partition, replicas=targets[place])
                    for place in places
                ],
            )
            for name, places in groupby(sorted(targets), lambda place: place.topic)
        ]
    )
    doing = "move partitions"
    answer = cluster.wire.ask(
        controller_address(cluster), request, alter.AlterPartitionReassignmentsResponse, doing
    )
    if answer.error_code:
        raise refused(KafkaError(answer.error_code, answer.error_message), doing)
    return [
        Outcome(
            TopicPartition(topic.name, part.partition_index), ErrorCode(part.error_code), part.error_message
        )
        for topic in answer.responses
        for part in topic.partitions
    ]


def elect_leaders(
    cluster: Cluster, election_type: int, places: Sequence[TopicPartition] | None
) -> Sequence[Outcome]:
    request = elect.ElectLeadersRequest(
        election_type=election_type,
        topic_partitions=None
        if places is None
        else [
            elect.TopicPartitions(topic=name, partitions=[place.partition for place in group])
            for name, group in groupby(sorted(places), lambda place: place.topic)
        ],
    )
    doing = "elect leaders"
    answer = cluster.wire.ask(
        controller_address(cluster), request, elect.ElectLeadersResponse, doing, version_min=1
    )
    if answer.error_code:
        raise refused(KafkaError(answer.error_code), doing)
    return [
        Outcome(
            TopicPartition(topic.topic, part.partition_id), ErrorCode(part.error_code), part.error_message
        )
        for topic in answer.replica_election_results
        for part in topic.partition_result
    ]


def require_success(outcomes: Sequence[Outcome], what: str) -> None:
    """Raises a Failure that names every partition that failed."""
    failed = [each for each in outcomes if each.code is not ErrorCode.NONE]
    if failed:
        lines = "\n".join(f"  {each.place}: {each.message or each.code.name}" for each in failed)
        raise Failure(f"{counted(len(failed), 'partition')} could not be {what}:\n{lines}")
