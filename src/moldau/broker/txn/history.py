"""What happened to transactional ids and why, kept as long as this coordinator has them.

Filled by `replay` like other state, in memory only, and bounded everywhere.
"""

from collections import deque
from dataclasses import replace
from typing import Final

from moldau.broker.txn.events import Event, EventKind

IDS_MAX: Final = 10_000
"""Transactional ids with a history; the one without events for the longest time is dropped first."""
EVENTS_MAX: Final = 60
"""Of one id: about twenty transactions."""
PARTITIONS_NAMED_MAX: Final = 20
"""Partitions named in one event; further ones are counted."""


class History:
    def __init__(self) -> None:
        self._ids: dict[str, deque[Event]] = {}

    def events(self, transactional_id: str) -> tuple[Event, ...]:
        """Oldest first."""
        return tuple(self._ids.get(transactional_id, ()))

    def add(self, transactional_id: str, event: Event) -> None:
        events = self._ids.pop(transactional_id, None) or deque(maxlen=EVENTS_MAX)
        self._ids[transactional_id] = events
        if len(self._ids) > IDS_MAX:
            del self._ids[next(iter(self._ids))]
        merged = _merged(events[-1], event) if events else None
        if merged is None:
            events.append(event)
        else:
            events[-1] = merged


def _merged(last: Event, event: Event) -> Event | None:
    """Merges similar events. Partitions join a transaction one by one, and zombies keep retrying: neither may
    displace the other events."""
    if event.kind is EventKind.PARTITIONS_ADDED and last.kind in (
        EventKind.PARTITIONS_ADDED,
        EventKind.BEGAN,
    ):
        told = last.partitions + event.partitions
        left_out = last.partitions_left_out + event.partitions_left_out + len(told[PARTITIONS_NAMED_MAX:])
        return replace(last, partitions=told[:PARTITIONS_NAMED_MAX], partitions_left_out=left_out)
    if event.kind is EventKind.REFUSED and event == replace(last, at_ms=event.at_ms, times=1):
        return replace(last, at_ms=event.at_ms, times=last.times + 1)
    return None
