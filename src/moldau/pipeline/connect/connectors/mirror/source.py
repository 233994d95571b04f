"""MirrorSource, MirrorCheckpoint and MirrorHeartbeat: MirrorMaker 2's connectors with its settings, topics and offsets.

They run in a worker of the target cluster. One flow, from a source to a target, needs one of each.
"""

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar
from zlib import crc32

from confluent_kafka import KafkaException

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, Offset, SourceConnector
from moldau.pipeline.connect.connectors.mirror.checkpoint_task import MirrorCheckpointTask
from moldau.pipeline.connect.connectors.mirror.client_settings import is_of_clients
from moldau.pipeline.connect.connectors.mirror.cluster import Cluster, Place
from moldau.pipeline.connect.connectors.mirror.filters import Filter, TopicFilter
from moldau.pipeline.connect.connectors.mirror.heartbeat_task import MirrorHeartbeatTask
from moldau.pipeline.connect.connectors.mirror.intervals import Interval
from moldau.pipeline.connect.connectors.mirror.mirrored_topics import MirroredTopics
from moldau.pipeline.connect.connectors.mirror.record_task import (
    CLUSTER,
    PARTITION,
    TOPIC,
    MirrorSourceTask,
    offset_in,
    syncs_topic,
)
from moldau.pipeline.connect.connectors.mirror.replication_policy import (
    HEARTBEATS,
    ReplicationPolicy,
    policy_of,
)
from moldau.pipeline.connect.connectors.mirror.settings import (
    CHECKPOINT,
    GROUPS,
    HEARTBEAT,
    PARTITIONS,
    SOURCE,
    parse,
    same_alias,
)
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, open_declarations

log = logging.getLogger(__name__)

T = TypeVar("T")
JAVA_PACKAGE: Final = "org.apache.kafka.connect.mirror"


class _Flow(SourceConnector):
    """What the three have in common: two clusters, and names."""

    _source: Cluster
    _target: Cluster
    _policy: ReplicationPolicy
    _values: Mapping[str, Any]

    def start(self, config: Texts) -> None:
        super().start(config)
        declarations = tuple(self.declarations)
        self._values = parse(declarations, config, of=type(self).__name__)
        self._policy = policy_of(self._values)
        self._is_on: bool = self._values["enabled"]
        if errors := [error for value in self.check(config) for error in value.errors]:
            raise ConfigError("; ".join(errors))
        if self._is_on:
            timeout_ms = self._values["admin.timeout.ms"]
            self._source = Cluster(config, "source", timeout_ms)
            self._target = Cluster(config, "target", timeout_ms)
            self.begin()

    def begin(self) -> None:
        """Prepares the clusters."""

    @classmethod
    def open_declarations(cls, config: Texts) -> Sequence[Declaration]:
        return open_declarations(config, is_of_clients, "For the clients of the two clusters.")

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        return same_alias(config)

    def _create_internal(self, cluster: Cluster, topic: str, replicas: str) -> None:
        try:
            cluster.create_compacted(topic, self._values[replicas])
        except KafkaException as failure:
            raise ConnectError(
                f"the topic {topic} cannot be created in {cluster.alias}: {failure.args[0].str()}"
            ) from None


class MirrorSourceConnector(_Flow):
    """Copies topics."""

    declarations: ClassVar[Sequence[Declaration]] = SOURCE
    task_class = MirrorSourceTask
    aliases = ("MirrorSource", f"{JAVA_PACKAGE}.MirrorSourceConnector")

    def begin(self) -> None:
        names = Filter.of(self._values, "topics")
        with_heartbeats: bool = self._values["heartbeats.replication.enabled"]
        taken = TopicFilter(names, self._policy, self._target.alias, with_heartbeats=with_heartbeats)
        self._topics = MirroredTopics(self._values, self._source, self._target, self._policy, taken)
        if self._values["emit.offset-syncs.enabled"]:
            topic, side = syncs_topic(self._values, self._policy)
            cluster = self._source if side == "source" else self._target
            self._create_internal(cluster, topic, "offset-syncs.topic.replication.factor")
        self._topics.load()

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        if not self._is_on:
            return []
        return [
            {**self.config, PARTITIONS: ",".join(f"{topic}-{partition}" for topic, partition in some)}
            for some in spread_for_good(self._topics.places, tasks_max)
        ]

    def changed(self) -> bool:
        return self._is_on and self._topics.look()

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if offset is None:
                continue
            _check_partition(partition, texts=(CLUSTER, TOPIC))
            offset_in(offset)


class MirrorCheckpointConnector(_Flow):
    """Translates the offsets of groups."""

    declarations: ClassVar[Sequence[Declaration]] = CHECKPOINT
    task_class = MirrorCheckpointTask
    aliases = ("MirrorCheckpoint", f"{JAVA_PACKAGE}.MirrorCheckpointConnector")

    def begin(self) -> None:
        self._is_on = self._values["emit.checkpoints.enabled"]
        if not self._is_on:
            return
        self._groups = Filter.of(self._values, "groups")
        names = Filter.of(self._values, "topics")
        self._topics = TopicFilter(names, self._policy, self._target.alias, with_heartbeats=False)
        topic = self._policy.checkpoints_topic(self._source.alias)
        self._create_internal(self._target, topic, "checkpoints.topic.replication.factor")
        self._refresh = Interval(
            self._values["refresh.groups.interval.seconds"],
            enabled=self._values["refresh.groups.enabled"],
            now_s=time.monotonic(),
        )
        try:
            self._known = self._found()
        except KafkaException as failure:
            raise ConnectError(
                f"the groups of {self._source.alias} cannot be listed: {failure.args[0].str()}"
            ) from None

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        if not self._is_on:
            return []
        return [{**self.config, GROUPS: json.dumps(some)} for some in _spread(self._known, tasks_max)]

    def changed(self) -> bool:
        if not self._is_on or not self._refresh.take(time.monotonic()):
            return False
        try:
            before, self._known = self._known, self._found()
        except (KafkaException, TimeoutError) as failure:
            log.warning("the groups of %s cannot be listed now: %s", self._source.alias, failure)
            return False
        return before != self._known

    def _found(self) -> list[str]:
        """Groups that have read a mirrored topic."""
        wanted = [group for group in self._source.groups() if self._groups.takes(group)]
        return sorted(
            group
            for group in wanted
            if any(self._topics.takes(topic) for topic, _ in self._source.committed(group))
        )

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        if config.get("emit.offset-syncs.enabled", "true").strip().lower() != "false":
            return same_alias(config)
        error = "offsets cannot be translated without offset syncs: set emit.offset-syncs.enabled=true"
        wrong = ConfigValue("emit.offset-syncs.enabled", config["emit.offset-syncs.enabled"], errors=[error])
        return [*same_alias(config), wrong]

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if offset is not None:
                _check_partition(partition, texts=("group", TOPIC))
                offset_in(offset)


class MirrorHeartbeatConnector(_Flow):
    """Shows that a flow is alive, and which clusters a cluster can be reached from."""

    declarations: ClassVar[Sequence[Declaration]] = HEARTBEAT
    task_class = MirrorHeartbeatTask
    aliases = ("MirrorHeartbeat", f"{JAVA_PACKAGE}.MirrorHeartbeatConnector")

    def begin(self) -> None:
        self._is_on = self._values["emit.heartbeats.enabled"]
        if self._is_on:
            self._create_internal(self._target, HEARTBEATS, "heartbeats.topic.replication.factor")

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [self.config] if self._is_on else []

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if offset is not None:
                for name in ("sourceClusterAlias", "targetClusterAlias"):
                    _check_text(partition, name)
                offset_in(offset)


def spread_for_good(places: Iterable[Place], tasks_max: int) -> list[list[Place]]:
    """The partitions of each task. A partition stays with its task whatever other partitions come and go: its next
    task could begin while this one still commits, and would write the same records again. A topic is spread evenly;
    with few topics, a task may have nothing."""
    shares: list[list[Place]] = [[] for _ in range(tasks_max)]
    for topic, partition in places:
        shares[(crc32(topic.encode()) + partition) % tasks_max].append((topic, partition))
    while shares and not shares[-1]:
        shares.pop()
    return shares


def _spread(things: Sequence[T], tasks_max: int) -> Iterable[list[T]]:
    """In turns: the partitions of a topic go to several tasks."""
    count = min(tasks_max, len(things))
    return [list(things[index::count]) for index in range(count)]


def _check_partition(partition: Offset, *, texts: Sequence[str]) -> None:
    for name in texts:
        _check_text(partition, name)
    number = partition.get(PARTITION)
    if type(number) is not int or number < 0:
        raise ConnectError(
            f"A source partition has a whole number as '{PARTITION}' here, not {dict(partition)}"
        )


def _check_text(partition: Offset, name: str) -> None:
    if not isinstance(partition.get(name), str):
        raise ConnectError(f"A source partition has a text as '{name}' here, not {dict(partition)}")
