"""A time by which something has to have come about."""

import time


class Deadline:
    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._end = time.monotonic() + timeout_s

    def check(self, what: str) -> None:
        """Raises TimeoutError once it is past, with what there was by then."""
        if time.monotonic() > self._end:
            raise TimeoutError(f"only {what} within {self._timeout_s} s")
