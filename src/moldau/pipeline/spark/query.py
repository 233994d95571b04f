"""One run of an application's Structured Streaming query, from its checkpoint on. Lives in the driver."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.core.errors import MoldauError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.batch_plan import BatchPlan
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.dispatch import dispatch
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.kafka_source import FORMAT, KafkaRanges
from moldau.pipeline.spark.offset_log import OffsetLog, OffsetRange, positions_from_json
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.preparation import Prepared, prepare
from moldau.pipeline.spark.settings import AppSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PURGE_EVERY_S: Final = 30.0
FINISH_S_MAX: Final = 20.0
"""For the batch that runs when the query is to stop. One that takes longer is interrupted; the next run does it."""

OnBatch = Callable[[int, Sequence[OffsetRange], Sequence[SlotReport], float], None]
"""(batch id, its ranges, what the slots say, seconds it took)"""


class Query:
    def __init__(
        self, session: "SparkSession", topology: Topology, settings: AppSettings, on_batch: OnBatch
    ) -> None:
        """Prepares; raises what keeps the application from running."""
        self._session = session
        self._topology = topology
        self._settings = settings
        self._on_batch = on_batch
        self._prepared = prepare(topology, settings, session.sparkContext.defaultParallelism)
        spark_folder = Folder(settings.folder).within("spark")
        self._spark_folder = spark_folder.address
        initial = positions_from_json(json.dumps(self._prepared.record.initial))
        self._offset_log = OffsetLog(spark_folder, initial)
        self._plan = BatchPlan(
            topology, self._prepared.application, self._prepared.slots, ticks=self._prepared.ticks
        )
        self._purged_at = time.monotonic()
        self._batch_runs = threading.Lock()
        self._is_finished = False

    def start(self) -> "StreamingQuery":
        self._session.dataSource.register(KafkaRanges)
        order = json.dumps(_source_order(self._prepared, self._settings))
        rows = self._session.readStream.format(FORMAT).option("order", order).load()
        writer = rows.writeStream.queryName(self._settings.application_id).foreachBatch(self._run_batch)
        writer = writer.option("checkpointLocation", self._spark_folder)
        return writer.trigger(processingTime=f"{self._settings.trigger_ms} milliseconds").start()

    def look(self, query: "StreamingQuery") -> None:
        """Now and then while it runs. Batches tell of themselves: nothing is left to be done."""

    def finish(self) -> None:
        """Before the query is stopped: lets the batch that runs come to its end, and none begin after it."""
        if self._batch_runs.acquire(timeout=FINISH_S_MAX):
            self._is_finished = True
            self._batch_runs.release()

    def close(self) -> None:
        """After the query has ended well: lets the workers go of clients and state."""
        dispatch(self._session.sparkContext, self._plan.last_orders())

    def _run_batch(self, rows: "DataFrame", batch_id: int) -> None:
        with self._batch_runs:
            if self._is_finished:
                # To return would tell Spark that it is done.
                raise MoldauError(f"{self._settings.application_id} is being stopped: no batch begins")
            self._do_batch(batch_id)

    def _do_batch(self, batch_id: int) -> None:
        began = time.perf_counter()
        ranges = self._offset_log.ranges(batch_id)
        reports = dispatch(self._session.sparkContext, self._plan.orders(batch_id, ranges))
        self._on_batch(batch_id, ranges, reports, time.perf_counter() - began)
        if self._topology.internal_topics and time.monotonic() - self._purged_at > PURGE_EVERY_S:
            self._purge(ranges)

    def _purge(self, ranges: Sequence[OffsetRange]) -> None:
        """What the batches before this one have read of the topics in between is of no more use to anyone."""
        self._purged_at = time.monotonic()
        read = [
            TopicPartition(one.topic, one.partition, one.start_offset)
            for one in ranges
            if one.topic in self._topology.internal_topics and one.start_offset > 0
        ]
        if read:
            admin = AdminClient(shared(self._settings.bootstrap_servers, self._settings.client_settings))
            for future in admin.delete_records(read).values():
                # It will be tried again; space is all that is at stake.
                future.exception(PURGE_EVERY_S)


def _source_order(prepared: Prepared, settings: AppSettings) -> dict[str, Any]:
    return {
        "application_id": settings.application_id,
        "servers": settings.bootstrap_servers,
        "settings": dict(settings.client_settings),
        "topic_ids": dict(prepared.record.topic_ids),
        "initial": prepared.record.initial,
        "records_max": settings.records_per_batch_max,
        "ticks": prepared.ticks,
    }
