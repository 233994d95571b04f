"""The collection after each of Spark's tasks."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from moldau.pipeline.spark.worker.garbage import WHOLE_EVERY, task_ends


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_is_alive_is_not_looked_at_again() -> None:
    task_ends()
    task_ends()
    # pytest's own objects since then, not all of its modules.
    assert len(gc.get_objects()) < gc.get_freeze_count() / 10


def test_cycles_are_found_in_the_end() -> None:
    one = Cycle()
    gone = weakref.ref(one)
    task_ends()
    del one
    for _ in range(WHOLE_EVERY):
        task_ends()
        gc.collect()
    assert gone() is None
