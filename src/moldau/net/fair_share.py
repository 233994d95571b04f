"""Shares the event loop among connections: after a long request a connection lets others go first.

One loop serves every connection, one request at a time. A client with long requests (such as a fetch of ten thousand
partitions) that sends the next one at once would leave the others only the gaps in between. So after a long request
the loop turns once. If other connections are served in that turn, the client rests for as long as its request took, and
the others get half of the time. Connections with short requests never rest.
"""

from typing import Final

LONG_S: Final = 0.005
REST_S_MAX: Final = 0.1


class FairShare:
    """One for each loop."""

    __slots__ = ("_served_last",)

    def __init__(self) -> None:
        self._served_last: object = None

    def rest_s(self, connection: object, took_s: float) -> float | None:
        """How long the connection just served must wait for its next turn; None if it may continue at once."""
        was_alone = self._served_last is connection
        self._served_last = connection
        if took_s < LONG_S:
            return None
        return 0.0 if was_alone else min(took_s, REST_S_MAX)
