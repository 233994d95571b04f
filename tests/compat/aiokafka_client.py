"""aiokafka, the asyncio client."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from compat.client import FETCH_WAIT, ConfigEntry, Feature, OffsetSpec, Record
from compat.deadline import Deadline
from compat.python_clients import check, failure_of, keyword_settings, record_of

T = TypeVar("T")
TIMEOUT_S = 60
CONFIG_SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}
PRODUCER_NAMES = {"batch.size": "max_batch_size"}


class AiokafkaClient:
    name = "aiokafka"
    lacks = frozenset(
        {
            Feature.DEFAULT_COUNTS,
            Feature.INCREMENTAL_CONFIGS,
            Feature.INVALID_RECORD,
            Feature.MAX_TIMESTAMP,
            Feature.UNKNOWN_TOPICS,
        }
    )

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def partition_count(self, topic: str) -> int:
        async def ask() -> int:
            async with self._admin() as admin:
                (described,) = await admin.describe_topics([topic])
            check(described["error_code"])
            return len(described["partitions"])

        return _run(ask())

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        async def send() -> None:
            named = {PRODUCER_NAMES.get(key, key): value for key, value in (settings or {}).items()}
            async with AIOKafkaProducer(**self._settings(named)) as producer:
                sent = [
                    await producer.send(
                        topic,
                        value=record.value,
                        key=record.key,
                        headers=list(record.headers),
                        partition=record.partition,
                        timestamp_ms=record.timestamp_ms,
                    )
                    for record in records
                ]
                await asyncio.gather(*sent)

        _run(send())

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        async def read() -> list[Record]:
            wanted = {"auto.offset.reset": "none", **FETCH_WAIT, **(settings or {})}
            place = TopicPartition(topic, partition)
            records: list[Record] = []
            deadline = Deadline(TIMEOUT_S)
            async with AIOKafkaConsumer(**self._settings(wanted)) as consumer:
                consumer.assign([place])
                consumer.seek(place, start)
                end = (await consumer.end_offsets([place]))[place] if count is None else None
                while (
                    await consumer.position(place) < end if end is not None else len(records) < (count or 0)
                ):
                    deadline.check(f"{len(records)} records of {topic}")
                    polled = await consumer.getmany(place, timeout_ms=100)
                    records += map(record_of, polled.get(place, []))
            return records

        return _run(read())

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        place = TopicPartition(topic, partition)

        async def ask() -> int:
            async with AIOKafkaConsumer(**self._settings(None)) as consumer:
                if isinstance(spec, OffsetSpec):
                    asked = (
                        consumer.beginning_offsets if spec is OffsetSpec.EARLIEST else consumer.end_offsets
                    )
                    offset: int = (await asked([place]))[place]
                    return offset
                found = (await consumer.offsets_for_times({place: spec}))[place]
                return -1 if found is None else found.offset

        return _run(ask())

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": "false"}

        async def read() -> list[Record]:
            records: list[Record] = []
            deadline = Deadline(TIMEOUT_S)
            async with AIOKafkaConsumer(topic, **self._settings(FETCH_WAIT | settings)) as consumer:
                while len(records) < count:
                    deadline.check(f"{len(records)} records of {topic}")
                    polled = await consumer.getmany(timeout_ms=100, max_records=count - len(records))
                    for some in polled.values():
                        records += map(record_of, some)
                # The positions of what was polled: no more records than were asked for.
                await consumer.commit()
            return records

        return _run(read())

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replicas: int = 1
    ) -> None:
        async def ask() -> None:
            async with self._admin() as admin:
                new = NewTopic(topic, partitions, replicas, topic_configs=dict(configs or {}))
                answer = await admin.create_topics([new])
            check(answer.topic_errors[0][1])

        _run(ask())

    def list_topics(self) -> set[str]:
        async def ask() -> set[str]:
            async with self._admin() as admin:
                return set(await admin.list_topics())

        return _run(ask())

    def delete_topic(self, topic: str) -> None:
        async def ask() -> None:
            async with self._admin() as admin:
                answer = await admin.delete_topics([topic])
            check(answer.topic_error_codes[0][1])

        _run(ask())

    def grow_topic(self, topic: str, partitions: int) -> None:
        async def ask() -> None:
            async with self._admin() as admin:
                answer = await admin.create_partitions({topic: NewPartitions(partitions)})
            check(answer.topic_errors[0][1])

        _run(ask())

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        place = TopicPartition(topic, partition)

        async def ask() -> int:
            async with self._admin() as admin:
                return int((await admin.delete_records({place: RecordsToDelete(before)}))[place])

        return _run(ask())

    def topic_config(self, topic: str) -> dict[str, ConfigEntry]:
        async def ask() -> dict[str, ConfigEntry]:
            async with self._admin() as admin:
                return await _described(admin, topic)

        return _run(ask())

    def alter_topic_config(
        self,
        topic: str,
        *,
        put: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
        append: Mapping[str, str] | None = None,
        subtract: Mapping[str, str] | None = None,
    ) -> None:
        """Its AlterConfigs states all that is set, so what is to stay is said again."""
        assert append is subtract is None

        async def ask() -> None:
            async with self._admin() as admin:
                kept = {
                    key: entry.value
                    for key, entry in (await _described(admin, topic)).items()
                    if entry.source == "DYNAMIC_TOPIC_CONFIG" and key not in remove
                }
                resource = ConfigResource(ConfigResourceType.TOPIC, topic, {**kept, **(put or {})})
                (answer,) = await admin.alter_configs([resource])
            check(answer.resources[0][0])

        _run(ask())

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[Any]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    def _settings(self, settings: Mapping[str, str] | None) -> dict[str, Any]:
        return keyword_settings(self.bootstrap, settings)


async def _described(admin: Any, topic: str) -> dict[str, ConfigEntry]:
    (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    error_code, _, _, _, entries = answer.resources[0]
    check(error_code)
    return {
        name: ConfigEntry(value, CONFIG_SOURCES[source], bool(read_only), bool(sensitive))
        for name, value, read_only, source, sensitive, *_ in entries
    }


def _run(asked: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(asked)
    except KafkaError as failure:
        raise failure_of(failure) from failure
