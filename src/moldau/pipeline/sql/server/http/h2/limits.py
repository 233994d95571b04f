"""What one client may ask of one connection."""

from typing import Final

STREAMS_MAX: Final = 128
"""Requests at a time. More wait at the client."""
TASKS_MAX: Final = 2 * STREAMS_MAX
"""Requests whose handlers run: those that a client has reset count until they have ended."""
STREAM_WINDOW_BYTES: Final = 256 << 10
CONNECTION_WINDOW_BYTES: Final = 4 << 20
"""How much of all request bodies may wait for their handlers."""
HEADER_BYTES_MAX: Final = 64 << 10
WRITE_BYTES_MAX: Final = 4 << 20
"""What may wait to be sent before the connection is given up: answers stop much earlier, so it is control frames."""
SILENT_BYTES_MAX: Final = 512 << 10
"""What may come without a complete frame: many times the largest frame that is allowed, and more than one read."""
BURDENS_PER_S_MAX: Final = 1_000
"""Pings, settings, resets and empty frames: frames that cost more to answer than to send."""
IDLE_S_MAX: Final = 600.0


class Burden:
    """Counts frames of that kind by the second. Pure: time is an argument."""

    def __init__(self) -> None:
        self._second = 0
        self._count = 0

    def add(self, now_s: float) -> bool:
        """Whether the limit is passed."""
        if int(now_s) != self._second:
            self._second, self._count = int(now_s), 0
        self._count += 1
        return self._count > BURDENS_PER_S_MAX
