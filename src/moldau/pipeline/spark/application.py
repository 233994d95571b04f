"""A running application: starts its query, watches it, starts it again after a failure, pauses and stops it.

    app = PipelineApp(topology, AppSettings("word-count", "localhost:9092"))
    app.start()
    app.wait()

Each application has a supervising thread. It keeps `state` and `metrics` up to date.
"""

import contextlib
import errno
import logging
import math
import threading
import time
import uuid
from dataclasses import replace
from typing import Final

from confluent_kafka import KafkaException
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.lifecycle import BackOff, PipelineMetrics, PipelineState
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.owner import CONFIRM_EVERY_S, Owner
from moldau.pipeline.spark.connect.connect_query import ConnectQuery
from moldau.pipeline.spark.driver.batch_metrics import BatchMetrics
from moldau.pipeline.spark.driver.failures import BatchFailed, GaveUp, StoppedInBatch, cause_of
from moldau.pipeline.spark.driver.query import Query
from moldau.pipeline.spark.real_time.real_time_plan import real_time_chain
from moldau.pipeline.spark.real_time.real_time_query import RealTimeQuery
from moldau.pipeline.spark.session import SparkSettings
from moldau.pipeline.spark.settings import AppSettings

log = logging.getLogger(__name__)

STOP_S_MAX: Final = 60.0
FOLDER_TROUBLES: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)


class PipelineApp:
    def __init__(self, topology: Topology, settings: AppSettings, spark: SparkSettings | None = None) -> None:
        """Raises ConfigError for a topology that cannot run with the requested latency."""
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
        self._retry_at_ms = 0
        self.spark_is_gone = False
        """The JVM has ended: the application can only continue in a new process."""
        self._changed = threading.Condition()
        self._wanted = PipelineState.RUNNING
        self._owner: Owner | None = None
        self._token = uuid.uuid4().hex
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Returns at once. `state` says when it runs."""
        if self._thread is not None:
            raise MoldauError(f"{self.settings.application_id} has been started already")
        name = f"pipeline-{self.settings.application_id}"
        self._thread = threading.Thread(target=self._supervise, name=name, daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Stops reading and keeps its position. A paused application uses no resources."""
        self._want(PipelineState.PAUSED)

    def resume(self) -> None:
        self._want(PipelineState.RUNNING)

    def stop(self) -> None:
        """Returns when the last batch is done and the application has stopped."""
        self._want(PipelineState.STOPPED)
        if self._thread is not None:
            self._thread.join(STOP_S_MAX)

    @property
    def state(self) -> PipelineState:
        return self._state

    @property
    def metrics(self) -> PipelineMetrics:
        measured = self._measured.snapshot()
        return replace(
            measured,
            state=self._state,
            restarts=self._restarts,
            retry_at_ms=self._retry_at_ms,
            last_error=self._last_error,
        )

    def wait(self, *states: PipelineState, timeout_s: float | None = None) -> PipelineState:
        """Waits until it is in one of the states. Without any: until it has stopped or failed."""
        ends = states or (PipelineState.STOPPED, PipelineState.FAILED)
        with self._changed:
            self._changed.wait_for(lambda: self._state in ends, timeout_s)
        return self._state

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
        except (ConfigError, GaveUp) as failure:
            self._end_badly(str(failure))
        except (Py4JError, ConnectionError) as failure:
            self.spark_is_gone = True
            self._end_badly(f"Spark's JVM has ended: {failure}")
        except BaseException as failure:
            self._end_badly(f"{type(failure).__name__}: {failure}")
            raise
        else:
            self._release()
            self._enter(PipelineState.STOPPED)

    def _release(self) -> None:
        if self._owner is not None:
            self._owner.release()

    def _end_badly(self, cause: str) -> None:
        self._release()
        self._last_error = cause
        log.error("%s cannot run: %s", self.settings.application_id, cause)
        self._enter(PipelineState.FAILED)

    def _run_once(self) -> None:
        """Runs the query until it ends or fails. After a failure, waits for the back-off."""
        self._enter(PipelineState.RESTARTING if self._restarts else PipelineState.STARTING)
        try:
            self._run_query()
        except BatchFailed as failure:
            self._failed(str(failure))
        except KafkaException as unreachable:
            servers = self.settings.bootstrap_servers
            self._failed(f"the broker at {servers} cannot be reached: {unreachable.args[0].str()}")
        except TimeoutError as silent:
            self._failed(str(silent) or f"no broker answers at {self.settings.bootstrap_servers}")
        except (Py4JJavaError, PySparkException, OSError) as refused:
            # A network error of Py4J means that the JVM has ended.
            if isinstance(refused, ConnectionError):
                raise
            cause = cause_of(refused)
            if isinstance(refused, OSError) and refused.errno in FOLDER_TROUBLES:
                cause = (
                    f"the checkpoint {self.settings.folder} cannot be used: {cause}. Free some "
                    "space there or correct its permissions"
                )
            self._failed(cause)

    def _run_query(self) -> None:
        self._own()
        run = self._kind_of_query()(self._spark, self.topology, self.settings, self._measured)
        is_well = False
        try:
            run.follow(self._goes_on, self._is_well)
            is_well = True
        except StoppedInBatch:
            log.warning("%s was stopped during a batch: its next run repeats the batch", self._name)
        finally:
            run.close(is_well=is_well)

    def _own(self) -> None:
        """Raises ConfigError when another process runs the application."""
        if self._owner is None:
            self._owner = Owner(Folder(self.settings.folder), self.settings.application_id, self._token)
        self._owner.claim()

    def _kind_of_query(self) -> "type[Query | ConnectQuery | RealTimeQuery]":
        if self.settings.latency == "real_time":
            return RealTimeQuery
        return ConnectQuery if self._spark.remote else Query

    def _goes_on(self) -> bool:
        if self._wanted is not PipelineState.RUNNING:
            return False
        assert self._owner is not None
        self._owner.confirm()
        return True

    def _is_well(self) -> None:
        """A batch has succeeded, or there is nothing to do."""
        self._back_off.progressed()
        if self._state is not PipelineState.RUNNING and self._wanted is PipelineState.RUNNING:
            self._enter(PipelineState.RUNNING)

    @property
    def _name(self) -> str:
        return self.settings.application_id

    def _failed(self, cause: str) -> None:
        wait_ms = self._back_off.failed()
        self._last_error = cause
        self._restarts += 1
        self._retry_at_ms = int(time.time() * 1000) + wait_ms
        log.warning("%s failed and restarts in %d ms: %s", self.settings.application_id, wait_ms, cause)
        self._enter(PipelineState.RESTARTING)
        self._wait_while(PipelineState.RUNNING, wait_ms / 1000)
        self._retry_at_ms = 0

    def _rest(self, state: PipelineState) -> None:
        if self._owner is None:
            self._own()
        self._enter(state)
        self._wait_while(state)

    def _wait_while(self, wanted: PipelineState, timeout_s: float = math.inf) -> None:
        """Waits until another state is wanted. A paused application keeps its owner file: no other process may run or
        reset it."""
        deadline = time.monotonic() + timeout_s
        while self._wanted is wanted and (left_s := deadline - time.monotonic()) > 0:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted is not wanted, min(left_s, CONFIRM_EVERY_S))
            # A write that fails is tried again the next time.
            with contextlib.suppress(OSError):
                if self._owner is not None:
                    self._owner.confirm()
