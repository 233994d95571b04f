"""Interrupts a call of a user's function that takes too long, in whatever thread it runs.

A watching thread raises DoesNotReturn inside the call: Python code ends, a call that blocks in C ends when it returns.
A worker's main thread is interrupted by a signal too (`pipeline/spark/worker/time_limit.py`), which ends both.
"""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.operators.failures import DoesNotReturn

LOOK_S: Final = 0.1
_running: dict[int, list[float]] = {}
"""By thread: the limit of its call in seconds, in a list. The one who takes it out decides: the call has ended in time,
or it is interrupted. A call notes no time: the watching thread knows since when it has seen the list."""
_is_watched = False


def within(limit_s: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Calls the function. A call inside another one has the limit of the outer one."""
    thread = threading.get_ident()
    if thread in _running:
        return function(*arguments)
    if not _is_watched:
        _start()
    call = _running[thread] = [limit_s]
    try:
        result = function(*arguments)
    except DoesNotReturn:
        del _running[thread]
        call.clear()
        raise
    except BaseException:
        _end(thread, call)
        raise
    _end(thread, call)
    return result


def _end(thread: int, call: list[float]) -> None:
    del _running[thread]
    try:
        call.pop()
    except IndexError:
        # The exception is under way. It must not reach what comes after the call.
        for _ in range(100):
            time.sleep(0.01)


def _start() -> None:
    global _is_watched
    _is_watched = True
    threading.Thread(target=_watch, name="time limits of functions", daemon=True).start()


def _watch() -> None:
    since: dict[int, tuple[list[float], float]] = {}
    while True:
        time.sleep(LOOK_S)
        now = time.monotonic()
        calls = dict(_running)
        since = {
            thread: since[thread] if thread in since and since[thread][0] is call else (call, now)
            for thread, call in calls.items()
        }
        for thread, (call, first_seen) in since.items():
            if call and now - first_seen >= call[0]:
                _interrupt(thread, call)


def _interrupt(thread: int, call: list[float]) -> None:
    try:
        call.pop()
    except IndexError:
        return  # it has just ended
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(thread), ctypes.py_object(DoesNotReturn))


def _forget() -> None:
    """A forked process has no thread but the one that forked."""
    global _is_watched
    _is_watched = False
    _running.clear()


os.register_at_fork(after_in_child=_forget)
