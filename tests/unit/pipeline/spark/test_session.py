"""What is refused before Spark is started."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

pytest.importorskip(
    "grpc_status", reason="the client of Spark Connect is not installed: pip install 'moldau[spark-connect]'"
)

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.connect.connect_session import SparkAway, connect_session
from moldau.pipeline.spark.session import SparkSettings, require_spark
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import STRING, Guarantee, StreamsBuilder


def test_a_machine_without_java_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="needs Java 17 or newer, and there is no java on the PATH"):
        require_spark()


def test_a_remote_that_is_no_server_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"spark.remote is 'local', but must be the address of a Spark Connect server"
    ):
        SparkSettings(conf={"spark.remote": "local"})
    with pytest.raises(ConfigError, match="sc://host/path is not the address of a Spark Connect server"):
        connect_session(SparkSettings(master="sc://host/path"))


def test_a_server_that_is_away_is_named() -> None:
    for settings in (
        SparkSettings(master="sc://127.0.0.1:1"),
        SparkSettings(conf={"spark.remote": "sc://127.0.0.1:1"}),
    ):
        with pytest.raises(SparkAway, match=r"no Spark Connect server answers at 127\.0\.0\.1:1: "):
            connect_session(settings)


def test_a_topology_that_is_not_for_real_time_is_refused_with_its_line() -> None:
    builder = StreamsBuilder("refused", key=STRING, value=STRING)
    builder.stream("refused-in").map_values(str.upper).to("refused-out")
    topology = builder.build(guarantee=Guarantee.AT_LEAST_ONCE)
    with pytest.raises(ConfigError, match=r"map-values at .*test_session.py:\d+ is a Python function"):
        PipelineApp(topology, AppSettings("refused", "localhost:1", latency="real_time"))
