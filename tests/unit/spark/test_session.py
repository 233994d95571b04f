"""What is refused before Spark is started."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.session import SparkSettings, require_spark, start_session
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import STRING, Guarantee, StreamsBuilder


@pytest.mark.parametrize(
    "settings", [SparkSettings(master="sc://host:15002"), SparkSettings(conf={"spark.remote": "sc://host"})]
)
def test_spark_connect_is_refused_with_the_way_out(settings: SparkSettings) -> None:
    try:
        require_spark()
    except ConfigError as missing:
        pytest.skip(str(missing))
    with pytest.raises(ConfigError, match="Name the cluster's master instead"):
        start_session(settings)


def test_a_topology_that_is_not_for_real_time_is_refused_with_its_line() -> None:
    builder = StreamsBuilder("refused", key=STRING, value=STRING)
    builder.stream("refused-in").map_values(str.upper).to("refused-out")
    topology = builder.build(guarantee=Guarantee.AT_LEAST_ONCE)
    with pytest.raises(ConfigError, match=r"map-values at .*test_session.py:\d+ is a Python function"):
        PipelineApp(topology, AppSettings("refused", "localhost:1", latency="real_time"))
