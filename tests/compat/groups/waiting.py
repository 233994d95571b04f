"""Waiting, in the tests of groups: long, since brokers, JVMs and members share a machine that may be busy."""

from collections.abc import Callable

from compat import server_process

TIMEOUT_S = 90


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = TIMEOUT_S) -> None:
    server_process.wait_until(condition, what, timeout_s)
