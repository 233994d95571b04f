"""Tells the log how many records connectors have written: a line for each, when there are more, now and then."""

import logging
from typing import Final

TELL_EVERY_S: Final = 60.0

log = logging.getLogger("moldau.connect")


class ProgressLog:
    """Time is an argument."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, int]] = {}
        """When something was told of a connector, and its count then."""

    def count(self, connector: str, written: int, now_s: float) -> None:
        """`written` are the records of its tasks here, since they were created."""
        at_s, before = self._told.setdefault(connector, (now_s, 0))
        if written < before:
            # Other tasks, or a new process.
            self._told[connector] = now_s, written
        elif now_s - at_s >= TELL_EVERY_S:
            self._told[connector] = now_s, written
            if written > before:
                log.info("%s: %d records in the last %d s", connector, written - before, now_s - at_s)

    def forget(self, connector: str) -> None:
        self._told.pop(connector, None)
