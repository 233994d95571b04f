"""The folder of one worker below `state.dir`. Workers may share `state.dir`: each locks a folder of its own.

The lock goes with the process, however it ends. A worker that starts takes the first folder without an owner, and so
cleans up what a dead worker has left there.
"""

import fcntl
import logging
from pathlib import Path
from typing import IO, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.driver_process.application_folder import ApplicationFolder, Wanted

WORKERS_MAX: Final = 1_000
"""Folders that are tried."""
LOCK: Final = "lock"

log = logging.getLogger("moldau.connect")


class WorkerFolder(ApplicationFolder):
    """`folder` has the files of tasks. It is known once the folder has been prepared."""

    def __init__(self, state_dir: str) -> None:
        self._root = Path(state_dir).absolute()
        self._lock: IO[bytes] | None = None
        super().__init__(self._root)

    @property
    def checkpoints(self) -> Path:
        return self.folder.parent / "checkpoints"

    def prepare(self) -> None:
        """Raises ConfigError if there can be no folder."""
        try:
            own = self._taken()
            self.folder = own / "tasks"
            super().prepare()
        except OSError as failure:
            self.release()
            raise ConfigError(
                f"state.dir: the worker cannot keep its files in {self._root}: {failure.strerror or failure}. Name a "
                "folder of a local disk that the worker may write to"
            ) from failure
        log.info("this worker keeps its files in %s", own)

    def release(self) -> None:
        """Another worker may take the folder."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def write(self, wanted: Wanted) -> str:
        """Makes the folder again if it was deleted meanwhile."""
        super().prepare()
        return super().write(wanted)

    def _taken(self) -> Path:
        for number in range(1, WORKERS_MAX + 1):
            folder = self._root / f"worker-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / LOCK).open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            except OSError:
                lock.close()
                raise
            self._lock = lock
            return folder
        raise ConfigError(
            f"state.dir: {WORKERS_MAX} workers use {self._root} already. Give this one another folder"
        )
