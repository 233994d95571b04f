"""One run of an application's query on a Spark Connect server (`spark.remote`): the driver is there, not here.

Batches run in a Python process that the server starts beside itself, and go to its workers as rows of a DataFrame. A
slot may find itself in another worker with each batch: it takes its place back, and reads what is new in its state.
"""

import time
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException

from moldau import __version__
from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.batch_journal import BatchJournal
from moldau.pipeline.spark.batch_runner import BatchRunner
from moldau.pipeline.spark.connect_session import connect_session, tasks_at_once
from moldau.pipeline.spark.dispatch import dispatch_as_rows, version_of_workers
from moldau.pipeline.spark.failures import cause_of
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.parent_watch import end_with_parent
from moldau.pipeline.spark.preparation import prepare
from moldau.pipeline.spark.query import FINISH_S_MAX, OnBatch, batch_plan, batch_runner, start_query
from moldau.pipeline.spark.session import SparkSettings
from moldau.pipeline.spark.settings import AppSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_EVERY_S: Final = 0.1
MISSING: Final = ("No module named", "PACKAGE_NOT_INSTALLED")
"""How workers say that their environment lacks something."""


class ConnectQuery:
    def __init__(
        self, spark: SparkSettings, topology: Topology, settings: AppSettings, on_batch: OnBatch
    ) -> None:
        """Prepares; raises what keeps the application from running."""
        self._session = connect_session(spark)
        self._settings = settings
        self._on_batch = on_batch
        try:
            require_same_package(self._session)
            self._prepared = prepare(topology, settings, tasks_at_once(self._session))
        except BaseException:
            self._session.stop()
            raise
        plan = batch_plan(topology, self._prepared)
        runner = batch_runner(topology, self._prepared, plan, settings)
        folder, run_id = Folder(settings.folder).within("run"), self._prepared.application.run_id
        self._journal = BatchJournal(folder, run_id)
        self._batches = RemoteBatches(settings.application_id, runner, BatchJournal(folder, run_id))
        self._told = -1

    def start(self) -> "StreamingQuery":
        return start_query(self._session, self._prepared, self._settings, self._batches)

    def look(self, query: "StreamingQuery") -> None:
        """Hears of the batches that have ended since the last look."""
        progress = query.lastProgress
        if progress is not None and progress["batchId"] != self._told:
            self._told = progress["batchId"]
            self._hear()

    def finish(self, query: "StreamingQuery") -> None:
        """Before the query is stopped: lets the batch that runs come to its end, and none begin after it."""
        self._journal.ask_to_stop()
        deadline = time.monotonic() + FINISH_S_MAX
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
        self._hear()

    def close(self, *, is_well: bool) -> None:
        """Whatever workers have kept goes when Spark ends them, a minute after their last task."""
        self._session.stop()

    def _hear(self) -> None:
        for done in self._journal.news():
            self._on_batch(*done)


class RemoteBatches:
    """What is sent to the server to be called with each batch."""

    def __init__(self, application_id: str, runner: BatchRunner, journal: BatchJournal) -> None:
        self._application_id = application_id
        self._runner = runner
        self._journal = journal

    def __call__(self, rows: "DataFrame", batch_id: int) -> None:
        end_with_parent()
        if self._journal.is_to_stop:
            # To return would tell Spark that it is done.
            raise MoldauError(f"{self._application_id} is being stopped: no batch begins")
        session = rows.sparkSession
        self._journal.add(self._runner.run(batch_id, lambda orders: dispatch_as_rows(session, orders)))


def require_same_package(session: "SparkSession") -> None:
    """Raises ConfigError where Spark's workers do not have this package as it is here."""
    mend = (
        f"install moldau[spark-connect]=={__version__} in the Python environment of the Spark Connect server and its "
        "workers (PYSPARK_PYTHON names it)"
    )
    try:
        version = version_of_workers(session)
    except PySparkException as failure:
        if not any(words in str(failure) for words in MISSING):
            raise
        raise ConfigError(
            f"Spark's Python workers cannot run a pipeline ({cause_of(failure)}): {mend}"
        ) from None
    if version != __version__:
        raise ConfigError(f"Spark's Python workers have moldau {version}, which is not this one: {mend}")
