"""One run of an application's Structured Streaming query, from its checkpoint on. Lives in the driver."""

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from moldau.core.errors import MoldauError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.batch_plan import BatchPlan
from moldau.pipeline.spark.batch_runner import BatchRunner
from moldau.pipeline.spark.dispatch import dispatch
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.kafka_source import FORMAT, KafkaRanges
from moldau.pipeline.spark.offset_log import OffsetLog, OffsetRange, positions_from_json
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.preparation import Prepared, prepare
from moldau.pipeline.spark.session import SparkSettings, start_session
from moldau.pipeline.spark.settings import AppSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

FINISH_S_MAX: Final = 20.0
"""For the batch that runs when the query is to stop. One that takes longer is interrupted; the next run does it."""

OnBatch = Callable[[int, Sequence[OffsetRange], Sequence[SlotReport], float], None]
"""(batch id, its ranges, what the slots say, seconds it took)"""
EachBatch = Callable[["DataFrame", int], None]


class Query:
    def __init__(
        self, spark: SparkSettings, topology: Topology, settings: AppSettings, on_batch: OnBatch
    ) -> None:
        """Prepares; raises what keeps the application from running."""
        self._session = start_session(spark)
        self._settings = settings
        self._on_batch = on_batch
        context = self._session.sparkContext
        self._prepared = prepare(topology, settings, context.defaultParallelism)
        self._plan = batch_plan(topology, self._prepared)
        self._runner = batch_runner(topology, self._prepared, self._plan, settings)
        self._dispatch = partial(dispatch, context)
        self._batch_runs = threading.Lock()
        self._is_finished = False

    def start(self) -> "StreamingQuery":
        return start_query(self._session, self._prepared, self._settings, self._run_batch)

    def look(self, query: "StreamingQuery") -> None:
        """Now and then while it runs. Batches tell of themselves: nothing is left to be done."""

    def finish(self, query: "StreamingQuery") -> None:
        """Before the query is stopped: lets the batch that runs come to its end, and none begin after it."""
        if self._batch_runs.acquire(timeout=FINISH_S_MAX):
            self._is_finished = True
            self._batch_runs.release()

    def close(self, *, is_well: bool) -> None:
        """After the query has ended: lets the workers go of clients and state. Not after a failure: those that can have
        let go already."""
        if is_well:
            self._dispatch(self._plan.last_orders())

    def _run_batch(self, rows: "DataFrame", batch_id: int) -> None:
        with self._batch_runs:
            if self._is_finished:
                # To return would tell Spark that it is done.
                raise MoldauError(f"{self._settings.application_id} is being stopped: no batch begins")
            self._on_batch(*self._runner.run(batch_id, self._dispatch))


def batch_plan(topology: Topology, prepared: Prepared) -> BatchPlan:
    return BatchPlan(topology, prepared.application, prepared.slots, ticks=prepared.ticks)


def batch_runner(
    topology: Topology, prepared: Prepared, plan: BatchPlan, settings: AppSettings
) -> BatchRunner:
    initial = positions_from_json(json.dumps(prepared.record.initial))
    offset_log = OffsetLog(spark_folder(settings), initial)
    servers, client_settings = settings.bootstrap_servers, settings.client_settings
    return BatchRunner(offset_log, plan, topology.internal_topics, servers, client_settings)


def start_query(
    session: "SparkSession", prepared: Prepared, settings: AppSettings, each_batch: EachBatch
) -> "StreamingQuery":
    session.dataSource.register(KafkaRanges)
    order = json.dumps(_source_order(prepared, settings))
    rows = session.readStream.format(FORMAT).option("order", order).load()
    writer = rows.writeStream.queryName(settings.application_id).foreachBatch(each_batch)
    writer = writer.option("checkpointLocation", spark_folder(settings).address)
    return writer.trigger(processingTime=f"{settings.trigger_ms} milliseconds").start()


def spark_folder(settings: AppSettings) -> Folder:
    """Spark's part of the checkpoint."""
    return Folder(settings.folder).within("spark")


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
