"""The user's functions in Python: loaded at the start, and again when their files have changed."""

import logging
import time
from pathlib import Path
from typing import Final

from moldau.pipeline.sql.functions.library import Library, builtin
from moldau.pipeline.sql.functions.user.loading import load

LOOK_EVERY_S: Final = 1.0

log = logging.getLogger("moldau.sql")


class UserFunctions:
    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).absolute()
        self._seen: tuple[tuple[str, int], ...] | None = None
        self._looked_at = -LOOK_EVERY_S
        self.library: Library = builtin()
        self.generation = 0
        """Another number after each load."""

    @property
    def paths(self) -> tuple[str, ...]:
        """What queries load. The folder may come later: queries that run must not change with it."""
        return (str(self._folder),)

    def refresh(self) -> bool:
        """Whether they were loaded again. Running queries keep theirs. A file that cannot be loaded is logged."""
        if time.monotonic() - self._looked_at < LOOK_EVERY_S:
            return False
        self._looked_at = time.monotonic()
        found = tuple(sorted((str(file), file.stat().st_mtime_ns) for file in self._folder.rglob("*.py")))
        if found == self._seen:
            return False
        self._seen = found
        loaded = load(self.paths if self._folder.is_dir() else ())
        for error in loaded.errors:
            log.error("functions: %s", error)
        self.library = builtin().with_user(loaded.functions)
        self.generation += 1
        for name in self.library.hidden:
            log.warning("the function %s is not used: a built-in function has that name", name)
        return True
