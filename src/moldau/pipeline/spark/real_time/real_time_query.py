"""One run of an application in Spark's Real-Time Mode: records flow through during long batches.

Its positions are the group's offsets, committed after each batch. Spark's own checkpoint only lasts as long as the run.
Output of an unfinished batch is written again by the next run: at least once.
"""

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.application_record import check_topics
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.clients import connector, shared
from moldau.pipeline.spark.clients import consumer as consumer_settings
from moldau.pipeline.spark.connect.connect_session import connect_session, tasks_at_once
from moldau.pipeline.spark.driver.batch_metrics import BatchMetrics
from moldau.pipeline.spark.driver.preparation import first_positions, prepare
from moldau.pipeline.spark.driver.query import GoesOn
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.positions import Positions, positions_from_json, positions_to_json, ranges_between
from moldau.pipeline.spark.real_time.connectors import coordinates
from moldau.pipeline.spark.real_time.real_time_plan import real_time_plan
from moldau.pipeline.spark.session import SparkSettings, start_session
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.topic_offsets import topic_facts

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

BATCH_MS_MIN: Final = 10_000
"""How often offsets are committed, unless `trigger_ms` is longer. Records wait for a moment between two batches."""


LOOK_EVERY_S: Final = 0.2
SOURCE_S_MAX: Final = 30.0
SOURCE_ANSWERS: Final = ("Waiting", "Processing")
"""How the status of a query begins once its source has read offsets."""
_turn_to_start = threading.Lock()
"""Planning a query occupies the whole JVM, so queries start one after the other."""


class RealTimeQuery:
    def __init__(
        self, spark: SparkSettings, topology: Topology, settings: AppSettings, measured: BatchMetrics
    ) -> None:
        """Prepares the run. Raises what prevents the application from running in this mode."""
        self._is_remote = spark.remote is not None
        self._session = connect_session(spark) if self._is_remote else start_session(spark)
        self._settings, self._measured = settings, measured
        servers, client_settings = settings.bootstrap_servers, settings.client_settings
        self._connector = connector(servers, client_settings)
        self._admin = AdminClient(shared(servers, client_settings))
        try:
            self._plan = real_time_plan(topology)
            slots = self._slots()
            self._record = prepare(topology, settings, slots).record
            facts = topic_facts(self._admin, self._record.topic_ids)
            _check_slots(slots, sum(one.partitions for one in facts.values()))
            self._positions: Positions = first_positions(self._admin, topology, settings, facts)
        except BaseException:
            self._leave_session()
            raise
        self._committer = Consumer(consumer_settings(servers, client_settings, settings.application_id))
        self._folder = Folder(settings.folder).within("real-time")
        self._told = -1
        self._began_at = time.monotonic()

    def follow(self, goes_on: GoesOn, is_well: Callable[[], None]) -> None:
        """Runs while `goes_on()` is true. Raises the failure of the query."""
        with _turn_to_start:
            query = self._started()
            _wait_for_source(query, goes_on)
        try:
            while query.isActive and goes_on():
                is_well()
                time.sleep(LOOK_EVERY_S)
                self._look(query)
            failure = query.exception() if not query.isActive else None
        finally:
            query.stop()
        if failure is not None:
            raise failure

    def _started(self) -> "StreamingQuery":
        try:
            return self._start()
        except AnalysisException as refused:
            if not self._is_remote or "Failed to find data source: kafka" not in str(refused):
                raise
            raise ConfigError(
                "latency real_time needs Spark's Kafka connector, and the Spark Connect server has none: start it with "
                f"--packages {coordinates()}"
            ) from None

    def _start(self) -> "StreamingQuery":
        self._folder.remove_all()
        initial = json.dumps(positions_to_json(self._positions))
        records = (
            self._session.readStream.format("kafka")
            .options(**self._connector)
            .option("kafka.isolation.level", "read_committed")
            .option("subscribe", ",".join(self._plan.source.topics))
            .option("startingOffsets", initial)
            .option("includeHeaders", "true")
            .load()
        )
        rows = self._plan.rows(records, self._settings.dead_letters_go_to)
        writer = rows.writeStream.format("kafka").options(**self._connector).outputMode("update")
        writer = writer.queryName(self._settings.application_id)
        writer = writer.option("checkpointLocation", self._folder.address)
        lasts = f"{max(BATCH_MS_MIN, self._settings.trigger_ms)} milliseconds"
        # pyspark's stubs do not have this trigger.
        started: StreamingQuery = writer.trigger(realTime=lasts).start()  # type: ignore[call-overload]
        return started

    def _look(self, query: "StreamingQuery") -> None:
        """Commits the offsets of a batch that has ended since the last call. Checks that the topics are the same."""
        progress = query.lastProgress
        if progress is None or progress["batchId"] <= self._told:
            return
        self._told = progress["batchId"]
        application_id, topic_ids = self._settings.application_id, self._record.topic_ids
        check_topics(application_id, topic_ids, topic_facts(self._admin, topic_ids))
        reached = progress["sources"][0]["endOffset"]
        ends = positions_from_json(reached if isinstance(reached, str) else json.dumps(reached))
        ranges = list(ranges_between(self._positions, ends))
        self._positions = ends
        reach = _reach(progress, ends)
        places = [TopicPartition(one.topic, one.partition, one.end_offset) for one in ranges]
        self._committer.commit(offsets=places, asynchronous=False)
        records_in = sum(one.end_offset - one.start_offset for one in ranges)
        # A negative number means that the sink does not know.
        records_out = max(0, progress["sink"]["numOutputRows"])
        report = SlotReport(slot=0, records_in=records_in, records_out=records_out)
        now = time.monotonic()
        self._measured.batch_done(self._told, ends, reach, [report], now - self._began_at)
        self._began_at = now

    def close(self, *, is_well: bool) -> None:
        self._committer.close()
        self._leave_session()

    def _slots(self) -> int:
        return (
            tasks_at_once(self._session) if self._is_remote else self._session.sparkContext.defaultParallelism
        )

    def _leave_session(self) -> None:
        if self._is_remote:
            self._session.stop()


def _reach(progress: dict[str, Any], ends: Positions) -> Positions:
    """The end offsets of the topics, as Spark last saw them."""
    latest = progress["sources"][0].get("latestOffset")
    if not latest or latest == "null":
        return ends
    return positions_from_json(latest if isinstance(latest, str) else json.dumps(latest))


def _wait_for_source(query: "StreamingQuery", goes_on: GoesOn) -> None:
    """Waits until the query has read offsets. The caller finds a failure when it checks the query next."""
    deadline = time.monotonic() + SOURCE_S_MAX
    while query.isActive and goes_on() and time.monotonic() < deadline:
        if query.lastProgress is not None or query.status["message"].startswith(SOURCE_ANSWERS):
            return
        time.sleep(LOOK_EVERY_S)


def _check_slots(slots: int, partitions: int) -> None:
    if partitions > slots:
        raise ConfigError(
            f"latency real_time: each of the {partitions} partitions occupies a Spark task for as long as it runs, but "
            f"Spark runs only {slots} at once: use the master local[{partitions}] or a cluster that large"
        )
