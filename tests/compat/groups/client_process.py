"""A client program in a process of its own, which a test may kill or freeze at any moment.

Its job is one JSON argument; it waits for a line before it begins, so that it can be started ahead of time. What it
prints is kept in a file.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compat.apache_kafka import java_command
from compat.groups.java_pipe import QUIET, classes

PROGRAMS = Path(__file__).parent / "programs"


def program_command(library: str, name: str) -> list[str]:
    """`name` is `reader` or `copier`; raises KafkaJarsUnavailable where Java's cannot be had."""
    if library == "java":
        return [*java_command("-Xmx128m", QUIET, classpath=[classes()]), f"compat.{name.capitalize()}"]
    return [sys.executable, str(PROGRAMS / f"confluent_{name}.py")]


class ClientProcess:
    def __init__(self, command: list[str], job: Mapping[str, Any], log_path: Path) -> None:
        self._log_path = log_path
        with log_path.open("wb") as log:
            self._child = subprocess.Popen(
                [*command, json.dumps(job)], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )

    def begin(self) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(b"\n")
            self._child.stdin.close()

    def lines(self) -> list[str]:
        """Those that are whole."""
        text = self._log_path.read_text(errors="replace")
        return text[: text.rfind("\n") + 1].splitlines()

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def freeze(self) -> None:
        os.kill(self._child.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGCONT)

    def kill9(self) -> None:
        self._child.kill()
        self._child.wait()
        if self._child.stdin is not None and not self._child.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._child.stdin.close()
