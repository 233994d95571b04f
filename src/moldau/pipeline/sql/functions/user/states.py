"""What `setup` of a function has made: once for each process and version of the function, however often it is sent."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Final

RETRY_S: Final = 30.0
_states: dict[Hashable, Any] = {}
_failures: dict[Hashable, tuple[float, str]] = {}
_one_at_a_time = threading.RLock()


class SetupFailed(Exception):
    """The function cannot be called. After a while the setup is tried again."""


def state_of(key: Hashable, setup: Callable[[], Any]) -> Any:
    try:
        return _states[key]
    except KeyError:
        pass
    with _one_at_a_time:
        if key in _states:
            return _states[key]
        failed_at, why = _failures.get(key, (0.0, ""))
        if why and time.monotonic() - failed_at < RETRY_S:
            raise SetupFailed(why)
        try:
            _states[key] = setup()
        except Exception as failure:
            _failures[key] = (time.monotonic(), f"its setup failed: {type(failure).__name__}: {failure}")
            raise SetupFailed(_failures[key][1]) from failure
        return _states[key]
