"""The task of the checkpoint connector: translates the committed offsets of groups into offsets of the target.

Translated offsets are written to the topic of checkpoints, where `RemoteClusterUtils` of Kafka's client finds them. If
`sync.group.offsets.enabled`, they are committed in the target as well, so that a group only has to move over.
"""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from moldau.pipeline.connect.api import RetriableError, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.mirror.cluster import Cluster, code_of
from moldau.pipeline.connect.connectors.mirror.filters import Filter, TopicFilter
from moldau.pipeline.connect.connectors.mirror.formats import Checkpoint, OffsetSync, Unreadable
from moldau.pipeline.connect.connectors.mirror.group_checkpoints import GroupCheckpoints
from moldau.pipeline.connect.connectors.mirror.intervals import Interval
from moldau.pipeline.connect.connectors.mirror.offset_translation import OffsetTranslation
from moldau.pipeline.connect.connectors.mirror.record_task import syncs_topic
from moldau.pipeline.connect.connectors.mirror.replication_policy import policy_of
from moldau.pipeline.connect.connectors.mirror.settings import CHECKPOINT, GROUPS, parse
from moldau.pipeline.connect.connectors.mirror.topic_reader import TopicReader
from moldau.pipeline.connect.data.records import OPTIONAL_BYTES, SourceRecord
from moldau.pipeline.connect.declarations import Texts

log = logging.getLogger(__name__)

REST_MS_MAX: Final = 1_000
_IN_USE: Final = frozenset(
    {KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NON_EMPTY_GROUP, KafkaError.ILLEGAL_GENERATION}
)


class MirrorCheckpointTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = parse(CHECKPOINT, config, of="MirrorCheckpointConnector")
        timeout_ms = values["admin.timeout.ms"]
        self._source = Cluster(config, "source", timeout_ms)
        self._target = Cluster(config, "target", timeout_ms)
        self._policy = policy_of(values)
        self._groups: frozenset[str] = frozenset(json.loads(config.get(GROUPS, "[]")))
        names = Filter.of(values, "topics")
        self._topics = TopicFilter(names, self._policy, self._target.alias, with_heartbeats=False)
        self._syncs_topic, side = syncs_topic(values, self._policy)
        self._syncs_cluster = self._source if side == "source" else self._target
        self._checkpoints_topic = self._policy.checkpoints_topic(self._source.alias)
        self._emit = Interval(values["emit.checkpoints.interval.seconds"])
        self._commit = Interval(
            values["sync.group.offsets.interval.seconds"], enabled=values["sync.group.offsets.enabled"]
        )
        self._translation = OffsetTranslation()
        self._known = GroupCheckpoints()
        self._has_begun = False
        self._syncs: TopicReader | None = None

    def poll(self) -> Sequence[SourceRecord]:
        now_s = time.monotonic()
        try:
            if not self._has_begun:
                self._replay_checkpoints()
                self._has_begun = True
            records = self._checkpoints() if self._emit.take(now_s) else ()
            if self._commit.take(now_s):
                self._commit_in_target()
        except (KafkaException, TimeoutError) as failure:
            raise RetriableError(
                f"the groups of {self._source.alias} cannot be translated for {self._target.alias}: {failure}"
            ) from failure
        return records

    def next_poll_ms(self) -> int:
        now_s = time.monotonic()
        left_s = min(self._emit.left_s(now_s), self._commit.left_s(now_s))
        return min(REST_MS_MAX, int(min(left_s, REST_MS_MAX) * 1_000) + 1)

    def stop(self) -> None:
        if getattr(self, "_syncs", None) is not None:
            assert self._syncs is not None
            self._syncs.close()

    def _replay_checkpoints(self) -> None:
        """An earlier task's: otherwise groups would go back when this one knows fewer offset syncs."""
        if self._checkpoints_topic not in self._target.topics():
            return
        reader = TopicReader(self._target.settings("consumer"), self._checkpoints_topic)
        try:
            for key, value in reader.new():
                found = _checkpoint_in(key, value)
                if found is not None and found.group in self._groups:
                    self._known.replay(found)
        finally:
            reader.close()

    def _checkpoints(self) -> list[SourceRecord]:
        if not self._take_syncs():
            return []
        now_ms = time.time_ns() // 1_000_000
        return [
            self._record(checkpoint, now_ms)
            for group in sorted(self._groups)
            for checkpoint in self._translated(group)
            if self._known.take(checkpoint)
        ]

    def _take_syncs(self) -> bool:
        """False if there are none yet: the topic does not exist."""
        if self._syncs is None:
            if self._syncs_topic not in self._syncs_cluster.topics():
                log.info("%s is not there yet in %s", self._syncs_topic, self._syncs_cluster.alias)
                return False
            self._syncs = TopicReader(self._syncs_cluster.settings("consumer"), self._syncs_topic)
        for key, value in self._syncs.new():
            try:
                self._translation.take([OffsetSync.of(key, value or b"")])
            except Unreadable as wrong:
                log.warning("%s has a record that is no offset sync: %s", self._syncs_topic, wrong)
        return True

    def _translated(self, group: str) -> Iterator[Checkpoint]:
        for (topic, partition), one in self._source.committed(group).items():
            if not self._topics.takes(topic):
                continue
            downstream = self._translation.translate(topic, partition, one.offset)
            if downstream is not None and downstream >= 0:
                remote = self._policy.remote_topic(self._source.alias, topic)
                yield Checkpoint(group, remote, partition, one.offset, downstream, one.metadata)

    def _commit_in_target(self) -> None:
        for group in sorted(self._target.unused(self._known.groups())):
            offsets = self._known.to_commit(group, self._target.committed(group))
            if not offsets:
                continue
            try:
                self._target.commit(group, offsets)
            except KafkaException as failure:
                # Somebody has joined in between, or a topic does not exist.
                level = logging.INFO if code_of(failure) in _IN_USE else logging.WARNING
                log.log(
                    level,
                    "offsets of group %s are not committed in %s: %s",
                    group,
                    self._target.alias,
                    failure,
                )

    def _record(self, checkpoint: Checkpoint, now_ms: int) -> SourceRecord:
        partition: dict[str, Any] = {
            "group": checkpoint.group,
            "partition": checkpoint.partition,
            "topic": checkpoint.topic,
        }
        return SourceRecord(
            self._checkpoints_topic,
            key=checkpoint.key(),
            value=checkpoint.value(),
            key_schema=OPTIONAL_BYTES,
            value_schema=OPTIONAL_BYTES,
            partition=0,
            timestamp_ms=now_ms,
            source_partition=partition,
            source_offset={"offset": 0},
        )


def _checkpoint_in(key: bytes, value: bytes | None) -> Checkpoint | None:
    try:
        return None if value is None else Checkpoint.of(key, value)
    except Unreadable as wrong:
        log.warning("a record is no checkpoint: %s", wrong)
        return None
