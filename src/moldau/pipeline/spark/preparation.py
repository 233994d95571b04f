"""Before an application's query is started: its topics, its checkpoint, where it begins, whom it takes over from."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient
from pyspark.cloudpickle import dumps as dumps_by_value

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import NOWHERE
from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.spark.application_record import ApplicationRecord, check_topics
from moldau.pipeline.spark.batch_plan import transactional_ids
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.key_samples import sample_keys
from moldau.pipeline.spark.orders import Application
from moldau.pipeline.spark.partitioners import choose, require_known
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.positions import Positions, positions_to_json
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.sink import ANSWER_S_MAX, Marker
from moldau.pipeline.spark.topic_offsets import TopicFacts, end_offsets, first_offsets, topic_facts
from moldau.pipeline.spark.topics import prepare_topics


@dataclass(frozen=True)
class Prepared:
    application: Application
    record: ApplicationRecord
    slots: int
    partitions: Mapping[str, int]
    """Of all topics the tasks read."""


def prepare(topology: Topology, settings: AppSettings, slots_available: int) -> Prepared:
    """Raises ConfigError for what only a person can mend, KafkaException while the broker cannot be reached."""
    handlers = topology.error_handlers
    if handlers is not None and handlers.may_write_dead_letters and settings.dead_letters_go_to is None:
        raise ConfigError(
            f"the error handlers of {settings.application_id} choose dead letters, but it runs without a topic for "
            "them: leave dead letters on, or choose 'skip' or 'fail'"
        )
    admin = AdminClient(shared(settings.bootstrap_servers, settings.client_settings))
    folder = Folder(settings.folder)
    changelogs = changelog_topics(topology, settings)
    record = ApplicationRecord.load(folder, settings.application_id)
    if record is not None:
        # Before topics are made: an own topic that is missing has been lost, with what was on its way.
        check_topics(settings.application_id, record.topic_ids, topic_facts(admin, record.topic_ids))
    facts = prepare_topics(admin, topology, changelogs, settings.dead_letters_go_to)
    task_count = sum(
        facts[topic].partitions for part in topology.sub_topologies for topic in part.source_topics[:1]
    )
    slots = max(1, min(settings.instances or slots_available, task_count))
    if record is None:
        topic_ids = {topic: one.topic_id for topic, one in facts.items()}
        initial = positions_to_json(first_positions(admin, topology, settings, facts))
        partitioners = _partitioners(topology, settings, facts)
        record = ApplicationRecord.new(
            settings.application_id, topology.fingerprint, topic_ids, initial, slots, partitioners
        )
        record.save(folder)
    else:
        record.check(settings.application_id, topology.fingerprint, facts)
        _require_own_group(admin, settings, record, folder)
        if record.slots != slots:
            _fence(settings, record.slots)
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
        partitioners={topic: (name, facts[topic].partitions) for topic, name in record.partitioners.items()},
        record_ms_max=settings.record_ms_max,
    )
    read = {topic for part in topology.sub_topologies for topic in part.source_topics}
    return Prepared(application, record, slots, {topic: facts[topic].partitions for topic in sorted(read)})


def changelog_topics(topology: Topology, settings: AppSettings) -> dict[str, str]:
    """Store to topic, of the stores whose changes are written out."""
    if settings.changelogs == "none":
        return {}
    return {
        spec.name: spec.changelog_topic(settings.application_id)
        for part in topology.sub_topologies
        for spec in part.stores
        if settings.changelogs == "all" or spec.queryable
    }


def first_positions(
    admin: AdminClient, topology: Topology, settings: AppSettings, facts: Mapping[str, TopicFacts]
) -> Positions:
    """Of a new checkpoint: where the group stands, or the first or last record as the source says."""
    counts = {topic: one.partitions for topic, one in facts.items()}
    positions = first_offsets(admin, counts)
    late = {
        topic
        for part in topology.sub_topologies
        for source in part.sources()
        for topic in source.topics
        if source.offset_reset is OffsetReset.LATEST
    }
    positions |= end_offsets(admin, {topic: count for topic, count in counts.items() if topic in late})
    committed = _committed(admin, settings.application_id)
    if committed and any(part.is_stateful for part in topology.sub_topologies):
        raise ConfigError(
            f"the group {settings.application_id} has committed offsets, but {settings.folder} holds no checkpoint: "
            "the state that belongs to these offsets is lost, or the checkpoint is elsewhere. Name its folder, or "
            "begin anew with "
            f"moldau streams reset {settings.application_id}"
        )
    for (topic, partition), offset in committed.items():
        if partition in positions.get(topic, {}):
            positions[topic][partition] = max(positions[topic][partition], offset)
    return positions


def _committed(admin: AdminClient, group: str) -> dict[tuple[str, int], int]:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=ANSWER_S_MAX
    )
    answer = asked[group].result(ANSWER_S_MAX)
    return {(one.topic, one.partition): one.offset for one in answer.topic_partitions if one.offset >= 0}


def _fence(settings: AppSettings, slots: int) -> None:
    """With another number of slots, tasks change hands: whoever may still hold one must not commit it any more."""
    for transactional_id in transactional_ids(settings.application_id, slots):
        producer = Producer(
            producer_settings(settings.bootstrap_servers, settings.client_settings, transactional_id)
        )
        producer.init_transactions(ANSWER_S_MAX)


def _partitioners(
    topology: Topology, settings: AppSettings, facts: Mapping[str, TopicFacts]
) -> dict[str, str]:
    """Looked up once, when the application begins: what lies in a topic has been spread for good."""
    named = {
        topic: require_known(name, f"partitioners[{topic!r}]")
        for topic, name in settings.partitioners.items()
    }
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


def _require_own_group(
    admin: AdminClient, settings: AppSettings, record: ApplicationRecord, folder: Folder
) -> None:
    """Raises ConfigError when the group's markers are those of another checkpoint, or later than this one knows."""
    planned = Ledger(folder.within("plans")).last()
    known = -1 if planned is None else planned.batch_id
    for place, marker in _markers(admin, settings.application_id).items():
        if marker.checkpoint_id != record.checkpoint_id:
            raise ConfigError(
                f"the group {settings.application_id} was moved on ({place[0]}-{place[1]}) by a run with another "
                f"checkpoint than {folder.address}: two runs of one application would write everything twice. "
                "Stop the other one, or give this one another application id"
            )
        if marker.batch_id > known:
            raise ConfigError(
                f"the group {settings.application_id} has committed batch {marker.batch_id}, but {folder.address} "
                f"knows none after batch {known}: part of the checkpoint is lost. Restore it, or begin again with "
                f"moldau streams reset {settings.application_id}"
            )


def _markers(admin: AdminClient, group: str) -> dict[tuple[str, int], Marker]:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=ANSWER_S_MAX
    )
    found = {}
    for one in asked[group].result(ANSWER_S_MAX).topic_partitions:
        marker = Marker.parse(one.metadata)
        if marker is not None:
            found[one.topic, one.partition] = marker
    return found


def _dumped(topology: Topology) -> bytes:
    content = dumps_by_value(topology)  # type: ignore[no-untyped-call]
    assert isinstance(content, bytes)
    return content
