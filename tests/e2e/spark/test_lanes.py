"""Lanes beside what the user does with the same Spark session."""

import os
import threading
from typing import TYPE_CHECKING

from e2e.spark_session import session_of_tests
from moldau.pipeline.spark.driver.lanes import POOL_VARIABLE, job_of_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


def pool_of_worker(_: str) -> str:
    return os.environ.get(POOL_VARIABLE, "")


def unchanged(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    yield from batches


def test_functions_are_bound_while_lanes_send() -> None:
    """Each binding reads the context's environment, with a call to the JVM between any two variables."""
    session = session_of_tests()
    send = job_of_context(session.sparkContext, pool_of_worker, pool="test")
    before = dict(session.sparkContext.environment)
    is_done = threading.Event()
    pools: list[str] = []

    def work() -> None:
        while not is_done.is_set():
            pools.extend(send(7, [""]))

    sender = threading.Thread(target=work)
    sender.start()
    try:
        numbers = session.range(1)
        for _ in range(300):
            numbers = session.range(1).mapInArrow(unchanged, "id long")
            assert session.sparkContext.environment == before
    finally:
        is_done.set()
        sender.join()
    assert numbers.count() == 1
    assert set(pools) == {f"{os.getpid()}-test7"}
