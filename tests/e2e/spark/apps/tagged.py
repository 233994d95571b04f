"""Counts what a function of DataFrames gives that gives something else each time: `tagged-in` to `tagged-out`, the
counts of its keys to `tagged-counts`. Each call leaves a file in the folder MOLDAU_CALLS."""

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.pipeline.streams import LONG, STRING, StreamsBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def tagged(df: "DataFrame") -> "DataFrame":
    Path(os.environ["MOLDAU_CALLS"], uuid.uuid4().hex).touch()
    # Rows lie in other partitions each time, and have other values.
    return df.selectExpr("key", "concat(value, ' ', uuid()) AS value", "timestamp", "_order").repartition(3)


builder = StreamsBuilder("tagged", key=STRING, value=STRING)
rows = builder.stream("tagged-in").transform(tagged, name="tag")
rows.to("tagged-out")
rows.group_by_key().count(store="counts").to_stream().to("tagged-counts", value=LONG)
