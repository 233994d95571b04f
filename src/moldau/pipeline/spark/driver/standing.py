"""The status of an application as seen from outside: its checkpoint, its group's offsets, its topics' end offsets.

Only reads. Needs neither Spark nor the application's file, and works whether the application runs or not.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.checkpoint.application_record import FILE, ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.owner import Owner, Runner
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import Positions
from moldau.pipeline.spark.topic_offsets import ANSWER_S_MAX, end_offsets, topic_facts

LOOKS_AT_ONCE: Final = 16
"""It takes a while to see whether a process on another machine is alive."""


@dataclass(frozen=True)
class Checkpoint:
    """What the checkpoint folder of an application says. `problem`: why it cannot be read."""

    application_id: str
    record: ApplicationRecord | None
    planned: Plan | None
    runner: Runner | None
    problem: str | None = None


@dataclass(frozen=True)
class PartitionStanding:
    topic: str
    partition: int
    position: int
    end: int | None
    """None: the topic does not exist any more."""

    @property
    def lag(self) -> int | None:
        return None if self.end is None else max(0, self.end - self.position)


@dataclass(frozen=True)
class Standing:
    checkpoint: Checkpoint
    batch_id: int | None = None
    """The last batch that was committed, completely or in part."""
    partitions: list[PartitionStanding] = field(default_factory=list)
    problem: str | None = None

    @property
    def lag(self) -> int | None:
        """In records. None if nothing was read yet or the brokers do not answer."""
        lags = [one.lag for one in self.partitions]
        return sum(lag for lag in lags if lag is not None) if lags and None not in lags else None


def checkpoints(root: str) -> list[Checkpoint]:
    """All checkpoints in a folder."""
    folder = Folder(root)
    names = [name for name in sorted(folder.names()) if folder.within(name).read(FILE) is not None]
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
        return list(pool.map(lambda name: checkpoint(root, name), names))


def checkpoint(root: str, application_id: str) -> Checkpoint:
    """Has no record if there is no checkpoint."""
    folder = Folder(root).within(application_id)
    runner = Owner(folder, application_id, "").runner()
    try:
        record = ApplicationRecord.load(folder, application_id)
        planned = Ledger(folder.within("plans")).last()
    except MoldauError as broken:
        return Checkpoint(application_id, None, None, runner, str(broken))
    return Checkpoint(application_id, record, planned, runner)


def standing(admin: AdminClient, found: Checkpoint) -> Standing:
    """Asks the brokers. What they do not answer is missing, and `problem` says why."""
    if found.planned is None:
        return Standing(found, problem=found.problem)
    try:
        committed, batch_id = _committed(admin, found.application_id)
        counts = {name: one.partitions for name, one in topic_facts(admin, found.planned.ends).items()}
        ends = end_offsets(admin, counts)
    except KafkaException as unreachable:
        return Standing(found, problem=f"the brokers cannot be reached: {unreachable.args[0].str()}")
    except TimeoutError:
        return Standing(found, problem="the brokers do not answer")
    return Standing(found, batch_id, list(_partitions(found.planned, committed, ends)))


def _partitions(planned: Plan, committed: Positions, ends: Positions) -> Iterator[PartitionStanding]:
    for topic in sorted(planned.ends):
        known = {*planned.ends[topic], *ends.get(topic, {})}
        for partition in sorted(known):
            before = planned.starts.get(topic, {}).get(partition, 0)
            position = committed.get(topic, {}).get(partition, before)
            yield PartitionStanding(topic, partition, position, ends.get(topic, {}).get(partition))


def _committed(admin: AdminClient, group: str) -> tuple[Positions, int | None]:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=ANSWER_S_MAX
    )
    positions: Positions = {}
    batch_id: int | None = None
    for one in asked[group].result(ANSWER_S_MAX).topic_partitions:
        if one.offset >= 0:
            positions.setdefault(one.topic, {})[one.partition] = one.offset
        marker = Marker.parse(one.metadata)
        if marker is not None:
            batch_id = max(marker.batch_id, -1 if batch_id is None else batch_id)
    return positions, batch_id
