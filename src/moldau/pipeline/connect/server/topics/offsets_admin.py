"""The offsets of connectors, for requests: looks them up and changes them while a connector is stopped.

Those of a source are in the offsets topic, those of a sink are its group's. Deletes a group where an offset is to go:
the client library cannot delete single offsets. All calls block.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.api import Offset
from moldau.pipeline.connect.runtime.plan import consumer_group_of
from moldau.pipeline.connect.runtime.source_offsets import ensure_offsets_topic, read_offsets
from moldau.pipeline.connect.server.topics.fencing import fence_tasks

ANSWER_S: Final = 30.0
NO_GROUP: Final = frozenset({KafkaError.GROUP_ID_NOT_FOUND, KafkaError._NOENT})

log = logging.getLogger("moldau.connect")

Change = tuple[Offset, Offset | None]
"""Partition of a source, and its new offset. None deletes it."""


class OffsetsBusy(MoldauError):
    """The group of a sink still has members."""


class NoSuchOffset(MoldauError):
    """A sink is to go on where no topic has a record."""


class SinkPlace(NamedTuple):
    topic: str
    partition: int


class OffsetsAdmin:
    def __init__(self, client: Mapping[str, str], worker_group: str) -> None:
        self._client: dict[str, str | int | float | bool] = {**client}
        self._worker_group = worker_group

    def topics(self) -> set[str]:
        """All of the cluster."""
        return set(AdminClient(self._client).list_topics(timeout=ANSWER_S).topics)

    # Sources

    def of_source(self, topic: str, connector: str) -> list[tuple[Mapping[str, Any], Offset]]:
        return read_offsets(self._client, topic, connector).all()

    def change_source(self, topic: str, connector: str, changes: Sequence[Change], tasks: int) -> None:
        """`tasks`: how many the connector may have had. One that still runs somewhere is fenced first: it can write no
        more offsets."""
        fence_tasks(self._client, self._worker_group, connector, range(tasks))
        stored = read_offsets(self._client, topic, connector)
        ensure_offsets_topic(AdminClient(self._client), topic)
        failures: list[str] = []
        producer = Producer(
            {
                **self._client,
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
                "linger.ms": 0,
                "log_level": 0,
            }
        )
        for partition, offset in changes:
            key, value = stored.record(partition, offset)
            producer.produce(
                topic,
                value,
                key,
                on_delivery=lambda error, _: failures.append(error.str()) if error is not None else None,
            )
        if producer.flush(ANSWER_S) or failures:
            raise MoldauError(
                f"the offsets could not be written to {topic}: {failures[0] if failures else 'no answer'}"
            )

    def reset_source(self, topic: str, connector: str, tasks: int) -> None:
        known = self.of_source(topic, connector)
        self.change_source(topic, connector, [(partition, None) for partition, _ in known], tasks)

    # Sinks

    def of_sink(self, connector: str) -> dict[SinkPlace, int]:
        consumer = self._group_consumer(connector)
        try:
            # Without a list, only partitions that were assigned would be asked for: all of the cluster's are.
            known = consumer.list_topics(timeout=ANSWER_S).topics
            places = [
                TopicPartition(name, partition)
                for name, topic in known.items()
                for partition in topic.partitions
                if not name.startswith("__")
            ]
            found = consumer.committed(places, timeout=ANSWER_S) if places else []
        finally:
            consumer.close()
        return {SinkPlace(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def change_sink(self, connector: str, changes: Mapping[SinkPlace, int | None]) -> None:
        """Raises OffsetsBusy, and NoSuchOffset for a partition that does not exist or an offset beyond its end."""
        self._require_partitions(changes)
        before = self.of_sink(connector)
        wanted = {**before, **{place: offset for place, offset in changes.items() if offset is not None}}
        gone = {place for place, offset in changes.items() if offset is None} & before.keys()
        if gone:
            self._delete_group(connector)
        after = {place: offset for place, offset in wanted.items() if place not in gone}
        if after:
            self._commit(connector, after)

    def reset_sink(self, connector: str) -> None:
        self._delete_group(connector)

    def _require_partitions(self, changes: Mapping[SinkPlace, int | None]) -> None:
        admin = AdminClient(self._client)
        known = admin.list_topics(timeout=ANSWER_S).topics
        for place, offset in changes.items():
            topic = known.get(place.topic)
            if offset is not None and (topic is None or place.partition not in topic.partitions):
                raise NoSuchOffset(
                    f"there is no partition {place.partition} of a topic {place.topic}. Name one that exists, or "
                    "create the topic first"
                )
        ends = admin.list_offsets(
            {
                TopicPartition(*place): OffsetSpec.latest()
                for place, offset in changes.items()
                if offset is not None
            }
        )
        for asked, future in ends.items():
            offset, end = changes[SinkPlace(asked.topic, asked.partition)], future.result(ANSWER_S).offset
            if offset is not None and offset > end:
                raise NoSuchOffset(
                    f"offset {offset} is beyond the end of {asked.topic}-{asked.partition}, which is {end}"
                )

    def _commit(self, connector: str, offsets: Mapping[SinkPlace, int]) -> None:
        consumer = self._group_consumer(connector)
        try:
            asked = [TopicPartition(*place, offset) for place, offset in offsets.items()]
            for one in consumer.commit(offsets=asked, asynchronous=False) or ():
                if one.error is not None:
                    raise KafkaException(one.error)
        except KafkaException as error:
            raise OffsetsBusy(error.args[0].str()) from error
        finally:
            consumer.close()

    def _delete_group(self, connector: str) -> None:
        group = consumer_group_of(connector)
        # The client must live until it has answered.
        admin = AdminClient(self._client)
        future = admin.delete_consumer_groups([group], request_timeout=ANSWER_S)[group]
        try:
            future.result(ANSWER_S)
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.NON_EMPTY_GROUP:
                raise OffsetsBusy(error.args[0].str()) from error
            if code not in NO_GROUP:
                raise MoldauError(f"the group {group} cannot be deleted: {error.args[0].str()}") from error

    def _group_consumer(self, connector: str) -> Consumer:
        return Consumer(
            {
                **self._client,
                "group.id": consumer_group_of(connector),
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "log_level": 0,
            }
        )
