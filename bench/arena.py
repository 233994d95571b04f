"""Where a race is run: the servers that stay up over many cases, fresh ones for those that need them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from systems import SYSTEMS, ServerProcess

ROOM = bytes(1 << 20)
ROOM_BYTES_MAX = 3 << 30


@dataclass(frozen=True)
class Scale:
    """How much of each case's load to run: the full race, or a quick look."""

    share: float = 1.0

    def count(self, full: int) -> int:
        return max(int(full * self.share), 1)

    def seconds(self, full: int) -> int:
        return max(round(full * self.share), 2)


class Arena:
    """Both servers run side by side, one of them idle: a JVM that is started anew would be measured cold."""

    def __init__(self, folder: Path, scale: Scale) -> None:
        self.folder = folder
        self.scale = scale
        self._running: dict[str, ServerProcess] = {}
        self._fresh_count = 0

    def server(self, system: str) -> ServerProcess:
        if system not in self._running:
            self._running[system] = SYSTEMS[system](self.folder / system).start()
        return self._running[system]

    @contextmanager
    def fresh(self, system: str) -> Iterator[ServerProcess]:
        """A server that was never started, alone on the machine; stopped and wiped at the end."""
        self.stop()
        self._fresh_count += 1
        folder = self.folder / f"{system}-{self._fresh_count}"
        server = SYSTEMS[system](folder)
        try:
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    def settle(self, bytes_to_come: int = 0) -> None:
        """What the last run left to be written must not be written during the next; and the page cache finds room for
        what is to come. A virtual machine may have given free memory back: to get it again takes a broker six times
        as long as to write into it, or nothing, as chance has it, and is no work of a broker's."""
        os.sync()
        if bytes_to_come:
            with tempfile.TemporaryFile(dir=self.folder) as room:
                for _ in range(min(bytes_to_come, ROOM_BYTES_MAX) // len(ROOM) + 1):
                    room.write(ROOM)
                room.flush()

    def stop(self) -> None:
        while self._running:
            system, server = self._running.popitem()
            server.stop()
            shutil.rmtree(self.folder / system, ignore_errors=True)
