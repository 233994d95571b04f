"""What queries ask of topics: their partitions and their ends."""

import threading
from collections.abc import Collection, Iterable
from typing import Any, Final

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.messages import Place
from moldau.pipeline.sql.syntax.errors import SqlError

ASK_S: Final = 10.0
CHECK_S: Final = 1.0


class Topics:
    def __init__(self, bootstrap_servers: str, settings: clients.ClientSettings) -> None:
        self._settings = clients.admin(bootstrap_servers, settings)
        self._servers = bootstrap_servers
        self._lock = threading.Lock()
        self._client: AdminClient | None = None

    def places(self, names: Iterable[str]) -> list[Place]:
        """All partitions of the topics. SqlError for one that does not exist."""
        known = self._ask(lambda client: client.list_topics(timeout=ASK_S)).topics
        places = []
        for name in dict.fromkeys(names):
            found = known.get(name)
            if found is None:
                raise SqlError(
                    f"the topic {name} does not exist",
                    hint="It was deleted, or never written. SHOW TOPICS; lists those that exist.",
                )
            if found.error is not None:
                raise topic_failure(name, found.error)
            places += [(name, partition) for partition in sorted(found.partitions)]
        return places

    def ends(self, places: Collection[Place]) -> dict[Place, int]:
        """The offsets behind the last committed records."""
        asked = {TopicPartition(*place): OffsetSpec.latest() for place in places}
        if not asked:
            return {}
        committed = IsolationLevel.READ_COMMITTED

        def ask(client: AdminClient) -> dict[Place, int]:
            answers = client.list_offsets(asked, isolation_level=committed, request_timeout=ASK_S)
            return {
                (one.topic, one.partition): answer.result(ASK_S).offset for one, answer in answers.items()
            }

        found: dict[Place, int] = self._ask(ask)
        return found

    def _ask(self, question: Any) -> Any:
        with self._lock:
            if self._client is None:
                self._client = AdminClient(self._settings)
        try:
            return question(self._client)
        except (KafkaException, TimeoutError) as failure:
            raise SqlError(
                f"the broker at {self._servers} does not answer: {failure}",
                hint="The query did not start. Check that the broker runs, then start it again.",
            ) from failure


def partitions_now(consumer: Consumer, topics: Collection[str]) -> dict[str, int]:
    """How many partitions the topics have now, 0 for one that does not exist; nothing if the broker does not answer.
    A consumer by itself waits for a deleted topic to come back."""
    try:
        known = consumer.list_topics(timeout=CHECK_S).topics
    except KafkaException:
        return {}
    return {topic: len(known[topic].partitions) if topic in known else 0 for topic in topics}


def deleted(topic: str) -> SqlError:
    return SqlError(
        f"the topic {topic} no longer exists",
        hint="It was deleted while the query was reading it. Create it, or DROP what reads it.",
    )


def topic_failure(topic: str, error: KafkaError) -> SqlError:
    """Of an error that does not pass."""
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return SqlError(
            f"the topic {topic} must not be read",
            hint="The server's Kafka user needs READ and DESCRIBE on it.",
        )
    return deleted(topic)
