"""A running application: starts its query, watches it, starts it again after a failure, pauses and stops it.

    app = PipelineApp(topology, AppSettings("word-count", "localhost:9092"))
    app.start()
    app.wait()

One thread a application supervises; what it learns is in `metrics`.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.lifecycle import BackOff, PipelineMetrics, PipelineState
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.batch_metrics import BatchMetrics
from moldau.pipeline.spark.connect_query import ConnectQuery
from moldau.pipeline.spark.failures import cause_of
from moldau.pipeline.spark.offset_log import OffsetRange
from moldau.pipeline.spark.orders import SlotReport
from moldau.pipeline.spark.query import Query
from moldau.pipeline.spark.real_time_plan import real_time_chain
from moldau.pipeline.spark.real_time_query import RealTimeQuery
from moldau.pipeline.spark.session import SparkSettings
from moldau.pipeline.spark.settings import AppSettings

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 0.2
STOP_S_MAX: Final = 60.0
SOURCE_S_MAX: Final = 30.0
SOURCE_ANSWERS: Final = ("Waiting", "Processing")
"""How a query's status begins once its source has told offsets."""
_turn_to_start = threading.Lock()
"""The source of a query is a Python process that Spark gives ten seconds to answer: when many applications start at
once, one after the other."""


class PipelineApp:
    def __init__(self, topology: Topology, settings: AppSettings, spark: SparkSettings | None = None) -> None:
        """Raises ConfigError for a topology that the latency asked for is not for."""
        self.topology = topology
        self.settings = settings
        self._spark = spark or SparkSettings()
        if settings.latency == "real_time":
            real_time_chain(topology)
            self._spark = replace(self._spark, with_connectors=True)
        self._measured = BatchMetrics()
        self._back_off = BackOff()
        self._state = PipelineState.CREATED
        self._last_error: str | None = None
        self._restarts = 0
        self.spark_is_gone = False
        """Then only a new process can go on."""
        self._changed = threading.Condition()
        self._wanted = PipelineState.RUNNING
        self._query: StreamingQuery | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Returns at once: the state tells when it runs."""
        if self._thread is not None:
            raise MoldauError(f"{self.settings.application_id} has been started already")
        name = f"pipeline-{self.settings.application_id}"
        self._thread = threading.Thread(target=self._supervise, name=name, daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stops reading, keeps its place; costs nothing until it is resumed."""
        self._want(PipelineState.PAUSED)

    def resume(self) -> None:
        self._want(PipelineState.RUNNING)

    def stop(self) -> None:
        """Returns when the last batch is done and nothing runs any more."""
        self._want(PipelineState.STOPPED)
        if self._thread is not None:
            self._thread.join(STOP_S_MAX)

    @property
    def state(self) -> PipelineState:
        return self._state

    @property
    def metrics(self) -> PipelineMetrics:
        measured = self._measured.snapshot(self._progress())
        return replace(measured, state=self._state, restarts=self._restarts, last_error=self._last_error)

    def wait(self, *states: PipelineState, timeout_s: float | None = None) -> PipelineState:
        """Until it is in one of the states; without any, until it has ended."""
        ends = states or (PipelineState.STOPPED, PipelineState.FAILED)
        with self._changed:
            self._changed.wait_for(lambda: self._state in ends, timeout_s)
        return self._state

    def _progress(self) -> dict[str, Any] | None:
        query = self._query
        try:
            return query.lastProgress if query is not None else None
        except (Py4JError, PySparkException, ConnectionError, ValueError):
            # The last: the channel to a Spark Connect server was closed meanwhile.
            return None

    def _want(self, wanted: PipelineState) -> None:
        with self._changed:
            if self._wanted is not PipelineState.STOPPED:
                self._wanted = wanted
            self._changed.notify_all()

    def _enter(self, state: PipelineState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()

    def _supervise(self) -> None:
        try:
            while self._wanted is not PipelineState.STOPPED:
                if self._wanted is PipelineState.PAUSED:
                    self._rest(PipelineState.PAUSED)
                else:
                    self._run_once()
        except ConfigError as failure:
            self._end_badly(str(failure))
        except (Py4JError, ConnectionError) as failure:
            self.spark_is_gone = True
            self._end_badly(f"Spark's JVM has gone: {failure}")
        except BaseException as failure:
            self._end_badly(f"{type(failure).__name__}: {failure}")
            raise
        else:
            self._enter(PipelineState.STOPPED)

    def _end_badly(self, cause: str) -> None:
        self._last_error = cause
        log.error("%s cannot run: %s", self.settings.application_id, cause)
        self._enter(PipelineState.FAILED)

    def _run_once(self) -> None:
        """One run of the query, to its end or its failure and the wait after it."""
        self._enter(PipelineState.RESTARTING if self._restarts else PipelineState.STARTING)
        try:
            failure = self._run_query()
        except KafkaException as unreachable:
            self._failed(f"the broker cannot be asked: {unreachable.args[0].str()}")
        except TimeoutError:
            self._failed("the broker does not answer")
        except (Py4JJavaError, PySparkException, OSError) as refused:
            # A network error of Py4J is none of these: it means that the JVM is gone.
            if isinstance(refused, ConnectionError):
                raise
            self._failed(cause_of(refused))
        else:
            if failure is not None:
                self._failed(cause_of(failure))

    def _run_query(self) -> Exception | None:
        """What the query ended with, None when it was told to."""
        run = self._kind_of_query()(self._spark, self.topology, self.settings, self._batch_done)
        is_well = False
        try:
            failure = self._watch(run)
            is_well = failure is None
        finally:
            run.close(is_well=is_well)
        return failure

    def _kind_of_query(self) -> "type[Query | ConnectQuery | RealTimeQuery]":
        if self.settings.latency == "real_time":
            return RealTimeQuery
        return ConnectQuery if self._spark.remote else Query

    def _watch(self, run: "Query | ConnectQuery | RealTimeQuery") -> Exception | None:
        with _turn_to_start:
            query = self._query = run.start()
            self._wait_for_source(query)
        self._enter(PipelineState.RUNNING)
        try:
            while query.isActive and self._wanted is PipelineState.RUNNING:
                with self._changed:
                    self._changed.wait(LOOK_EVERY_S)
                run.look(query)
            failure = query.exception() if not query.isActive else None
            if failure is None:
                run.finish(query)
            return failure
        finally:
            query.stop()
            self._query = None

    def _wait_for_source(self, query: "StreamingQuery") -> None:
        """Until it has asked for offsets; what goes wrong meanwhile is found by whoever looks at the query next."""
        deadline = time.monotonic() + SOURCE_S_MAX
        while query.isActive and self._wanted is PipelineState.RUNNING and time.monotonic() < deadline:
            if query.lastProgress is not None or query.status["message"].startswith(SOURCE_ANSWERS):
                return
            with self._changed:
                self._changed.wait(LOOK_EVERY_S)

    def _batch_done(
        self, batch_id: int, ranges: Sequence[OffsetRange], reports: Sequence[SlotReport], took_s: float
    ) -> None:
        self._measured.batch_done(batch_id, ranges, reports, took_s)
        self._back_off.progressed()

    def _failed(self, cause: str) -> None:
        wait_ms = self._back_off.failed()
        self._last_error = cause
        self._restarts += 1
        log.warning("%s failed and starts again in %d ms: %s", self.settings.application_id, wait_ms, cause)
        self._enter(PipelineState.RESTARTING)
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is not PipelineState.RUNNING, wait_ms / 1000)

    def _rest(self, state: PipelineState) -> None:
        self._enter(state)
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is not state)
