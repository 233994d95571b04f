"""Before an application's query is started: its topics, its checkpoint, where it begins, whom it takes over from."""

import pickle
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient
from pyspark.cloudpickle import dumps as dumps_by_value

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.task import Task
from moldau.pipeline.operators.timers import PunctuationType
from moldau.pipeline.plan.nodes import OffsetReset, Process
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.spark.application_record import ApplicationRecord, check_topics
from moldau.pipeline.spark.batch_plan import transactional_ids
from moldau.pipeline.spark.clients import producer as producer_settings
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.offset_log import Positions, positions_to_json
from moldau.pipeline.spark.orders import Application
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.sink import ANSWER_S_MAX
from moldau.pipeline.spark.topic_offsets import TopicFacts, end_offsets, first_offsets, topic_facts
from moldau.pipeline.spark.topics import prepare_topics


@dataclass(frozen=True)
class Prepared:
    application: Application
    record: ApplicationRecord
    slots: int
    ticks: bool


def prepare(topology: Topology, settings: AppSettings, slots_available: int) -> Prepared:
    """Raises ConfigError for what only a person can mend, KafkaException while the broker cannot be reached."""
    admin = AdminClient(shared(settings.bootstrap_servers, settings.client_settings))
    folder = Folder(settings.folder)
    changelogs = changelog_topics(topology, settings)
    record = ApplicationRecord.load(folder)
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
        record = ApplicationRecord.new(topology.fingerprint, topic_ids, initial, slots)
        record.save(folder)
    else:
        record.check(settings.application_id, topology.fingerprint, facts)
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
    )
    return Prepared(application, record, slots, _wants_wall_clock(topology))


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


def _wants_wall_clock(topology: Topology) -> bool:
    """Only processors of the user schedule by wall clock; they say so when they are made."""
    now_ms = int(time.time() * 1000)
    for part in topology.sub_topologies:
        if any(isinstance(node, Process) for node in part.nodes):
            # A copy, as the workers get it: a supplier must not be asked twice for the same processor.
            copy: Topology = pickle.loads(_dumped(topology))  # noqa: S301 just made
            task = Task(copy, copy.sub_topologies[part.index], 0, now_ms=now_ms)
            if task._wiring.timers.wanted(PunctuationType.WALL_CLOCK_TIME):
                return True
    return False


def _dumped(topology: Topology) -> bytes:
    content = dumps_by_value(topology)  # type: ignore[no-untyped-call]
    assert isinstance(content, bytes)
    return content
