"""Where blocking work of the admin half runs: one job at a time, in the order they were handed over."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class RunInOrder(Protocol):
    """Runs a job on a single worker thread. Jobs finish in order, and so do those who wait for them."""

    def __call__(self, job: Callable[[], Result], /) -> Awaitable[Result]: ...
