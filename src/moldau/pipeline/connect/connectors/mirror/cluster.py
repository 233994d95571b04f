"""One of the two clusters of a flow: what connectors ask of it and change in it. All I/O on clusters but reading and
writing records is here."""

import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, NamedTuple, TypeVar

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.mirror.client_settings import Role, Side, client_settings
from moldau.pipeline.connect.data.client_errors import ClientErrors
from moldau.pipeline.connect.declarations import Texts

log = logging.getLogger(__name__)

T = TypeVar("T")
Client = TypeVar("Client", AdminClient, Consumer, Producer)
Place = tuple[str, int]
"""Topic and partition."""

_ANY: Final[Any] = None
_UNKNOWN: Final = re.compile(r'No such configuration property: "([^"]+)"')
_NO_ACLS: Final = frozenset(
    {
        KafkaError.SECURITY_DISABLED,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._UNSUPPORTED_FEATURE,
    }
)
_UNUSED_STATES: Final = (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD, ConsumerGroupState.UNKNOWN)


class Committed(NamedTuple):
    offset: int
    metadata: str


class Setting(NamedTuple):
    value: str | None
    is_default: bool
    is_copied: bool
    """False for what cannot be set, must not be shown, or belongs to the brokers."""


class Cluster:
    def __init__(self, config: Texts, side: Side, timeout_ms: int) -> None:
        self.alias = config.get(f"{side}.cluster.alias", side)
        self.side = side
        self.timeout_s = timeout_ms / 1_000
        self._config = config
        self._errors = ClientErrors()
        self._admin = made(AdminClient, {**self.settings("admin"), "error_cb": self._errors.note})

    def settings(self, role: Role) -> dict[str, Any]:
        return client_settings(self._config, self.side, role)

    def topics(self) -> dict[str, int]:
        """All topics, with the number of their partitions."""
        try:
            known = self._admin.list_topics(timeout=self.timeout_s).topics
        except KafkaException as failure:
            own = f"{self.side}.cluster."
            raise ConnectError(
                f"the {self.side} cluster {self.alias} does not answer: "
                f"{self._errors.text_of(failure, self._admin).rstrip('.')}. Check "
                f"{own}bootstrap.servers={self._config.get(f'{own}bootstrap.servers')}, {own}security.protocol and the "
                "login"
            ) from None
        return {name: len(topic.partitions) for name, topic in known.items() if topic.error is None}

    def create_topic(self, name: str, partitions: int, replicas: int, settings: Mapping[str, str]) -> None:
        """Does nothing if it exists. With fewer replicas if there are fewer brokers."""
        brokers = len(self._admin.list_topics(timeout=self.timeout_s).brokers)
        if replicas > brokers:
            log.warning(
                "%s in %s gets %d replicas instead of %d: there are not more brokers",
                name,
                self.alias,
                brokers,
                replicas,
            )
        new = NewTopic(name, partitions, min(replicas, brokers), config=dict(settings))
        try:
            self._answer(self._admin.create_topics([new], request_timeout=self.timeout_s))
        except KafkaException as failure:
            if code_of(failure) != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        else:
            log.info("created topic %s in %s", name, self.alias)

    def create_compacted(self, name: str, replicas: int) -> None:
        """A topic of one partition that MirrorMaker keeps its own records in."""
        if name not in self.topics():
            self.create_topic(name, 1, replicas, {"cleanup.policy": "compact"})

    def grow(self, topic: str, partitions: int) -> None:
        new = NewPartitions(topic, partitions)
        self._answer(self._admin.create_partitions([new], request_timeout=self.timeout_s))
        log.info("topic %s in %s has %d partitions now", topic, self.alias, partitions)

    def topic_settings(self, topics: Collection[str]) -> dict[str, dict[str, Setting]]:
        asked = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        if not asked:
            return {}
        found = {}
        for resource, future in self._admin.describe_configs(asked, request_timeout=self.timeout_s).items():
            entries = self._result(future)
            found[resource.name] = {name: _setting(entry) for name, entry in entries.items()}
        return found

    def alter_topic_settings(self, changes: Mapping[str, Mapping[str, str | None]]) -> None:
        """None deletes a setting. A topic whose settings are rejected does not stop the others."""
        asked = [
            ConfigResource(
                ConfigResource.Type.TOPIC,
                topic,
                incremental_configs=[_alteration(name, value) for name, value in settings.items()],
            )
            for topic, settings in changes.items()
        ]
        if not asked:
            return
        answers = self._admin.incremental_alter_configs(asked, request_timeout=self.timeout_s)
        for resource, future in answers.items():
            try:
                self._result(future)
            except KafkaException as failure:
                log.warning(
                    "the settings of %s in %s stay as they are: %s",
                    resource.name,
                    self.alias,
                    failure.args[0].str(),
                )

    def topic_acls(self) -> list[AclBinding] | None:
        """Of topics by their full names. None if the cluster has no authorizer."""
        every = AclBindingFilter(
            ResourceType.TOPIC,
            _ANY,
            ResourcePatternType.LITERAL,
            _ANY,
            _ANY,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        try:
            return list(self._result(self._admin.describe_acls(every, request_timeout=self.timeout_s)))
        except KafkaException as failure:
            if code_of(failure) in _NO_ACLS:
                return None
            raise

    def create_acls(self, bindings: Sequence[AclBinding]) -> bool:
        """False if the cluster has no authorizer."""
        try:
            if bindings:
                self._answer(self._admin.create_acls(list(bindings), request_timeout=self.timeout_s))
        except KafkaException as failure:
            if code_of(failure) in _NO_ACLS:
                return False
            raise
        return True

    def groups(self) -> list[str]:
        answer = self._result(self._admin.list_consumer_groups(request_timeout=self.timeout_s))
        return [one.group_id for one in answer.valid]

    def unused(self, groups: Iterable[str]) -> set[str]:
        """Those without members. A group that does not exist has none."""
        asked = list(groups)
        if not asked:
            return set()
        answers = self._admin.describe_consumer_groups(asked, request_timeout=self.timeout_s)
        found = set()
        for group, future in answers.items():
            try:
                if self._result(future).state in _UNUSED_STATES:
                    found.add(group)
            except KafkaException as failure:
                if code_of(failure) == KafkaError.GROUP_ID_NOT_FOUND:
                    found.add(group)
                else:
                    log.warning("group %s in %s: %s", group, self.alias, failure.args[0].str())
        return found

    def committed(self, group: str) -> dict[Place, Committed]:
        answers = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=self.timeout_s
        )
        answer = self._answer(answers)[0]
        return {
            (one.topic, one.partition): Committed(one.offset, one.metadata or "")
            for one in answer.topic_partitions
            if one.error is None and one.offset >= 0
        }

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        """Of a group without members."""
        asked = [
            TopicPartition(topic, partition, one.offset, one.metadata)
            for (topic, partition), one in offsets.items()
        ]
        answers = self._admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, asked)], request_timeout=self.timeout_s
        )
        for one in self._answer(answers)[0].topic_partitions:
            if one.error is not None:
                raise KafkaException(one.error)

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        """Where partitions end, with what open transactions have written. Those that do not exist are left out."""
        asked = {TopicPartition(*place): OffsetSpec.latest() for place in places}
        if not asked:
            return {}
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=self.timeout_s
        )
        found = {}
        for one, future in answers.items():
            try:
                found[one.topic, one.partition] = self._result(future).offset
            except KafkaException as failure:
                if code_of(failure) not in (
                    KafkaError.UNKNOWN_TOPIC_OR_PART,
                    KafkaError.NOT_LEADER_FOR_PARTITION,
                    KafkaError.LEADER_NOT_AVAILABLE,
                ):
                    raise
        return found

    def _answer(self, answers: Mapping[Any, "Future[T]"]) -> list[T]:
        return [self._result(future) for future in answers.values()]

    def _result(self, future: "Future[T]") -> T:
        # The client's own time is up first, and its error says more.
        return future.result(self.timeout_s + 5)


def made(kind: type[Client], settings: Mapping[str, Any]) -> Client:
    """A client. Settings that librdkafka does not have are left out, with a warning."""
    left = dict(settings)
    while True:
        try:
            return kind(left)
        except KafkaException as failure:
            unknown = _UNKNOWN.search(failure.args[0].str())
            if unknown is None or unknown[1] not in left:
                raise ConfigError(f"a client cannot be made: {failure.args[0].str()}") from failure
            log.info("the setting %s has no effect on the clients here", unknown[1])
            del left[unknown[1]]


def code_of(failure: KafkaException) -> int:
    return int(failure.args[0].code())


def _setting(entry: ConfigEntry) -> Setting:
    source = ConfigSource(entry.source)
    is_default = source is ConfigSource.DEFAULT_CONFIG
    is_own = is_default or source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    return Setting(entry.value, is_default, is_own and not entry.is_read_only and not entry.is_sensitive)


def _alteration(name: str, value: str | None) -> ConfigEntry:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value, incremental_operation=operation)
