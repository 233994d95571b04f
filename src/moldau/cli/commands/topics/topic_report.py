"""Everything about one topic, as JSON or text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from confluent_kafka.admin import ConfigResource, ConfigSource, OffsetSpec, ResourceType, TopicDescription

from moldau.cli.client.connection import Cluster
from moldau.cli.client.log_sizes import partition_sizes
from moldau.cli.client.offset_queries import FoundOffset, find_offsets
from moldau.cli.client.wire import Address
from moldau.cli.render.output import columns
from moldau.core.ids import TopicPartition

TOPIC_SOURCE = "topic"
_SOURCES = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value: TOPIC_SOURCE,
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
    def gather(cls, cluster: Cluster, topics: Sequence[str]) -> "Sequence[TopicReport]":
        """Needs the same number of requests for one topic as for many."""
        descriptions = cluster.describe_topics(topics)
        leaders = {
            TopicPartition(description.name, part.id): Address(part.leader.host, part.leader.port)
            for description in descriptions
            for part in description.partitions
            # Without a leader nobody knows the offsets.
            if part.leader is not None
        }
        start = find_offsets(cluster, leaders, OffsetSpec.earliest())
        end = find_offsets(cluster, leaders, OffsetSpec.latest())
        sizes = partition_sizes(cluster.wire, leaders)
        configs = changed_configs(cluster, topics)
        return [
            cls._of(description, start, end, sizes, configs[description.name]) for description in descriptions
        ]

    @classmethod
    def _of(
        cls,
        description: TopicDescription,
        start: Mapping[TopicPartition, FoundOffset],
        end: Mapping[TopicPartition, FoundOffset],
        sizes: Mapping[TopicPartition, int],
        configs: Sequence[ConfigReport],
    ) -> "TopicReport":
        def offset(found: Mapping[TopicPartition, FoundOffset], partition: int) -> int | None:
            at = found.get(TopicPartition(description.name, partition))
            return None if at is None else at.offset

        return cls(
            topic=description.name,
            # Kafka prints ids in URL-safe base64, the client library in standard base64.
            topic_id=str(description.topic_id).replace("+", "-").replace("/", "_"),
            internal=description.is_internal,
            partitions=[
                PartitionReport(
                    partition=part.id,
                    leader=part.leader.id if part.leader is not None else None,
                    replicas=[node.id for node in part.replicas],
                    isr=[node.id for node in part.isr],
                    start_offset=offset(start, part.id),
                    end_offset=offset(end, part.id),
                    size_bytes=sizes.get(TopicPartition(description.name, part.id)),
                )
                for part in description.partitions
            ],
            configs=configs,
        )

    @property
    def has_overrides(self) -> bool:
        return any(config.source == TOPIC_SOURCE for config in self.configs)

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def as_rows(self) -> list[dict[str, object]]:
        return [{"topic": self.topic, **asdict(part)} for part in self.partitions]

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


def changed_configs(cluster: Cluster, topics: Sequence[str]) -> Mapping[str, Sequence[ConfigReport]]:
    """The settings that differ from Kafka's defaults, and where each was set."""
    if not topics:
        return {}
    futures = cluster.admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic) for topic in topics])
    found = {}
    for resource, future in futures.items():
        entries = cluster.wait(future, f"describe the settings of topic '{resource.name}'")
        found[resource.name] = [
            ConfigReport(name, entry.value, _SOURCES[entry.source])
            for name, entry in sorted(entries.items())
            if entry.source in _SOURCES
        ]
    return found
