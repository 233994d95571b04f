"""Sends orders to Spark's workers and gathers their reports: one job a batch, one Spark task a slot.

Spark keeps a pool of Python workers for each set of environment variables. A slot gets a pool of its own, so that it
comes back to the process that has its clients and its state: not needed to be right, only to be quick.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moldau.pipeline.spark.orders import SlotOrder, SlotReport
from moldau.pipeline.spark.slot import run_slot

if TYPE_CHECKING:
    from pyspark import SparkContext

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
