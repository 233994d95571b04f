"""Kafka topics as Spark DataFrames: the data source `moldau`, for PySpark programs of any kind.

    import moldau.spark
    moldau.spark.register(spark)
    rows = spark.readStream.format("moldau").option("bootstrap.servers", ...).option("subscribe", "orders").load()

Public, and separate from pipelines, with which it shares client settings and serdes. Imported by users' programs only.
Start reading at `data_source.py`, then `readers.py` and `writers.py`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: "SparkSession") -> None:
    """Makes the format "moldau" known to a session. The package must be installed on every executor as well."""
    from moldau.pipeline.spark.session import require_pyspark

    require_pyspark()
    from moldau.spark.data_source import MoldauDataSource

    spark.dataSource.register(MoldauDataSource)
