"""Keeps the topics of the target in step with those of the source: they exist, with as many partitions, the same
settings and the same readers. What fails is logged and tried again after its interval."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.mirror.cluster import Cluster, Place, Setting
from moldau.pipeline.connect.connectors.mirror.filters import Filter, TopicFilter
from moldau.pipeline.connect.connectors.mirror.intervals import Interval
from moldau.pipeline.connect.connectors.mirror.replication_policy import ReplicationPolicy

log = logging.getLogger(__name__)

Settings = Mapping[str, Setting]


class MirroredTopics:
    def __init__(
        self,
        values: Mapping[str, Any],
        source: Cluster,
        target: Cluster,
        policy: ReplicationPolicy,
        topics: TopicFilter,
    ) -> None:
        """`values` are those of the source connector."""
        self._source, self._target, self._policy, self._topics = source, target, policy, topics
        self._replicas: int = values["replication.factor"]
        self._excluded = Filter(values["config.properties.exclude"], (), name="config.properties.exclude")
        self._with_defaults = values["use.defaults.from"] == "source"
        self._known: dict[str, int] = {}
        self._knows_no_acls = False
        now_s = time.monotonic()
        self._refresh = Interval(
            values["refresh.topics.interval.seconds"], enabled=values["refresh.topics.enabled"], now_s=now_s
        )
        self._jobs: list[tuple[str, Interval, Callable[[], None]]] = [
            (
                "the settings of topics",
                Interval(
                    values["sync.topic.configs.interval.seconds"],
                    enabled=values["sync.topic.configs.enabled"],
                ),
                self._sync_settings,
            ),
            (
                "the ACLs of topics",
                Interval(
                    values["sync.topic.acls.interval.seconds"], enabled=values["sync.topic.acls.enabled"]
                ),
                self._sync_acls,
            ),
        ]

    @property
    def places(self) -> list[Place]:
        """The partitions to mirror."""
        return [
            (topic, partition) for topic, count in sorted(self._known.items()) for partition in range(count)
        ]

    def load(self) -> None:
        """Before the first tasks: finds the topics and creates their mirrors. Raises ConnectError if it cannot."""
        try:
            self._known = self._found()
            self._create(self._known)
        except KafkaException as failure:
            raise ConnectError(
                f"the topics of {self._source.alias} cannot be mirrored to {self._target.alias}: "
                f"{failure.args[0].str()}"
            ) from failure

    def look(self) -> bool:
        """Does what is due. True if there are partitions to mirror that were not there before, or the other way."""
        now_s = time.monotonic()
        has_changed = self._refresh.take(now_s) and self._tried("the list of topics", self._look_for_topics)
        for what, interval, job in self._jobs:
            if interval.take(now_s):
                self._tried(what, job)
        return has_changed

    def _tried(self, what: str, job: Callable[[], bool | None]) -> bool:
        try:
            return bool(job())
        except (KafkaException, ConnectError, TimeoutError) as failure:
            log.warning(
                "%s of %s in %s could not be brought up to date, which is tried again later: %s",
                what,
                self._source.alias,
                self._target.alias,
                failure,
            )
            return False

    def _look_for_topics(self) -> bool:
        found = self._found()
        self._create(found)
        if found == self._known:
            return False
        log.info(
            "%d topics of %s are mirrored now, %d before", len(found), self._source.alias, len(self._known)
        )
        self._known = found
        return True

    def _found(self) -> dict[str, int]:
        return {name: count for name, count in self._source.topics().items() if self._topics.takes(name)}

    def _create(self, topics: Mapping[str, int]) -> None:
        existing = self._target.topics()
        missing = {topic for topic in topics if self._remote(topic) not in existing}
        settings = self._source.topic_settings(missing)
        for topic, count in topics.items():
            remote = self._remote(topic)
            if topic in missing:
                wanted = {
                    name: value for name, value in self._wanted(settings[topic]).items() if value is not None
                }
                self._target.create_topic(remote, count, self._replicas, wanted)
            elif existing[remote] < count:
                self._target.grow(remote, count)

    def _sync_settings(self) -> None:
        remotes = {self._remote(topic): topic for topic in self._known}
        theirs = self._source.topic_settings(self._known)
        ours = self._target.topic_settings(remotes.keys() & self._target.topics().keys())
        changes = {
            remote: self._changes(theirs[remotes[remote]], settings)
            for remote, settings in ours.items()
            if remotes[remote] in theirs
        }
        self._target.alter_topic_settings({remote: change for remote, change in changes.items() if change})

    def _changes(self, theirs: Settings, ours: Settings) -> dict[str, str | None]:
        return {
            name: value
            for name, value in self._wanted(theirs).items()
            if name in ours
            and value != (None if ours[name].is_default else ours[name].value)
            # A setting of the target's brokers is theirs to make: there is nothing to delete.
            and (value is not None or ours[name].is_copied)
        }

    def _wanted(self, theirs: Settings) -> dict[str, str | None]:
        """Settings of the source as the target should have them; None for the target's own default."""
        return {
            name: None if one.is_default and not self._with_defaults else one.value
            for name, one in theirs.items()
            if one.is_copied and not self._excluded.takes(name)
        }

    def _sync_acls(self) -> None:
        theirs, ours = self._source.topic_acls(), self._target.topic_acls()
        if theirs is None or ours is None:
            without = self._source if theirs is None else self._target
            if not self._knows_no_acls:
                log.info("%s has no ACLs: those of topics are not mirrored", without.alias)
            self._knows_no_acls = True
            return
        existing = set(ours)
        wanted = [
            found for found in mirrored_acls(theirs, self._known, self._remote) if found not in existing
        ]
        self._target.create_acls(wanted)

    def _remote(self, topic: str) -> str:
        return self._policy.remote_topic(self._source.alias, topic)


_EVERYTHING: Final = (AclOperation.ALL, AclPermissionType.ALLOW)
_WRITING: Final = (AclOperation.WRITE, AclPermissionType.ALLOW)


def mirrored_acls(
    acls: Iterable[AclBinding], topics: Collection[str], remote: Callable[[str], str]
) -> list[AclBinding]:
    """Those of mirrored topics under their new names. Who may write to the source may not write to the mirror: only
    the mirroring does."""
    found = []
    for one in acls:
        permission = (one.operation, one.permission_type)
        if one.name not in topics or permission == _WRITING:
            continue
        found.append(
            AclBinding(
                one.restype,
                remote(one.name),
                one.resource_pattern_type,
                one.principal,
                one.host,
                AclOperation.READ if permission == _EVERYTHING else one.operation,
                one.permission_type,
            )
        )
    return found
