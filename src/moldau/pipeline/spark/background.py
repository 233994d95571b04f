"""Work in a thread of its own, for a caller that does not wait for it forever."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T], name: str) -> "Future[T]":
    """Starts the work. Unlike an executor's, the thread does not keep the process from ending."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as failure:  # noqa: BLE001 raised where the result is asked for
            future.set_exception(failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
