"""A time limit for a function of the user in the driver, where no signal can interrupt it."""

from collections.abc import Callable
from typing import TypeVar

from moldau.pipeline.spark.background import in_background

T = TypeVar("T")


class DoesNotReturn(Exception):
    """The function still runs, in a thread that is abandoned: its result is not used."""


def within(limit_ms: int, work: Callable[[], T]) -> T:
    """Raises what the work raises."""
    future = in_background(work, "transform-job")
    try:
        return future.result(limit_ms / 1000)
    except TimeoutError:
        if future.done():
            raise
        raise DoesNotReturn from None
