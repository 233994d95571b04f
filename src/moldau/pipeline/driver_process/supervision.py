"""Supervises the driver process: starts it again when Spark or the process has ended, and stops it."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from moldau.pipeline.driver_process.process import DRIVER_MODULE, EXIT_AGAIN, Status, start_driver, statuses

STOP_S: Final = 90.0
"""How long the driver may take to finish its batches before it is killed."""
PAUSE_S: Final = 1.0


def ended_early(code: int) -> bool:
    """Whether the process, or Spark in it, was ended from outside: the checkpoints have all that is needed to go on."""
    return code == EXIT_AGAIN or code < 0


class Supervision:
    """One driver process after the other.

    `order` is asked before each start. `pause_s` says, of an exit code, how long to wait before the next start; None:
    there is none.
    """

    def __init__(
        self,
        paths: Sequence[str],
        order: Callable[[], Mapping[str, Any]],
        *,
        module: str = DRIVER_MODULE,
        pause_s: Callable[[int], float | None] = lambda code: PAUSE_S if ended_early(code) else None,
        on_exit: Callable[[int], None] = lambda code: None,
    ) -> None:
        """`on_exit` is called when a process has ended and the next one will be started."""
        self._paths = paths
        self._order = order
        self._module = module
        self._pause_s = pause_s
        self._on_exit = on_exit
        self._driver: subprocess.Popen[str] | None = None
        self._changing = threading.Lock()
        self._stopping = threading.Event()
        self._overdue: threading.Timer | None = None
        self.code = 0
        """The exit code of the last process that has ended."""

    def statuses(self) -> Iterator[Status]:
        """Ends with the last process. An interrupted iteration may be followed by another one."""
        while (driver := self._running()) is not None:
            assert driver.stdout is not None
            yield from statuses(driver.stdout)
            driver.stdout.close()
            self.code = driver.wait()
            self._driver = None
            if self._overdue is not None:
                self._overdue.cancel()
            pause_s = None if self._stopping.is_set() else self._pause_s(self.code)
            if pause_s is None:
                return
            self._on_exit(self.code)
            self._stopping.wait(pause_s)

    @property
    def pid(self) -> int | None:
        driver = self._driver
        return None if driver is None else driver.pid

    def stop(self) -> None:
        """Asks the driver to finish its batches, and returns at once: `statuses` ends when it has. Kills it after
        STOP_S."""
        with self._changing:
            self._stopping.set()
            driver = self._driver
            if driver is None:
                return
            driver.terminate()
            self._overdue = threading.Timer(STOP_S, driver.kill)
            self._overdue.daemon = True
            self._overdue.start()

    def kill(self) -> None:
        """Returns when the process has ended."""
        with self._changing:
            self._stopping.set()
            driver = self._driver
        if driver is not None:
            driver.kill()
            self.code = driver.wait()

    def _running(self) -> "subprocess.Popen[str] | None":
        """The process, started if there is none; None after `stop`."""
        with self._changing:
            if self._driver is None and not self._stopping.is_set():
                self._driver = start_driver(self._paths, self._order(), module=self._module)
            return self._driver
