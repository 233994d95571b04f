"""The streaming source: plans batches as ranges of Kafka offsets, without reading a record.

A Python data source needs no connector jar, and workers fetch their ranges straight from the brokers: the records
never pass through the JVM. Spark keeps the offsets in its checkpoint in the form its own Kafka connector has.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from confluent_kafka.admin import AdminClient
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from moldau.pipeline.spark.application_record import check_topics
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.offset_log import Positions, positions_from_json, positions_to_json
from moldau.pipeline.spark.topic_offsets import end_offsets, topic_facts

FORMAT: Final = "moldau_ranges"
LOOK_EVERY_S: Final = 5.0
TICK_MS: Final = 1_000
TICK: Final = ""
"""The name, which no topic can have, under which the source of an application with wall-clock timers counts time:
each tick is a batch, if an empty one."""


class KafkaRanges(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "batch string"

    def streamReader(self, schema: StructType) -> "KafkaRangesReader":
        return KafkaRangesReader(json.loads(self.options["order"]))


class KafkaRangesReader(DataSourceStreamReader):
    """`order` is what `query.source_order` makes: servers, settings, topics with their ids, first positions, limits."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._admin: AdminClient | None = None
        self._partitions: dict[str, int] = {}
        self._ends: Positions = {}
        self._looked_at = 0.0

    def initialOffset(self) -> dict[str, dict[str, int]]:
        initial: dict[str, dict[str, int]] = self._order["initial"]
        return initial

    def latestOffset(self, start: dict[str, Any], limit: Any = None) -> dict[str, dict[str, int]]:
        """As far as there are records, but not further than one batch may reach."""
        self._look_at_topics()
        assert self._admin is not None
        began = positions_from_json(json.dumps(start))
        self._ends = end_offsets(self._admin, self._partitions)
        latest = positions_to_json(self._limited(began, self._ends))
        if self._order["ticks"]:
            latest[TICK] = {"0": max(int(time.time() * 1000) // TICK_MS, began.get(TICK, {}).get(0, 0))}
        return latest

    def reportLatestOffset(self) -> dict[str, dict[str, int]]:
        return positions_to_json(self._ends)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [InputPartition(json.dumps(end))]

    def read(self, partition: InputPartition) -> Iterator[tuple[str]]:
        yield (partition.value,)

    def _limited(self, began: Positions, ends: Positions) -> Positions:
        """Shares the batch among the partitions that have something, by how much they have."""
        behind = {
            (topic, partition): max(0, end - began.get(topic, {}).get(partition, 0))
            for topic, partitions in ends.items()
            for partition, end in partitions.items()
        }
        records_max = self._order["records_max"]
        total = sum(behind.values())
        share = min(1.0, records_max / total) if total else 1.0
        limited: Positions = {topic: dict(partitions) for topic, partitions in began.items() if topic != TICK}
        for (topic, partition), count in behind.items():
            first = began.get(topic, {}).get(partition, 0)
            limited.setdefault(topic, {})[partition] = first + (-int(-count * share // 1) if count else 0)
        return limited

    def _look_at_topics(self) -> None:
        """Finds new partitions, and topics that are not what they were."""
        now = time.monotonic()
        if self._admin is None:
            self._admin = AdminClient(shared(self._order["servers"], self._order["settings"]))
        elif now - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = now
        facts = topic_facts(self._admin, self._order["topic_ids"])
        check_topics(self._order["application_id"], self._order["topic_ids"], facts)
        self._partitions = {topic: one.partitions for topic, one in facts.items()}
