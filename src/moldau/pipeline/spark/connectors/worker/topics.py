"""Topics that a task writes to: created as its configuration says, before the first record."""

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.runtime.topic_creation import PREFIX, TopicRules, TopicToCreate

ANSWER_S_MAX: Final = 30.0
APPEARS_S_MAX: Final = 10.0
LOOK_EVERY_S: Final = 0.1
DEAD_LETTER_CONFIG: Final = {"retention.ms": "-1"}
"""A dead letter stays until somebody has looked at it."""

log = logging.getLogger(__name__)


class Topics:
    def __init__(self, admin: Mapping[str, Any], rules: TopicRules | None = None) -> None:
        """Without rules the broker creates topics, if it does."""
        self._admin = AdminClient(dict(admin))
        self._rules = rules
        self._known: set[str] = set()

    def ensure(self, topic: str) -> None:
        """Raises ConnectError for a topic that does not exist and that nobody creates."""
        if topic in self._known:
            return
        if not self._exists(topic):
            if self._rules is not None:
                self._create(self._rules.topic(topic))
            self._wait_for(topic)
        self._known.add(topic)

    def ensure_dead_letters(self, topic: str, replicas: int) -> None:
        """With fewer replicas where there are not so many brokers."""
        if topic in self._known:
            return
        brokers = len(self._admin.list_topics(timeout=ANSWER_S_MAX).brokers)
        if not self._exists(topic):
            self._create(TopicToCreate(topic, 1, min(replicas, brokers), DEAD_LETTER_CONFIG))
            self._wait_for(topic)
        self._known.add(topic)

    def all(self) -> list[str]:
        return list(self._admin.list_topics(timeout=ANSWER_S_MAX).topics)

    def _exists(self, topic: str) -> bool:
        # A request for this topic alone would create it, with the broker's own settings.
        return topic in self._admin.list_topics(timeout=ANSWER_S_MAX).topics

    def _create(self, wanted: TopicToCreate) -> None:
        new = NewTopic(wanted.topic, wanted.partitions, wanted.replicas, config=dict(wanted.config))
        try:
            self._admin.create_topics([new], request_timeout=ANSWER_S_MAX)[wanted.topic].result(ANSWER_S_MAX)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise ConnectError(
                    f"the topic {wanted.topic} cannot be created: {failure.args[0].str()}"
                ) from failure
        else:
            log.info("created the topic %s with %d partitions", wanted.topic, wanted.partitions)

    def _wait_for(self, topic: str) -> None:
        end = time.monotonic() + APPEARS_S_MAX
        while True:
            # This request creates the topic where brokers do that.
            found = self._admin.list_topics(topic, timeout=ANSWER_S_MAX).topics.get(topic)
            if found is not None and found.error is None and found.partitions:
                return
            if time.monotonic() > end:
                raise ConnectError(
                    f"the topic {topic} does not exist, and the brokers do not create it: create it, or set "
                    f"{PREFIX}default.partitions and {PREFIX}default.replication.factor"
                )
            time.sleep(LOOK_EVERY_S)
