"""kafka-python, the pure Python client."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from compat.client import FETCH_WAIT, ClientFailure, ConfigEntry, Feature, OffsetSpec, Record
from compat.deadline import Deadline
from compat.python_clients import check, failure_of, keyword_settings, record_of
from moldau.core.error_codes import ErrorCode

with warnings.catch_warnings():
    # It reads its message definitions in a way that Python deprecates.
    warnings.simplefilter("ignore")
    import kafka
    from kafka import TopicPartition
    from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType, NewTopic
    from kafka.errors import KafkaError
    from kafka.protocol.consumer import OffsetSpec as KafkaOffsetSpec

TIMEOUT_S = 60
SPECS = {
    OffsetSpec.EARLIEST: KafkaOffsetSpec.EARLIEST,
    OffsetSpec.LATEST: KafkaOffsetSpec.LATEST,
    OffsetSpec.MAX_TIMESTAMP: KafkaOffsetSpec.MAX_TIMESTAMP,
}


class KafkaPythonClient:
    name = "kafka-python"
    lacks = frozenset({Feature.UNKNOWN_TOPICS})

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def partition_count(self, topic: str) -> int:
        with self._admin() as admin:
            (described,) = admin.describe_topics([topic])
        check(described["error_code"])
        return len(described["partitions"])

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        with _failures(), closing(kafka.KafkaProducer(**self._settings(settings))) as producer:
            sent = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            producer.flush(TIMEOUT_S)
            for future in sent:
                future.get(TIMEOUT_S)

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        wanted = {"auto.offset.reset": "none", **FETCH_WAIT, **(settings or {})}
        place = TopicPartition(topic, partition)
        records: list[Record] = []
        deadline = Deadline(TIMEOUT_S)
        with _failures(), closing(kafka.KafkaConsumer(**self._settings(wanted))) as consumer:
            consumer.assign([place])
            consumer.seek(place, start)
            end = consumer.end_offsets([place])[place] if count is None else None
            while consumer.position(place) < end if end is not None else len(records) < (count or 0):
                deadline.check(f"{len(records)} records of {topic}")
                records += map(record_of, consumer.poll(100).get(place, []))
        return records

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        place = TopicPartition(topic, partition)
        wanted = SPECS[spec] if isinstance(spec, OffsetSpec) else spec
        with self._admin() as admin:
            offset: int = admin.list_partition_offsets({place: wanted})[place].offset
        return offset

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
        deadline = Deadline(TIMEOUT_S)
        records: list[Record] = []
        with _failures(), closing(kafka.KafkaConsumer(**self._settings(FETCH_WAIT | settings))) as consumer:
            consumer.subscribe([topic])
            while len(records) < count:
                deadline.check(f"{len(records)} records of {topic}")
                # One long wait: what it does to join is lost when a shorter one ends in between (3.0.12).
                for polled in consumer.poll(TIMEOUT_S * 1000, max_records=count - len(records)).values():
                    records += map(record_of, polled)
            # The positions of what was polled: no more records than were asked for.
            consumer.commit()
        return records

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replicas: int = 1
    ) -> None:
        with self._admin() as admin:
            admin.create_topics([NewTopic(topic, partitions, replicas, topic_configs=dict(configs or {}))])

    def list_topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def delete_topic(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def grow_topic(self, topic: str, partitions: int) -> None:
        with self._admin() as admin:
            admin.create_partitions({topic: partitions})

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        place = TopicPartition(topic, partition)
        with self._admin() as admin:
            start: int = admin.delete_records({place: before})[place]["low_watermark"]
        return start

    def topic_config(self, topic: str) -> dict[str, ConfigEntry]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        with self._admin() as admin:
            entries = admin.describe_configs([resource], config_filter="all")["topic"][topic]
        return {
            name: ConfigEntry(
                value=entry["value"],
                source=entry["config_source"],
                is_read_only=entry["read_only"],
                is_sensitive=entry["is_sensitive"],
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
        kinds = ((AlterConfigOp.SET, put), (AlterConfigOp.APPEND, append), (AlterConfigOp.SUBTRACT, subtract))
        changes: dict[str, Any] = {key: (AlterConfigOp.DELETE, None) for key in remove}
        for kind, values in kinds:
            changes |= {key: (kind, value) for key, value in (values or {}).items()}
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, changes)
        with self._admin() as admin:
            # The library would look for the keys itself; the broker is to say which it does not know.
            outcome = admin.alter_configs([resource], raise_on_unknown=False)["topic"][topic]
        if outcome != "OK":
            code = re.match(r"\[Error (\d+)\]", outcome)
            assert code, outcome
            raise ClientFailure(ErrorCode(int(code[1])).name, outcome)

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        with _failures(), closing(kafka.KafkaAdminClient(bootstrap_servers=self.bootstrap)) as admin:
            yield admin

    def _settings(self, settings: Mapping[str, str] | None) -> dict[str, Any]:
        return keyword_settings(self.bootstrap, settings)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except KafkaError as failure:
        raise failure_of(failure) from failure
