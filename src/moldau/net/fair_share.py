"""Shares the event loop fairly: a connection whose request took long lets the others go first.

One loop serves all connections, one request at a time. A client with long requests, such as a fetch of ten thousand
partitions, could take nearly all of its time. So after a long request the loop runs once for the others. If any of them
was served, the client rests for as long as its request took, so that half of the time is theirs. No other client rests.
"""

from typing import Final

LONG_S: Final = 0.005
REST_S_MAX: Final = 0.1


class FairShare:
    """One instance for each loop."""

    __slots__ = ("_served_last",)

    def __init__(self) -> None:
        self._served_last: object = None

    def rest_s(self, connection: object, took_s: float) -> float | None:
        """How long the connection just served must wait before its next request; None if it need not."""
        was_alone = self._served_last is connection
        self._served_last = connection
        if took_s < LONG_S:
            return None
        return 0.0 if was_alone else min(took_s, REST_S_MAX)
