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
_running: dict[int, tuple[float, list[bool]]] = {}
"""By thread: until when its call may run, and a token. The one who takes the token decides: the call has ended in time,
or it is interrupted."""
_watcher: threading.Thread | None = None


def within(limit_s: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Calls the function. A call inside another one has the limit of the outer one."""
    thread = threading.get_ident()
    if thread in _running:
        return function(*arguments)
    if _watcher is None or not _watcher.is_alive():
        _start()
    token = [True]
    _running[thread] = (time.monotonic() + limit_s, token)
    try:
        result = function(*arguments)
    except DoesNotReturn:
        del _running[thread]
        _take(token)
        raise
    except BaseException:
        _end(thread, token)
        raise
    _end(thread, token)
    return result


def _end(thread: int, token: list[bool]) -> None:
    del _running[thread]
    if not _take(token):
        # The exception is under way. It must not reach what comes after the call.
        for _ in range(100):
            time.sleep(0.01)


def _take(token: list[bool]) -> bool:
    """Only one thread gets it."""
    try:
        return token.pop()
    except IndexError:
        return False


def _start() -> None:
    global _watcher
    _watcher = threading.Thread(target=_watch, name="time limits of functions", daemon=True)
    _watcher.start()


def _watch() -> None:
    while True:
        time.sleep(LOOK_S)
        now = time.monotonic()
        for thread, (until, token) in list(_running.items()):
            if until <= now and _take(token):
                _interrupt(thread)


def _interrupt(thread: int) -> None:
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(thread), ctypes.py_object(DoesNotReturn))


os.register_at_fork(after_in_child=_running.clear)
