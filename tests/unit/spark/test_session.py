"""What is refused before Spark is started."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.session import SparkSettings, require_spark, start_session


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
