"""Sends orders to Spark's workers and gathers their reports: one job a batch, one Spark task a slot.

Spark keeps a pool of Python workers for each set of environment variables. A slot gets a pool of its own, so that it
comes back to the process that has its clients and its state: not needed to be right, only to be quick. Spark Connect
knows no such variables, and no jobs but those of DataFrames.
"""

import pickle
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from moldau import __version__
from moldau.pipeline.spark.orders import SlotOrder, SlotReport
from moldau.pipeline.spark.slot import run_slot

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

POOL_VARIABLE: Final = "MOLDAU_SLOT"
_environment_lock = threading.Lock()


def dispatch(context: "SparkContext", orders: Sequence[SlotOrder]) -> list[SlotReport]:
    if not orders:
        return []
    branches = []
    with _environment_lock:
        try:
            for order in orders:
                context.environment[POOL_VARIABLE] = f"{order.application.application_id}-{order.slot}"
                branch = context.parallelize([order], 1).mapPartitions(_run)
                # Here the function is bound to the environment of now.
                assert branch._jrdd is not None
                branches.append(branch)
        finally:
            context.environment.pop(POOL_VARIABLE, None)
    whole = branches[0] if len(branches) == 1 else context.union(branches)
    return whole.collect()


def _run(orders: Iterable[SlotOrder]) -> Iterator[SlotReport]:
    for order in orders:
        yield run_slot(order)


def dispatch_as_rows(session: "SparkSession", orders: Sequence[SlotOrder]) -> list[SlotReport]:
    if not orders:
        return []
    todo = [pickle.dumps(order) for order in orders]

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column("id").to_pylist():
                report = run_slot(pickle.loads(todo[place]))  # noqa: S301 our own
                yield pa.record_batch({"report": [pickle.dumps(report)]})

    places = session.range(0, len(todo), 1, len(todo))
    rows = places.mapInArrow(run, "report binary").collect()
    return [pickle.loads(row["report"]) for row in rows]  # noqa: S301 our own


def version_of_workers(session: "SparkSession") -> str:
    """Of this package, where Spark's Python workers run."""
    version: str = session.range(1).mapInArrow(_tell_version, "version string").collect()[0]["version"]
    return version


def _tell_version(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"version": [__version__] * batch.num_rows})
