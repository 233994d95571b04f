"""What statements ask of the cluster and the registry, and what they create there. Blocks: call it in a thread."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType
from confluent_kafka.admin import NewTopic as KafkaTopic

from moldau.core.errors import MoldauError
from moldau.pipeline.sql.engine import Facts, Needs, NewSchema, NewTopic, SubjectNeed, TopicFacts
from moldau.pipeline.sql.formats.infer import SubjectSchema
from moldau.pipeline.sql.formats.registry import SchemaFinder, subject_of
from moldau.pipeline.sql.syntax.errors import SqlError

ANSWER_S_MAX: Final = 30.0
SHOWN_CONFIGS: Final = ("cleanup.policy", "retention.ms")

log = logging.getLogger("moldau.sql")


class World:
    def __init__(
        self, admin: AdminClient, finder: SchemaFinder | None, settings: Callable[[], Mapping[str, str]]
    ) -> None:
        self._admin = admin
        self._finder = finder
        self._settings = settings

    def facts(self, needs: Needs) -> Facts:
        """Raises SqlError where the cluster or the registry does not answer."""
        try:
            topics = self._all_topics() if needs.all_topics else {}
            topics |= self._topics(needs.topics)
            ends = self._ends({name: topics[name].partitions for name in needs.ends if name in topics})
        except KafkaException as error:
            raise _no_answer(error) from None
        except TimeoutError:
            raise SqlError("the Kafka cluster does not answer; try again") from None
        schemas = {} if self._finder is None else self._schemas(self._finder, needs.subjects)
        return Facts(topics, schemas, self._settings(), ends, int(time.time() * 1000))

    def create(self, topics: Sequence[NewTopic], schemas: Sequence[NewSchema]) -> list[str]:
        """Returns the topics that were created. Where anything fails, nothing is left of them. Raises SqlError."""
        created: list[str] = []
        try:
            for one in topics:
                self._create(one)
                created.append(one.name)
            for new in schemas:
                self._register(new)
        except BaseException:
            self.delete(created)
            raise
        return created

    def delete(self, topics: Sequence[str], *, with_subjects: bool = False) -> None:
        """What does not exist is skipped; what fails is logged."""
        if not topics:
            return
        for topic, future in self._admin.delete_topics(list(topics), operation_timeout=ANSWER_S_MAX).items():
            try:
                future.result(ANSWER_S_MAX)
            except (KafkaException, TimeoutError) as error:
                if not _is_unknown(error):
                    log.warning("the topic %s could not be deleted: %s", topic, error)
        if with_subjects and self._finder is not None:
            for topic in topics:
                for is_key in (True, False):
                    self._delete_subject(self._finder, subject_of(topic, is_key=is_key))

    def _delete_subject(self, finder: SchemaFinder, subject: str) -> None:
        try:
            finder.delete(subject)
        except MoldauError as failed:
            log.warning("the subject %s could not be deleted: %s", subject, failed)

    def topic_names(self) -> list[str]:
        return list(self._admin.list_topics(timeout=ANSWER_S_MAX).topics)

    def _create(self, new: NewTopic) -> None:
        wanted = KafkaTopic(new.name, new.partitions, new.replicas, config=dict(new.configs))
        future = self._admin.create_topics([wanted], operation_timeout=ANSWER_S_MAX)[new.name]
        try:
            future.result(ANSWER_S_MAX)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                raise SqlError(
                    f"the topic {new.name} was created by somebody else in the meantime", hint="Try again."
                ) from None
            raise SqlError(f"cannot create the topic {new.name}: {error.args[0].str()}") from None
        except TimeoutError:
            raise SqlError(f"cannot create the topic {new.name}: the brokers do not answer") from None

    def _all_topics(self) -> dict[str, TopicFacts]:
        listed = self._admin.list_topics(timeout=ANSWER_S_MAX).topics
        return {
            name: TopicFacts(len(topic.partitions), _replicas(topic.partitions.values()))
            for name, topic in listed.items()
        }

    def _topics(self, names: Iterable[str]) -> dict[str, TopicFacts]:
        wanted = sorted(set(names))
        if not wanted:
            return {}
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in wanted]
        described = self._admin.describe_topics(TopicCollection(wanted), request_timeout=ANSWER_S_MAX)
        configs = self._admin.describe_configs(resources, request_timeout=ANSWER_S_MAX)
        settings = {resource.name: _configs(future) for resource, future in configs.items()}
        found = {}
        for name, future in described.items():
            try:
                topic = future.result(ANSWER_S_MAX)
            except KafkaException as error:
                if _is_unknown(error):
                    continue
                raise
            found[name] = TopicFacts(len(topic.partitions), _replicas(topic.partitions), settings[name])
        return found

    def _ends(self, partitions: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """As a reader of committed records sees them."""
        asked = {
            TopicPartition(topic, number): OffsetSpec.latest()
            for topic, count in partitions.items()
            for number in range(count)
        }
        if not asked:
            return {}
        committed = IsolationLevel.READ_COMMITTED
        answers = self._admin.list_offsets(asked, isolation_level=committed, request_timeout=ANSWER_S_MAX)
        found = {
            (place.topic, place.partition): future.result(ANSWER_S_MAX).offset
            for place, future in answers.items()
        }
        return {
            topic: tuple(found[topic, number] for number in range(count))
            for topic, count in partitions.items()
        }

    def _schemas(
        self, finder: SchemaFinder, needs: Iterable[SubjectNeed]
    ) -> dict[SubjectNeed, SubjectSchema]:
        found = {
            need: finder.latest(need.subject) if need.schema_id is None else finder.by_id(need.schema_id)
            for need in needs
        }
        return {need: schema for need, schema in found.items() if schema is not None}

    def _register(self, new: NewSchema) -> None:
        if self._finder is None:
            raise SqlError(
                f"the schema of {new.subject} belongs into a schema registry, and this server has none",
                hint="Set ksql.schema.registry.url, or use a format without schemas, such as JSON.",
            )
        self._finder.registered(new.subject, new.schema)


def _replicas(partitions: Iterable[Any]) -> int:
    return min((len(partition.replicas) for partition in partitions), default=0)


def _configs(future: Any) -> dict[str, str]:
    try:
        entries = future.result(ANSWER_S_MAX)
    except KafkaException:
        return {}
    return {name: entries[name].value for name in SHOWN_CONFIGS if name in entries}


def _is_unknown(error: Exception) -> bool:
    reason = error.args[0] if error.args else None
    return isinstance(reason, KafkaError) and reason.code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def _no_answer(error: KafkaException) -> SqlError:
    return SqlError(f"the Kafka cluster does not answer: {error.args[0].str()}", hint="Try again.")
