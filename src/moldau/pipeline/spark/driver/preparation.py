"""Prepares an application's run: its topics, its checkpoint, its first positions, the takeover from earlier runs."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient
from pyspark.cloudpickle import dumps as dumps_by_value

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import NOWHERE
from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord, check_topics
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.clients import COORDINATOR_S_MAX, shared
from moldau.pipeline.spark.driver.key_samples import sample_keys
from moldau.pipeline.spark.driver.takeover import fence
from moldau.pipeline.spark.driver.topics import prepare_topics
from moldau.pipeline.spark.orders import Application
from moldau.pipeline.spark.partitioners import choose, require_known
from moldau.pipeline.spark.positions import Positions, positions_to_json
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.topic_offsets import TopicFacts, end_offsets, first_offsets, topic_facts
from moldau.pipeline.spark.upgrades.upgrading import Upgrading


@dataclass(frozen=True)
class Prepared:
    application: Application
    record: ApplicationRecord
    slots: int
    partitions: Mapping[str, int]
    """Of all topics the tasks read."""
    topology: Topology
    """Under the names that the checkpoint knows it by."""


def prepare(topology: Topology, settings: AppSettings, slots_available: int) -> Prepared:
    """Raises ConfigError for a problem that a person must solve, KafkaException while the broker cannot be reached."""
    handlers = topology.error_handlers
    if handlers is not None and handlers.may_write_dead_letters and settings.dead_letters_go_to is None:
        raise ConfigError(
            f"the error handlers of {settings.application_id} choose dead letters, but it runs without a dead-letter "
            "topic: leave dead letters on, or choose 'skip' or 'fail'"
        )
    admin = AdminClient(shared(settings.bootstrap_servers, settings.client_settings))
    folder = Folder(settings.folder)
    record = ApplicationRecord.load(folder, settings.application_id)
    upgrading = None if record is None else Upgrading(admin, settings, record, topology)
    if upgrading is not None:
        upgrading.decide()
        topology = upgrading.topology
        # Before topics are created: a missing internal topic was lost together with its records.
        still_read = upgrading.still_read
        check_topics(settings.application_id, still_read, topic_facts(admin, still_read))
    changelogs = changelog_topics(topology, settings)
    facts = prepare_topics(admin, topology, changelogs, settings.dead_letters_go_to)
    slots = _slots(topology, facts, settings.instances or slots_available)
    if upgrading is None:
        record = _new_record(admin, topology, settings, facts, slots)
        record.save(folder)
    else:
        record = _continued(admin, upgrading, settings, facts)
        if record.slots != slots:
            fence(settings, record.slots)
            record = record.with_slots(slots)
            record.save(folder)
    application = Application(
        application_id=settings.application_id,
        checkpoint_id=record.checkpoint_id,
        bootstrap_servers=settings.bootstrap_servers,
        client_settings=dict(settings.client_settings),
        exactly_once=topology.guarantee is Guarantee.EXACTLY_ONCE,
        dead_letter_topic=settings.dead_letters_go_to,
        state_folder=f"{settings.folder}/state",
        topology=_dumped(topology),
        changelogs=changelogs,
        record_cache=settings.record_cache,
        run_id=uuid.uuid4().hex,
        partitioners={topic: (name, facts[topic].partitions) for topic, name in record.partitioners.items()}
        | _of_sinks(admin, topology, settings),
        record_ms_max=settings.record_ms_max,
        transform_inputs={
            topic: facts[topic].partitions
            for part in topology.transform_parts
            for topic in part.source_topics
        },
        state_folders=record.state_folders,
        state_begins=record.begins,
    )
    read = {topic for part in topology.sub_topologies for topic in part.source_topics}
    partitions = {topic: facts[topic].partitions for topic in sorted(read)}
    return Prepared(application, record, slots, partitions, topology)


def _new_record(
    admin: AdminClient,
    topology: Topology,
    settings: AppSettings,
    facts: Mapping[str, TopicFacts],
    slots: int,
) -> ApplicationRecord:
    topic_ids = {topic: one.topic_id for topic, one in facts.items()}
    initial = positions_to_json(first_positions(admin, topology, settings, facts))
    partitioners = choose_partitioners(topology, settings, facts, {})
    record = ApplicationRecord.new(
        settings.application_id, topology.fingerprint, topic_ids, initial, slots, partitioners
    )
    return record.with_inventory(topology)


def _continued(
    admin: AdminClient, upgrading: Upgrading, settings: AppSettings, facts: Mapping[str, TopicFacts]
) -> ApplicationRecord:
    if not upgrading.upgrade.is_needed:
        return upgrading.unchanged()
    topology = upgrading.topology
    begin = begin_positions(admin, topology, facts, upgrading.begin(), own_from_end=True)
    partitioners = choose_partitioners(topology, settings, facts, upgrading.settled_partitioners)
    return upgrading.finish(facts, begin, partitioners)


def _slots(topology: Topology, facts: Mapping[str, TopicFacts], wanted: int) -> int:
    task_count = sum(
        facts[topic].partitions for part in topology.sub_topologies for topic in part.source_topics[:1]
    )
    return max(1, min(wanted, task_count))


def changelog_topics(topology: Topology, settings: AppSettings) -> dict[str, str]:
    """Store to changelog topic, for the stores that have one."""
    if settings.changelogs == "none":
        return {}
    return {
        spec.name: spec.changelog_topic(settings.application_id)
        for part in topology.sub_topologies
        for spec in part.stores
        if settings.changelogs == "all" or spec.queryable
    }


def begin_positions(
    admin: AdminClient,
    topology: Topology,
    facts: Mapping[str, TopicFacts],
    topics: Collection[str],
    *,
    own_from_end: bool = False,
) -> Positions:
    """The first or the last record of each partition, as its source says; the last one as the topology knows it, if it
    does. `own_from_end`: skips the records in internal topics, which do not belong to this topology."""
    late = {
        topic
        for part in topology.sub_topologies
        for source in part.sources()
        for topic in source.topics
        if source.offset_reset is OffsetReset.LATEST
    }
    if own_from_end:
        late |= topology.internal_topics
    counts = {topic: facts[topic].partitions for topic in topics}
    given = {topic: offsets for topic, offsets in topology.latest_from.items() if topic in late}
    first = first_offsets(
        admin, {topic: count for topic, count in counts.items() if topic not in late or topic in given}
    )
    last = end_offsets(admin, {topic: count for topic, count in counts.items() if topic in late})
    for topic in given.keys() & last.keys():
        last[topic] = _within(given[topic], first[topic], last[topic])
    return first | last


def _within(given: Sequence[int], first: Mapping[int, int], last: Mapping[int, int]) -> dict[int, int]:
    """The given offset of each partition, as far as its records are there; 0 for a partition that was added later."""
    wanted = {number: given[number] if number < len(given) else 0 for number in last}
    return {number: max(first[number], min(wanted[number], end)) for number, end in last.items()}


def first_positions(
    admin: AdminClient, topology: Topology, settings: AppSettings, facts: Mapping[str, TopicFacts]
) -> Positions:
    """For a new checkpoint: the group's committed offsets, or else the first or the last record, as the source says."""
    positions = begin_positions(admin, topology, facts, facts)
    committed = _committed(admin, settings.application_id)
    if committed and any(part.is_stateful for part in topology.sub_topologies):
        raise ConfigError(
            f"the group {settings.application_id} has committed offsets, but {settings.folder} holds no checkpoint: "
            "the application runs elsewhere, or its checkpoint is in another folder (name that folder), or the state "
            "for these offsets is lost. If it is lost and nothing runs: "
            f"moldau streams reset {settings.application_id} --checkpoint-lost"
        )
    for (topic, partition), offset in committed.items():
        if partition in positions.get(topic, {}):
            positions[topic][partition] = max(positions[topic][partition], offset)
    return positions


def _committed(admin: AdminClient, group: str) -> dict[tuple[str, int], int]:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=COORDINATOR_S_MAX
    )
    answer = asked[group].result(COORDINATOR_S_MAX)
    return {(one.topic, one.partition): one.offset for one in answer.topic_partitions if one.offset >= 0}


def choose_partitioners(
    topology: Topology, settings: AppSettings, facts: Mapping[str, TopicFacts], settled: Mapping[str, str]
) -> dict[str, str]:
    """Determined once, when the application begins to read a topic: its records stay where they are. `settled` has the
    topics that are determined already."""
    named = {
        topic: require_known(name, f"partitioners[{topic!r}]")
        for topic, name in settings.partitioners.items()
    } | dict(settled)
    joined = [group for group in topology.copartitioned if len(group) > 1]
    counts = {
        topic: facts[topic].partitions
        for group in joined
        for topic in group
        if topic in facts and topic not in topology.internal_topics
    }
    samples = sample_keys(settings.bootstrap_servers, settings.client_settings, counts)
    lines = topology.copartitioned_at or (NOWHERE,) * len(topology.copartitioned)
    groups = [(group, str(line)) for group, line in zip(topology.copartitioned, lines, strict=True)]
    chosen = choose(groups, samples, topology.internal_topics, named)
    return {topic: name for topic, name in chosen.items() if topic in facts}


def _of_sinks(admin: AdminClient, topology: Topology, settings: AppSettings) -> dict[str, tuple[str, int]]:
    """The partitioners that the user named for topics that the topology writes."""
    sinks = {topic for part in topology.sub_topologies for topic in part.sink_topics}
    named = {topic: name for topic, name in settings.partitioners.items() if topic in sinks}
    facts = topic_facts(admin, named)
    return {topic: (name, facts[topic].partitions) for topic, name in named.items() if topic in facts}


def _dumped(topology: Topology) -> bytes:
    content = dumps_by_value(topology)  # type: ignore[no-untyped-call]
    assert isinstance(content, bytes)
    return content
