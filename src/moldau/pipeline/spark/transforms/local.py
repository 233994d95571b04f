"""A function of DataFrames over records that are at hand, without a broker: for the topology test driver."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from moldau.pipeline.operators.records import Columns, OutputRecord
from moldau.pipeline.plan.topology import SubTopology
from moldau.pipeline.spark.transforms.frame import portions
from moldau.pipeline.spark.transforms.job import TransformJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECK_MS_MAX: Final = 300_000


def transform_locally(session: "SparkSession", part: SubTopology) -> Callable[[Columns], list[OutputRecord]]:
    """Raises ConfigError at once for a function whose result no record can be made of."""
    job = TransformJob(session, part)
    job.check(CHECK_MS_MAX)

    def transform(columns: Columns) -> list[OutputRecord]:
        batches = [job.layout.rows(some) for some in portions(replace(columns, writer="00000000"))]
        return job.run(session.createDataFrame(pa.Table.from_batches(batches)))

    return transform
