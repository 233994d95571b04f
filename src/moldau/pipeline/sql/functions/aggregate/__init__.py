"""The aggregate functions: one module for each subject, each with its `FUNCTIONS`. Imported by `library`."""

from typing import Final

from moldau.pipeline.sql.functions.aggregate import (
    by_offset,
    collecting,
    counting,
    extremes,
    statistics,
    sums,
)
from moldau.pipeline.sql.functions.declaration import Aggregate

AGGREGATES: Final[tuple[Aggregate, ...]] = (
    *counting.FUNCTIONS,
    *sums.FUNCTIONS,
    *statistics.FUNCTIONS,
    *extremes.FUNCTIONS,
    *collecting.FUNCTIONS,
    *by_offset.FUNCTIONS,
)
