"""The owner of an application: a file in its checkpoint names the process that runs it, which renews it periodically.

A second run of the same application is rejected while the first is alive; the error says where that runs. A dead
process on the same machine is detected at once, one on another machine when its file stops changing.
"""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.checkpoint.folder import Folder

FILE: Final = "owner.json"
CONFIRM_EVERY_S: Final = 5.0
SILENT_S_MAX: Final = 3 * CONFIRM_EVERY_S
LOOK_EVERY_S: Final = 0.5


class Runner(NamedTuple):
    """The process that runs an application."""

    pid: int
    host: str


class Owner:
    def __init__(self, folder: Folder, application_id: str, token: str) -> None:
        self._folder = folder
        self._application_id = application_id
        self._token = token
        self._count = 0
        self._confirmed_at = -CONFIRM_EVERY_S

    def claim(self) -> None:
        """Raises ConfigError if another process runs the application."""
        found = self._read()
        if found is not None and found.get("token") != self._token and self._lives(found):
            raise ConfigError(
                f"{self._application_id} runs already, as process {found.get('pid')} on {found.get('host')} "
                f"(its checkpoint is {self._folder.address}): stop that one first, or give this one another "
                "application id"
            )
        self._write()

    def require_free(self) -> None:
        """Raises ConfigError if the application runs."""
        found = self._read()
        if found is not None and self._lives(found):
            raise ConfigError(
                f"{self._application_id} is running, as process {found.get('pid')} on {found.get('host')}: "
                "stop it first"
            )

    def runner(self) -> Runner | None:
        """None if nobody runs the application. Takes a while if a process on another machine has to be watched."""
        found = self._read()
        if found is None or not self._lives(found):
            return None
        return Runner(int(found.get("pid", 0)), str(found.get("host", "")))

    def confirm(self) -> None:
        """Called often. Periodically checks whether another run has taken over, and renews the file."""
        now = time.monotonic()
        if now - self._confirmed_at < CONFIRM_EVERY_S:
            return
        found = self._read()
        if found is not None and found.get("token") != self._token:
            raise ConfigError(
                f"{self._application_id} has been taken over by process {found.get('pid')} on {found.get('host')}: "
                "this run ends"
            )
        self._write()

    def release(self) -> None:
        found = self._read()
        if found is not None and found.get("token") == self._token:
            self._folder.remove(FILE)

    def _read(self) -> dict[str, Any] | None:
        content = self._folder.read(FILE)
        if content is None:
            return None
        try:
            found = json.loads(content)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def _write(self) -> None:
        self._count += 1
        self._confirmed_at = time.monotonic()
        content = {
            "token": self._token,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "count": self._count,
        }
        self._folder.write(FILE, json.dumps({**content, **_this_process()}).encode())

    def _lives(self, found: dict[str, Any]) -> bool:
        machine = _machine()
        if machine is not None and found.get("machine") == machine:
            return _started(int(found.get("pid", 0))) == found.get("started")
        deadline = time.monotonic() + SILENT_S_MAX
        while time.monotonic() < deadline:
            now = self._read()
            if now is None:
                return False
            if now.get("count") != found.get("count") or now.get("token") != found.get("token"):
                return True
            time.sleep(LOOK_EVERY_S)
        return False


def _this_process() -> dict[str, Any]:
    return {"machine": _machine(), "started": _started(os.getpid())}


def _machine() -> str | None:
    """Identifies this boot of this machine, as seen from this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _started(pid: int) -> str | None:
    """The start time of a process on this machine. None if there is no such process."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    after_name = facts.rpartition(")")[2].split()
    return None if after_name[0] in "ZX" else after_name[19]
