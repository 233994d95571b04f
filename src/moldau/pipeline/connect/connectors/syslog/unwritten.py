"""Messages that a task had when it ended and that are not in Kafka, until it starts again in the same process.

Senders of syslog keep nothing, so this is their only copy. It is as large as `syslog.queue.max.size` and one
transaction.
"""

import threading
from collections.abc import Sequence
from typing import Final

from moldau.pipeline.connect.connectors.syslog.listener import Arrived

_lock: Final = threading.Lock()
_kept: Final[dict[str, list[Arrived]]] = {}


def keep(of: str, messages: Sequence[Arrived]) -> None:
    """`of` says which connector and socket had them."""
    with _lock:
        _kept.setdefault(of, []).extend(messages)


def take(of: str) -> list[Arrived]:
    """They belong to the caller now."""
    if of not in _kept:
        return []
    with _lock:
        return _kept.pop(of, [])
