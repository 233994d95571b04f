"""The levels of this process's loggers, under the names that Kafka Connect gives levels."""

import logging
import time
from typing import Any, Final

ROOT: Final = "root"
TRACE: Final = 5
OFF: Final = logging.CRITICAL + 10
LEVELS: Final = {
    "TRACE": TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "OFF": OFF,
}
_NAMES: Final = {level: name for name, level in LEVELS.items()}


class Loggers:
    def __init__(self) -> None:
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, dict[str, Any]]:
        """Those with a level of their own."""
        names = [
            name
            for name, one in logging.Logger.manager.loggerDict.items()
            if isinstance(one, logging.Logger) and one.level != logging.NOTSET
        ]
        return {name: self.level(name) or {} for name in sorted([ROOT, *names])}

    def level(self, name: str) -> dict[str, Any] | None:
        """None: there is no such logger."""
        if name != ROOT and name not in logging.Logger.manager.loggerDict:
            return None
        level = _logger(name).getEffectiveLevel()
        text = _NAMES.get(level, logging.getLevelName(level))
        return {"level": text, "last_modified": self._modified.get(name)}

    def set(self, name: str, level: str) -> list[str]:
        """The names of all loggers with another level now. The level must be one of LEVELS."""
        prefix = f"{name}."
        affected = [
            one
            for one in logging.Logger.manager.loggerDict
            if name == ROOT or one == name or one.startswith(prefix)
        ]
        now_ms = int(time.time() * 1000)
        for one in sorted({name, *affected}):
            if one == name or _logger(one).level != logging.NOTSET:
                _logger(one).setLevel(LEVELS[level])
            self._modified[one] = now_ms
        return sorted({name, *affected})


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)
