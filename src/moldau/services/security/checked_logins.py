"""Logins whose check takes time, as that of a token or of a password that the cluster knows.

A check runs on a thread, once for all requests that wait for it, and what it found is kept for a while. Failures are
not kept. Of a login only a digest is.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from moldau.core.errors import MoldauError

THREADS: Final = 8
CHECKS_MAX: Final = 256
"""That run or wait at a time."""
KEPT_MAX: Final = 10_000


class Caller(NamedTuple):
    """Who has logged in, as `User:name`."""

    principal: str
    ends_s: float | None = None
    """When the login ends, as time since 1970; None for one that does not."""


class WrongLogin(MoldauError):
    """The text is for the log, and has no secret in it."""


class LoginsUnavailable(MoldauError):
    """Nobody can say whether a login is right. The text is for the client."""


class CheckedLogins:
    """Used by the event loop only."""

    def __init__(self, check: Callable[[bytes], Caller], kept_s: float) -> None:
        """`check` takes what follows the word `Basic` or `Bearer`, blocks, and raises WrongLogin or
        LoginsUnavailable."""
        self._check = check
        self._kept_s = kept_s
        self._kept: dict[bytes, tuple[str, float]] = {}
        """By digest: the principal, and until when the login is taken without a check."""
        self._running: dict[bytes, asyncio.Future[Caller]] = {}
        self._threads = ThreadPoolExecutor(THREADS, "service-login")

    def known(self, credential: bytes) -> str | None:
        """The principal of a login that was right a short time ago."""
        found = self._kept.get(_digest(credential))
        return found[0] if found is not None and found[1] > time.time() else None

    async def principal(self, credential: bytes) -> str:
        """Raises WrongLogin or LoginsUnavailable."""
        digest = _digest(credential)
        running = self._running.get(digest)
        if running is None:
            if len(self._running) >= CHECKS_MAX:
                raise LoginsUnavailable(
                    f"{CHECKS_MAX} logins are being checked already. Try again in a moment."
                )
            loop = asyncio.get_running_loop()
            running = loop.run_in_executor(self._threads, self._check, credential)
            self._running[digest] = running
            running.add_done_callback(lambda done: self._ended(digest, done))
        # A client that goes away does not end the check for the others.
        return (await asyncio.shield(running)).principal

    def close(self) -> None:
        """After the last request."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ended(self, digest: bytes, done: "asyncio.Future[Caller]") -> None:
        del self._running[digest]
        if done.cancelled() or done.exception() is not None:
            self._kept.pop(digest, None)
            return
        caller, now_s = done.result(), time.time()
        until_s = now_s + self._kept_s
        if caller.ends_s is not None:
            until_s = min(until_s, caller.ends_s)
        if len(self._kept) >= KEPT_MAX:
            self._kept = {key: each for key, each in self._kept.items() if each[1] > now_s}
        if len(self._kept) < KEPT_MAX:
            self._kept[digest] = caller.principal, until_s


def _digest(credential: bytes) -> bytes:
    return hashlib.sha256(credential).digest()
