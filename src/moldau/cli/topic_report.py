"""All that is known of one topic, gathered from the cluster and written for people or programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from confluent_kafka.admin import ConfigResource, ConfigSource, OffsetSpec, ResourceType, TopicDescription

from moldau.cli.cluster import Cluster
from moldau.cli.log_sizes import partition_sizes
from moldau.cli.offset_queries import topic_offsets
from moldau.cli.output import columns
from moldau.cli.wire import Address
from moldau.core.ids import TopicPartition

_SOURCES = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG.value: "broker, dynamic",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value: "cluster, dynamic",
    ConfigSource.STATIC_BROKER_CONFIG.value: "broker",
}


@dataclass(frozen=True)
class PartitionReport:
    partition: int
    leader: int | None
    replicas: Sequence[int]
    isr: Sequence[int]
    start_offset: int | None
    end_offset: int | None
    size_bytes: int | None


@dataclass(frozen=True)
class ConfigReport:
    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class TopicReport:
    topic: str
    topic_id: str
    internal: bool
    partitions: Sequence[PartitionReport]
    configs: Sequence[ConfigReport]

    @classmethod
    def gather(cls, cluster: Cluster, topic: str) -> "TopicReport":
        description = cluster.describe_topic(topic)
        # A partition without a leader has nobody to answer for its offsets.
        led = [part.id for part in description.partitions if part.leader is not None]
        start = topic_offsets(cluster, topic, led, OffsetSpec.earliest())
        end = topic_offsets(cluster, topic, led, OffsetSpec.latest())
        sizes = leader_sizes(cluster, description)
        return cls(
            topic=topic,
            # Kafka writes ids in the URL-safe alphabet, the client library in the other one.
            topic_id=str(description.topic_id).replace("+", "-").replace("/", "_"),
            internal=description.is_internal,
            partitions=[
                PartitionReport(
                    partition=part.id,
                    leader=part.leader.id if part.leader is not None else None,
                    replicas=[node.id for node in part.replicas],
                    isr=[node.id for node in part.isr],
                    start_offset=start.get(part.id),
                    end_offset=end.get(part.id),
                    size_bytes=sizes.get(part.id),
                )
                for part in description.partitions
            ],
            configs=changed_configs(cluster, topic),
        )

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def as_text(self) -> str:
        about = [
            ("Topic", self.topic),
            ("Id", self.topic_id),
            ("Partitions", str(len(self.partitions))),
            ("Replication factor", str(max((len(part.replicas) for part in self.partitions), default=0))),
        ]
        configs = [f"{config.name}={config.value} ({config.source})" for config in self.configs]
        about += zip(["Settings", *[""] * len(configs)], configs or ["all at their defaults"], strict=False)
        lines = [f"{name:<20}{value}" for name, value in about]
        rows = [
            (
                part.partition,
                part.leader,
                ",".join(map(str, part.replicas)),
                ",".join(map(str, part.isr)),
                part.start_offset,
                part.end_offset,
                part.size_bytes,
            )
            for part in self.partitions
        ]
        headings = ("PARTITION", "LEADER", "REPLICAS", "ISR", "START OFFSET", "END OFFSET", "BYTES")
        return "\n".join([*lines, "", columns(headings, rows)])


def leader_sizes(cluster: Cluster, description: TopicDescription) -> Mapping[int, int]:
    leaders = {
        TopicPartition(description.name, part.id): Address(part.leader.host, part.leader.port)
        for part in description.partitions
        if part.leader is not None
    }
    return {place.partition: size for place, size in partition_sizes(cluster.wire, leaders).items()}


def changed_configs(cluster: Cluster, topic: str) -> Sequence[ConfigReport]:
    """The settings that are not at Kafka's default, with who set them."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    futures = cluster.admin.describe_configs([resource])
    entries = cluster.wait(futures[resource], f"describe the settings of topic '{topic}'")
    return [
        ConfigReport(name, entry.value, _SOURCES[entry.source])
        for name, entry in sorted(entries.items())
        if entry.source in _SOURCES
    ]
