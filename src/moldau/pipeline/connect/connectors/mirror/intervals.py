"""Work that is repeated: when it is due. Pure."""


class Interval:
    """Due at once if it begins so, then whenever the time has passed since it was last taken."""

    def __init__(self, seconds: float, *, enabled: bool = True, now_s: float | None = None) -> None:
        """`now_s`: first due an interval after this time. None: due at once."""
        self._seconds = seconds
        self._enabled = enabled
        self._due_s = float("-inf") if now_s is None else now_s + seconds

    def take(self, now_s: float) -> bool:
        """Whether it is due. It is then not due again for an interval."""
        if not self._enabled or now_s < self._due_s:
            return False
        self._due_s = now_s + self._seconds
        return True

    def left_s(self, now_s: float) -> float:
        """How long until it is due; without end if it is switched off."""
        return max(0.0, self._due_s - now_s) if self._enabled else float("inf")
