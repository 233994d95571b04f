"""A session at a Spark Connect server. Each run of an application has one of its own: a server that was away knows
nothing of those it had.
"""

import os
import socket
import warnings
from typing import TYPE_CHECKING, Final, cast

from pyspark.errors import AnalysisException, PySparkValueError

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.session import PER_SESSION, SparkSettings, require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession as ClassicSession

ANSWER_S_MAX: Final = 10.0
ROWS_TO_SHARE: Final = 4_096
TRIES_MAX: Final = 4
WAIT_MS_MAX: Final = 4_000
"""Between two tries of a call. Spark's own defaults go on for ten minutes without a word."""


class SparkAway(OSError):
    """The server cannot be reached: it is tried again, and the reason told."""


def connect_session(settings: SparkSettings) -> "ClassicSession":
    """Raises ConfigError for an address that cannot be one, SparkAway while nobody answers there."""
    require_pyspark()
    address = settings.remote
    assert address is not None
    try:
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError as missing:
        raise ConfigError(
            f"Spark Connect needs more than Spark does ({missing}): pip install 'moldau[spark-connect]'"
        ) from None
    try:
        server = DefaultChannelBuilder(address)
    except (PySparkValueError, ValueError) as wrong:
        raise ConfigError(f"{address} is not the address of a Spark Connect server: {wrong}") from None
    _require_answer(server.endpoint)
    # The functions of pyspark that make columns ask this which kind to make.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    # It is told as the failure that it is.
    warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")
    session = SparkSession(connection=server)
    session.client.set_retry_policies([DefaultPolicy(max_retries=TRIES_MAX, max_backoff=WAIT_MS_MAX)])
    # In use it is what the driver's own would be; pyspark has no name for both.
    alike = cast("ClassicSession", session)
    for key, value in {**PER_SESSION, **settings.conf}.items():
        if key != "spark.remote":
            _set(alike, key, value)
    return alike


def _set(session: "ClassicSession", key: str, value: str) -> None:
    try:
        session.conf.set(key, value)
    except AnalysisException as refused:
        why = str(refused).splitlines()[0]
        raise ConfigError(
            f"{key} cannot be set by a client of Spark Connect, only where the server is started: {why}"
        ) from None


def tasks_at_once(session: "ClassicSession") -> int:
    """How many Spark runs: it shares rows of no origin among as many."""
    from pyspark.sql.functions import spark_partition_id

    shares = session.range(ROWS_TO_SHARE).select(spark_partition_id().alias("share")).collect()
    return len({row["share"] for row in shares})


def _require_answer(endpoint: str) -> None:
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_S_MAX).close()
    except OSError as failure:
        raise SparkAway(
            f"no Spark Connect server answers at {endpoint}: {failure}. Start it, or name another; it is tried again"
        ) from None
