"""The topics of an application: checks those that it reads, and creates its internal ones."""

from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.plan.stores import StoreKind
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.application_record import BETWEEN
from moldau.pipeline.spark.topic_offsets import ANSWER_S_MAX, TopicFacts, topic_facts

ANY_TIME: Final = {
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "message.timestamp.before.max.ms": str(2**63 - 1),
}
"""A record that the source topic accepted must be accepted here, whatever its timestamp."""
REPARTITION_CONFIG: Final = {"cleanup.policy": "delete", "retention.ms": "-1", **ANY_TIME}
"""Records between two sub-topologies must stay until they are read. The application deletes what it has read."""
CHANGELOG_CONFIG: Final = {"cleanup.policy": "compact", **ANY_TIME}
DEAD_LETTER_CONFIG: Final = {"retention.ms": "-1", **ANY_TIME, "max.message.bytes": str(10 << 20)}
"""A dead letter has the timestamp of its record, so no retention by time: it stays until somebody has looked at it."""
OWN_SUFFIXES: Final = (*BETWEEN, "-changelog")
FIRST_ANSWER_S_MAX: Final = 5.0
RETENTION_EXTRA_MS: Final = 86_400_000


def prepare_topics(
    admin: AdminClient, topology: Topology, changelogs: Mapping[str, str], dead_letter_topic: str | None
) -> dict[str, TopicFacts]:
    """Creates the internal topics. Returns the facts of all topics that the application reads."""
    users = user_topics(admin, topology)
    known = {topic: facts.partitions for topic, facts in users.items()}
    owned = settle_partitions(topology, known)
    read = {topic for part in topology.sub_topologies for topic in part.source_topics}
    counts = {topic: count for topic, count in {**known, **owned}.items() if topic in read}
    wanted: dict[str, tuple[int, Mapping[str, str]]] = {
        topic: (count, REPARTITION_CONFIG) for topic, count in owned.items()
    }
    for store, topic in changelogs.items():
        part = next(part for part in topology.sub_topologies if store in {spec.name for spec in part.stores})
        wanted[topic] = (
            max(counts[source] for source in part.source_topics),
            _changelog_config(topology, store),
        )
    if dead_letter_topic is not None:
        wanted[dead_letter_topic] = (1, DEAD_LETTER_CONFIG)
    _create(admin, wanted)
    return topic_facts(admin, counts)


def require_inputs(admin: AdminClient, topology: Topology, servers: str) -> Topology:
    """Returns the topology with the topics that its patterns match. Raises ConfigError for a missing topic,
    TimeoutError if no broker answers."""
    try:
        existing = admin.list_topics(timeout=FIRST_ANSWER_S_MAX).topics
    except KafkaException as failure:
        raise TimeoutError(
            f"no broker answers at {servers} within {FIRST_ANSWER_S_MAX:.0f} s ({failure.args[0].str()})"
        ) from None
    if topology.patterns:
        topology = topology.with_topics(existing)
    user_topics(admin, topology)
    return topology


def user_topics(admin: AdminClient, topology: Topology) -> dict[str, TopicFacts]:
    users = topic_facts(admin, topology.source_topics)
    missing = [topic for topic in topology.source_topics if topic not in users]
    if missing:
        raise ConfigError(
            f"{topology.where_read(missing[0])}: the application reads {', '.join(missing)}, which does not exist: "
            f"create the topic first (moldau topics create {missing[0]})"
        )
    return users


def _changelog_config(topology: Topology, store: str) -> dict[str, str]:
    spec = topology.stores[store]
    if spec.kind is StoreKind.VERSIONED:
        lag_ms = spec.retention_ms + RETENTION_EXTRA_MS
        return {**CHANGELOG_CONFIG, "min.compaction.lag.ms": str(lag_ms)}
    if spec.kind not in (StoreKind.WINDOW, StoreKind.SESSION):
        return dict(CHANGELOG_CONFIG)
    retention_ms = spec.retention_ms + RETENTION_EXTRA_MS
    return {**CHANGELOG_CONFIG, "cleanup.policy": "compact,delete", "retention.ms": str(retention_ms)}


def _create(admin: AdminClient, wanted: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
    existing = topic_facts(admin, wanted)
    for topic, (partitions, _) in wanted.items():
        if topic in existing and existing[topic].partitions != partitions and topic.endswith(OWN_SUFFIXES):
            raise ConfigError(
                f"the internal topic {topic} has {existing[topic].partitions} partitions and should have {partitions}: "
                "the topics that it depends on have changed. Reset the application"
            )
    new = [
        NewTopic(topic, num_partitions=partitions, replication_factor=-1, config=dict(config))
        for topic, (partitions, config) in wanted.items()
        if topic not in existing
    ]
    for future in admin.create_topics(new, request_timeout=ANSWER_S_MAX).values() if new else ():
        try:
            future.result(ANSWER_S_MAX)
        except KafkaException as failure:
            # Another instance has created it.
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
