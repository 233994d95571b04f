"""One run of an application on a Spark Connect server (`spark.remote`): batches are planned here and run there.

A slot may run in another worker with each batch. It then fences the previous worker and reads the new state from files.
"""

from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException

from moldau import __version__
from moldau.core.errors import ConfigError
from moldau.pipeline.spark.connect.connect_session import connect_session, tasks_at_once
from moldau.pipeline.spark.driver.failures import cause_of
from moldau.pipeline.spark.driver.lanes import Lanes, job_of_rows, version_of_workers
from moldau.pipeline.spark.driver.query import Query
from moldau.pipeline.spark.session import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MISSING: Final = ("No module named", "PACKAGE_NOT_INSTALLED")
"""How workers report a missing package."""


class ConnectQuery(Query):
    @staticmethod
    def _open(spark: SparkSettings) -> "tuple[SparkSession, Lanes]":
        session = connect_session(spark)
        try:
            require_same_package(session)
            return session, Lanes(tasks_at_once(session), job_of_rows(session))
        except BaseException:
            session.stop()
            raise

    def _leave(self) -> None:
        """The workers release what they kept when Spark ends them, a minute after their last task."""
        self._lanes.close()
        self._session.stop()


def require_same_package(session: "SparkSession") -> None:
    """Raises ConfigError if Spark's workers do not have the same version of this package."""
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
        raise ConfigError(
            f"Spark's Python workers have moldau {version}, another version than this one: {mend}"
        )
