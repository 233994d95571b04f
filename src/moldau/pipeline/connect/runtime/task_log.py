"""The log of a process in which connectors run: the worker's format, and no secret in any line.

The secrets are those of the connectors and tasks that run now. They are hidden by the handlers, so that it does not
matter which library writes a line.
"""

import logging
import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from moldau.pipeline.connect.runtime.secrets import Resolved

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_plain: Final = logging.Formatter()


class SecretFilter(logging.Filter):
    """Hides secrets in messages, traces and stacks. Lets every record pass."""

    def __init__(self) -> None:
        super().__init__()
        self._changing = threading.Lock()
        self._uses: Counter[str] = Counter()
        """Tasks may have secrets in common."""
        self._resolved = Resolved({})
        """Replaced, never changed: threads read it without a lock."""

    def hold(self, secrets: Collection[str]) -> None:
        with self._changing:
            self._uses.update(secrets)
            self._resolved = Resolved({}, frozenset(self._uses))

    def drop(self, secrets: Collection[str]) -> None:
        with self._changing:
            self._uses -= Counter(secrets)
            self._resolved = Resolved({}, frozenset(self._uses))

    def filter(self, record: logging.LogRecord) -> bool:
        resolved = self._resolved
        if not resolved.secrets:
            return True
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001 arguments that do not fit: the handler would print them with their values
            text = f"{record.msg} (logged with arguments that do not fit)"
        record.msg, record.args = resolved.mask(text), None
        if record.exc_info and not record.exc_text:
            record.exc_text = _plain.formatException(record.exc_info)
        if record.exc_text:
            record.exc_info, record.exc_text = None, resolved.mask(record.exc_text)
        if record.stack_info:
            record.stack_info = resolved.mask(record.stack_info)
        return True


_filter = SecretFilter()


@contextmanager
def hidden_in_log(secrets: Collection[str]) -> Iterator[None]:
    """Within it no line of this process's log has one of the secrets."""
    hide_in_log(secrets)
    try:
        yield
    finally:
        show_in_log(secrets)


def hide_in_log(secrets: Collection[str]) -> None:
    """Until `show_in_log` has been called as often with them."""
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is not None:
            # Nothing happens if it has the filter already.
            handler.addFilter(_filter)
    _filter.hold(secrets)


def show_in_log(secrets: Collection[str]) -> None:
    """They are secrets of nothing that runs here any more."""
    _filter.drop(secrets)


def log_to_stderr() -> None:
    """In processes that Spark starts. Nothing happens where a log has been set up already."""
    if not logging.getLogger().handlers:
        # What libraries say for information would be too much: only the platform's own.
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=FORMAT)
        logging.getLogger("moldau").setLevel(logging.INFO)
