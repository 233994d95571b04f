"""A session on a Spark Connect server. Each run of an application has its own: a restarted server does not know the
sessions from before.
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
"""Between two attempts of a call. Spark's defaults retry for ten minutes without a message."""


class SparkAway(OSError):
    """The server cannot be reached. The supervisor retries and reports the reason."""


def connect_session(settings: SparkSettings) -> "ClassicSession":
    """Raises ConfigError for an invalid address, SparkAway while no server answers there."""
    require_pyspark()
    address = settings.remote
    assert address is not None
    try:
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError as missing:
        raise ConfigError(
            f"Spark Connect needs a package that is not installed ({missing}): pip install 'moldau[spark-connect]'"
        ) from None
    try:
        server = DefaultChannelBuilder(address)
    except (PySparkValueError, ValueError) as wrong:
        raise ConfigError(f"{address} is not the address of a Spark Connect server: {wrong}") from None
    _require_answer(server.endpoint)
    # pyspark's column functions use this variable to decide which kind of column to create.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    # The exception says it, too.
    warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")
    session = SparkSession(connection=server)
    session.client.set_retry_policies([DefaultPolicy(max_retries=TRIES_MAX, max_backoff=WAIT_MS_MAX)])
    # It is used like a classic session; pyspark has no common type for both.
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
            f"{key} cannot be set by a client of Spark Connect, only when the server is started: {why}"
        ) from None


def tasks_at_once(session: "ClassicSession") -> int:
    """How many tasks Spark runs at once: it splits generated rows into as many partitions."""
    from pyspark.sql.functions import spark_partition_id

    shares = session.range(ROWS_TO_SHARE).select(spark_partition_id().alias("share")).collect()
    return len({row["share"] for row in shares})


def _require_answer(endpoint: str) -> None:
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_S_MAX).close()
    except OSError as failure:
        raise SparkAway(
            f"no Spark Connect server answers at {endpoint}: {failure}. Start it, or name another one. Retrying"
        ) from None
