"""The loop, shared out among connections: whoever took it for long lets the others go first.

One loop serves every connection, a request at a time. A client whose requests take long, such as a fetch that names ten
thousand partitions, and who asks again at once would leave the others only the moments in between. So after a long
request the loop turns once to see who else is there; if others were served since, the client rests for as long as its
request took: half of the time is theirs. Nobody else ever rests.
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
        """How long the connection just served must wait for its next turn; None when it may go on at once."""
        was_alone = self._served_last is connection
        self._served_last = connection
        if took_s < LONG_S:
            return None
        return 0.0 if was_alone else min(took_s, REST_S_MAX)
