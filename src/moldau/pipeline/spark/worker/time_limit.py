"""Interrupts a function of the user that does not return, and fails the record that it was called for.

One timer per batch checks periodically whether the task is still at the same record, so a record costs nothing. Signals
only reach the main thread, where Spark's workers run tasks; in other threads there is no limit.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Final

from moldau.pipeline.operators.task import DoesNotReturn, Task

LOOKS_PER_LIMIT: Final = 4


@contextlib.contextmanager
def time_limit(task: Task, record_ms_max: int) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: tuple[object, float] = (None, time.monotonic())

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        current, now = task.current, time.monotonic()
        if current[2] < 0 or current != seen[0]:
            seen = (current, now)
        elif (now - seen[1]) * 1000 >= record_ms_max:
            seen = (None, now)
            raise DoesNotReturn(f"a function has not returned within {record_ms_max} ms")

    every_s = record_ms_max / LOOKS_PER_LIMIT / 1000
    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, every_s, every_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
