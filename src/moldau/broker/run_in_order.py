"""The port for blocking administrative work: one job at a time, in the order of the calls."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class RunInOrder(Protocol):
    """Runs a job on a single worker thread. Jobs finish in order, and their awaiters resume in the same
    order."""

    def __call__(self, job: Callable[[], Result], /) -> Awaitable[Result]: ...
