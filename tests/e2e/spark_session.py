"""The one Spark session of a test process, with Spark's Kafka connector where it can be had."""

import functools
from typing import TYPE_CHECKING

import pytest

from moldau.core.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_of_tests() -> "SparkSession":
    """Whichever test asks first, the session suits all: a process has one. Skips where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")
    from moldau.pipeline.spark.session import SparkSettings, require_spark, start_session

    try:
        require_spark()
    except ConfigError as missing:
        pytest.skip(str(missing))
    return start_session(SparkSettings(master="local[2]", with_connectors=connector_refused() is None))


@functools.cache
def connector_refused() -> str | None:
    """Why Spark's Kafka connector cannot be had here, None when it can."""
    from moldau.pipeline.spark.real_time.connectors import connector_jars

    try:
        connector_jars()
    except ConfigError as refused:
        return str(refused)
    return None
