"""`moldau sql` in a pseudo-terminal: keys go in, and what the screen was sent can be waited for."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Self

MOLDAU = str(Path(sys.executable).with_name("moldau"))
PATIENCE_S = 120
COMPLETION_S = 10
ROWS, COLUMNS = 40, 100
CTRL_C, CTRL_D, ENTER, TAB = "\x03", "\x04", "\r", "\t"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>()][B0]?)")


class TerminalShell:
    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self._pid = 0
        self._terminal = -1
        self._sent = b""
        self._read_to = 0

    def __enter__(self) -> Self:
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "MOLDAU_SQL_HISTORY": str(self.history_path),
        }
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(self._folder)
            os.execve(MOLDAU, [MOLDAU, "sql", self._url], environment)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        return self

    def __exit__(self, *_: object) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    @property
    def history_path(self) -> Path:
        return self._folder / "history"

    def press(self, key: str) -> None:
        """Whatever the shell does now."""
        os.write(self._terminal, key.encode())

    def type(self, keys: str) -> None:
        """At the prompt."""
        deadline = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self._terminal)[3] & termios.ICANON:
            assert time.monotonic() < deadline, f"there is no prompt: {self._shown()[-2000:]!r}"
            self._receive()
        self.press(keys)

    def enter(self, text: str) -> None:
        """A line, as a person types it."""
        self.type(text + ENTER)

    def completes(self, keys: str, rest: str) -> bool:
        """Whether Tab adds the rest in time. A key that is pressed while the shell looks for names ends the search."""
        self.type(keys + TAB)
        deadline = time.monotonic() + COMPLETION_S
        while rest not in self._shown()[self._read_to :]:
            if time.monotonic() > deadline:
                return False
            self._receive()
        return True

    def wait_for(self, text: str) -> str:
        """What came since the last wait, up to this text."""
        deadline = time.monotonic() + PATIENCE_S
        while (end := self._shown().find(text, self._read_to)) < 0:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{text!r} never came; instead: {self._shown()[self._read_to :]!r}")
            self._receive()
        found = self._shown()[self._read_to : end + len(text)]
        self._read_to = end + len(text)
        return found

    def wait_for_end(self) -> int:
        """The exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._pid = 0
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < deadline, "the shell did not end"
            self._receive()

    def _receive(self) -> None:
        ready, _, _ = select.select([self._terminal], [], [], 0.1)
        if ready:
            try:
                self._sent += os.read(self._terminal, 65536)
            except OSError:
                # The shell has ended.
                return

    def _shown(self) -> str:
        """Without colours and movements of the cursor."""
        return _ESCAPES.sub("", self._sent.decode(errors="replace"))
