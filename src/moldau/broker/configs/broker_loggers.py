"""Log levels of the running broker: the resource BROKER_LOGGER (KIP-412). They are lost when the process
ends.
"""

import logging
from collections.abc import Sequence
from typing import Final

from moldau.broker.configs.config_changes import AlterOp, Change, check_distinct
from moldau.broker.configs.config_entries import ConfigEntry
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.settings.resolve import ConfigSource
from moldau.core.settings.text_form import ConfigType
from moldau.security.access.kafka_authorizer import LOGGER as AUTHORIZER

ROOT: Final = "root"
OURS: Final = "moldau"
OFF: Final = logging.CRITICAL + 10
LEVELS: Final = {
    "OFF": OFF,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
}


def logger_entries() -> list[ConfigEntry]:
    return [
        ConfigEntry(
            name=name,
            value=_level_name(_logger(name).getEffectiveLevel()),
            source=ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
            is_read_only=False,
            is_sensitive=False,
            synonyms=(),
            type=ConfigType.STRING,
            documentation="",
        )
        for name in _names()
    ]


def alter_loggers(changes: Sequence[Change], *, validate_only: bool) -> None:
    check_distinct(change.name for change in changes)
    for change in changes:
        _check(change)
    if validate_only:
        return
    for name, op, value in changes:
        _logger(name).setLevel(LEVELS[(value or "").upper()] if op == AlterOp.SET else logging.NOTSET)


def _check(change: Change) -> None:
    name, op, value = change
    if op not in (AlterOp.SET, AlterOp.DELETE):
        shown = AlterOp(op).name if op in set(AlterOp) else str(op)
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"{shown} operation is not allowed for the BROKER_LOGGER resource"
        )
    if name not in _names():
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if op == AlterOp.DELETE and name == ROOT:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
    if op == AlterOp.SET and (value or "").upper() not in LEVELS:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {value} as it is not a supported log level. "
            f"Valid log levels are {', '.join(LEVELS)}",
        )


def _names() -> list[str]:
    """The root logger and the loggers of this broker that exist so far."""
    known = logging.root.manager.loggerDict
    ours = (name for name in known if name in (OURS, AUTHORIZER) or name.startswith(f"{OURS}."))
    return [ROOT, *sorted(ours)]


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(level: int) -> str:
    """The nearest of Kafka's level names at or below a level."""
    return next((name for name, number in LEVELS.items() if level >= number), "TRACE")
