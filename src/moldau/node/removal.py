"""Deletes the files of retired segments, some time after the segments left their log."""

import logging

from moldau.core.ports import Scheduler
from moldau.storage.segments.segment import RetiredSegment

_log = logging.getLogger("moldau.housekeeping")


def remove_later(scheduler: Scheduler, segment: RetiredSegment, delay_ms: int) -> None:
    """Until then the files stay under their `.deleted` names, for responses that are still being sent from them."""
    scheduler.call_later(delay_ms, lambda: scheduler.spawn(_remove(scheduler, segment)))


async def _remove(scheduler: Scheduler, segment: RetiredSegment) -> None:
    try:
        await scheduler.run_in_worker(segment.remove)
    except OSError as error:
        _log.warning(
            "the files of a deleted segment cannot be removed: %s; the next start tries again", error
        )
