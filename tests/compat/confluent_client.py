"""confluent-kafka, which is librdkafka: the client of most languages but Java."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka import admin as confluent_admin

from compat.client import FETCH_WAIT, ClientFailure, ConfigEntry, Feature, OffsetSpec, Record
from compat.deadline import Deadline
from moldau.core.error_codes import ErrorCode

TIMEOUT_S = 60
JAVA_NAMES = {"max.request.size": "message.max.bytes", "fetch.max.wait.ms": "fetch.wait.max.ms"}
"""Settings that librdkafka calls differently; the tests use the Java client's names."""


def librdkafka_settings(bootstrap: str, settings: Mapping[str, str] | None) -> dict[str, Any]:
    named = {JAVA_NAMES.get(key, key): value for key, value in (settings or {}).items()}
    return {"bootstrap.servers": bootstrap, "log_level": 0, **named}


def failure_of(error: KafkaError) -> ClientFailure:
    """Errors from a broker have Kafka's numbers; librdkafka's own have negative ones and its own names."""
    name = ErrorCode(error.code()).name if error.code() >= 0 else error.name()
    return ClientFailure(name, error.str())


class ConfluentClient:
    name = "confluent"
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin = confluent_admin.AdminClient(librdkafka_settings(bootstrap, None))

    def broker_id(self) -> str:
        """Of the only one there is."""
        (number,) = self._admin.list_topics(timeout=TIMEOUT_S).brokers
        return str(number)

    def partition_count(self, topic: str) -> int:
        # Not list_topics, whose Metadata request would create a topic that is not there.
        names = confluent_kafka.TopicCollection([topic])
        return len(_outcome(self._admin.describe_topics(names).values()).partitions)

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        failures: list[KafkaError] = []
        producer = Producer(librdkafka_settings(self.bootstrap, settings))
        for record in records:
            optional: dict[str, Any] = (
                {} if record.timestamp_ms is None else {"timestamp": record.timestamp_ms}
            )
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=record.partition,
                on_delivery=lambda error, _: failures.append(error) if error else None,
                **optional,
            )
        try:
            unsent = producer.flush(TIMEOUT_S)
        except KafkaException as failure:
            raise failure_of(failure.args[0]) from None
        if failures:
            raise failure_of(failures[0])
        assert unsent == 0, f"{unsent} records were not acknowledged within {TIMEOUT_S} s"

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        wanted = {
            # Asked for by the library though no group is joined: partitions are assigned by hand.
            "group.id": "unused",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "auto.offset.reset": "error",
            **FETCH_WAIT,
            **(settings or {}),
        }
        consumer = Consumer(librdkafka_settings(self.bootstrap, wanted))
        consumer.assign([TopicPartition(topic, partition, start)])
        records: list[Record] = []
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while count is None or len(records) < count:
                message = consumer.poll(max(0.0, deadline - time.monotonic()))
                assert message is not None, f"only {len(records)} records within {TIMEOUT_S} s"
                error = message.error()
                if error is None:
                    records.append(_record(message))
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise failure_of(error)
                elif count is None:
                    break
        finally:
            consumer.close()
        return records

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        specs: Any = confluent_admin.OffsetSpec
        wanted = getattr(specs, spec.value)() if isinstance(spec, OffsetSpec) else specs.for_timestamp(spec)
        place = TopicPartition(topic, partition)
        offset: int = _outcome(self._admin.list_offsets({place: wanted}).values()).offset
        return offset

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        wanted = {"group.id": group, "enable.auto.commit": "false", "auto.offset.reset": "earliest"}
        consumer = Consumer(librdkafka_settings(self.bootstrap, FETCH_WAIT | wanted))
        consumer.subscribe([topic])
        records: list[Record] = []
        deadline = Deadline(TIMEOUT_S)
        try:
            while len(records) < count:
                deadline.check(f"{len(records)} records of {topic}")
                message = consumer.poll(0.1)
                if message is None:
                    continue
                if (error := message.error()) is not None:
                    raise failure_of(error)
                records.append(_record(message))
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        return records

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replicas: int = 1
    ) -> None:
        new = confluent_admin.NewTopic(topic, partitions, replicas, config=dict(configs or {}))
        _outcome(self._admin.create_topics([new]).values())

    def list_topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=TIMEOUT_S).topics)

    def delete_topic(self, topic: str) -> None:
        _outcome(self._admin.delete_topics([topic]).values())

    def grow_topic(self, topic: str, partitions: int) -> None:
        grown = confluent_admin.NewPartitions(topic, partitions)
        _outcome(self._admin.create_partitions([grown]).values())

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        offset = confluent_kafka.OFFSET_END if before == -1 else before
        place = TopicPartition(topic, partition, offset)
        start: int = _outcome(self._admin.delete_records([place]).values()).low_watermark
        return start

    def topic_config(self, topic: str) -> dict[str, ConfigEntry]:
        resource = confluent_admin.ConfigResource(confluent_admin.ResourceType.TOPIC, topic)
        entries = _outcome(self._admin.describe_configs([resource]).values())
        return {
            name: ConfigEntry(
                value=entry.value,
                source=confluent_admin.ConfigSource(entry.source).name,
                is_read_only=entry.is_read_only,
                is_sensitive=entry.is_sensitive,
            )
            for name, entry in entries.items()
        }

    def alter_topic_config(
        self,
        topic: str,
        *,
        put: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
        append: Mapping[str, str] | None = None,
        subtract: Mapping[str, str] | None = None,
    ) -> None:
        kinds = confluent_admin.AlterConfigOpType
        changes: list[tuple[Any, str, str | None]] = [(kinds.DELETE, key, None) for key in remove]
        for kind, values in ((kinds.SET, put), (kinds.APPEND, append), (kinds.SUBTRACT, subtract)):
            changes += [(kind, key, value) for key, value in (values or {}).items()]
        resource = confluent_admin.ConfigResource(
            confluent_admin.ResourceType.TOPIC,
            topic,
            incremental_configs=[
                confluent_admin.ConfigEntry(key, value, incremental_operation=kind)
                for kind, key, value in changes
            ],
        )
        _outcome(self._admin.incremental_alter_configs([resource]).values())


def _record(message: Any) -> Record:
    return Record(
        value=message.value(),
        key=message.key(),
        headers=tuple(message.headers() or ()),
        timestamp_ms=message.timestamp()[1],
        partition=message.partition(),
        offset=message.offset(),
    )


def _outcome(futures: Iterable[Future[Any]]) -> Any:
    (future,) = futures
    try:
        return future.result(TIMEOUT_S)
    except KafkaException as failure:
        raise failure_of(failure.args[0]) from None
