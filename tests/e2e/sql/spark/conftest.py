"""A broker and one Spark session, as for pipelines."""

from e2e.spark.conftest import servers, shared_broker, spark

__all__ = ["servers", "shared_broker", "spark"]
