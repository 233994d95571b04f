"""What a task's thread tells the shifts, and what they tell it. Shared by both; each field has one writer."""

import contextlib
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.connectors.task_orders import RunState

CALL_S_MAX: Final = 300.0
SILENT_WAIT_S_MAX: Final = 10.0

log = logging.getLogger(__name__)


class Abandoned(MoldauError):
    """The run is not wanted any more, and another may have begun: nothing may be written or committed."""


class Progress:
    def __init__(self, news: Callable[[], None] = lambda: None, name: str = "the task") -> None:
        """`news` is called when the state changes. `name` is the task's, for the log."""
        self._news = news
        self._name = name
        self.state = RunState.STARTING
        self.error: str | None = None
        self.trace = ""
        self.retrying: str | None = None
        """What the task waits for, or tries again."""
        self._waits = False
        self.polled = self.written = self.failed = 0
        self.lag: int | None = None
        self.topics: tuple[str, ...] = ()
        self.call_s_max = CALL_S_MAX
        self._call: tuple[str, float] | None = None
        self._stopping = threading.Event()
        self.is_abandoned = False

    # The thread's side

    def enter(self, state: RunState, error: str | None = None, trace: str = "") -> None:
        """After `fail_stuck` only the thread's end counts."""
        if self.is_abandoned:
            return
        self.error, self.trace = error, trace
        self.state = state
        self._news()

    def wait_for(self, why: str) -> None:
        """The task goes on by itself when this has passed. The log says so once."""
        if not self._waits:
            log.warning("%s waits, and tries again: %s", self._name, why)
        self._waits, self.retrying = True, why

    def go_on(self) -> None:
        """The task waits for nothing any more."""
        if self._waits:
            log.info("%s goes on", self._name)
        self._waits, self.retrying = False, None

    @contextlib.contextmanager
    def waiting_for(self, what: str) -> Iterator[None]:
        """Around a call of the start that waits for somebody else. The status says for what, and the log when that
        takes long."""
        self.retrying = f"waiting for {what}"
        timer = threading.Timer(SILENT_WAIT_S_MAX, self._say_waits, [what])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.retrying = None

    def _say_waits(self, what: str) -> None:
        log.warning(
            "%s cannot start yet: it has waited for %s for %g s, and goes on waiting",
            self._name,
            what,
            SILENT_WAIT_S_MAX,
        )

    def use(self, topics: Collection[str]) -> None:
        """Notes that they have been read or written."""
        if not set(self.topics).issuperset(topics):
            self.topics = tuple(sorted({*self.topics, *topics}))

    @contextlib.contextmanager
    def calling(self, what: str) -> Iterator[None]:
        """Around everything that may not return. Raises Abandoned when that took too long."""
        self._call = what, time.monotonic()
        try:
            yield
        finally:
            self._call = None
            self.require_own()

    def require_own(self) -> None:
        if self.is_abandoned:
            raise Abandoned("this run of the task was replaced")

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def pause_ms(self, ms: float) -> bool:
        """Waits. False when the task is to stop."""
        call, self._call = self._call, None
        self._stopping.wait(ms / 1000)
        self._call = None if call is None else (call[0], time.monotonic())
        return not self._stopping.is_set()

    # The shifts' side

    def ask_to_stop(self) -> None:
        self._stopping.set()

    def abandon(self) -> None:
        """The thread must not write any more, also when it returns from a call later."""
        self.is_abandoned = True
        self._stopping.set()

    def fail_stuck(self, thread: threading.Thread) -> bool:
        """True if a call has not returned for too long: the run has failed then, though its thread is still there."""
        call = self._call
        if call is None or time.monotonic() - call[1] < self.call_s_max or self.state.is_over:
            return False
        frame = sys._current_frames().get(thread.ident or 0)
        self.error = (
            f"{call[0]} has not returned within {self.call_s_max * 1000:.0f} ms (task.call.timeout.ms): the task is "
            "replaced"
        )
        where = "".join(traceback.format_stack(frame)) if frame is not None else ""
        self.trace = f"{self.error}\nIt is here:\n{where}"
        self.state = RunState.FAILED
        self.abandon()
        return True
