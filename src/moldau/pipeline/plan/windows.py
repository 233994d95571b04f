"""Windows for aggregations and joins, in milliseconds.

Pure values. Size, advance and grace are as in Kafka Streams (KIP-633: grace has no hidden default).
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import callers_location
from moldau.pipeline.serdes.kinds import K


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows of fixed size, aligned to the epoch: tumbling if they advance by their size, hopping if by less."""

    size_ms: int
    advance_ms: int
    grace_ms: int = 0

    def __post_init__(self) -> None:
        _positive("size", self.size_ms)
        _positive("advance", self.advance_ms)
        _not_negative("grace", self.grace_ms)
        if not 0 < self.advance_ms <= self.size_ms:
            raise ConfigError(
                f"{callers_location()}: a window of {self.size_ms} ms cannot advance by {self.advance_ms} ms: "
                "give an advance above 0 and at most the size"
            )

    def starts_of(self, timestamp_ms: int) -> range:
        """The starts of all windows that contain this time, oldest first."""
        first = max(0, timestamp_ms - self.size_ms + self.advance_ms) // self.advance_ms * self.advance_ms
        return range(first, timestamp_ms + 1, self.advance_ms)

    @property
    def retention_ms(self) -> int:
        return self.size_ms + self.grace_ms

    def __str__(self) -> str:
        if self.advance_ms == self.size_ms:
            return f"tumbling({self.size_ms} ms, grace {self.grace_ms} ms)"
        return f"hopping({self.size_ms} ms by {self.advance_ms} ms, grace {self.grace_ms} ms)"


@dataclass(frozen=True, slots=True)
class SlidingWindows:
    """Windows of records at most `size_ms` apart (KIP-450): one ends at each record, and one starts after it."""

    size_ms: int
    grace_ms: int = 0

    def __post_init__(self) -> None:
        _not_negative("size", self.size_ms)
        _not_negative("grace", self.grace_ms)

    @property
    def retention_ms(self) -> int:
        return 2 * self.size_ms + self.grace_ms

    def __str__(self) -> str:
        return f"sliding({self.size_ms} ms, grace {self.grace_ms} ms)"


@dataclass(frozen=True, slots=True)
class SessionWindows:
    """Windows of activity that end with a gap of inactivity. A record between two sessions merges them."""

    gap_ms: int
    grace_ms: int = 0

    def __post_init__(self) -> None:
        _positive("inactivity gap", self.gap_ms)
        _not_negative("grace", self.grace_ms)

    @property
    def retention_ms(self) -> int:
        return self.gap_ms + self.grace_ms

    def __str__(self) -> str:
        return f"session(gap {self.gap_ms} ms, grace {self.grace_ms} ms)"


@dataclass(frozen=True, slots=True)
class JoinWindows:
    """How far apart the records of a stream-stream join may be: the right one from `before_ms` earlier to `after_ms`
    later."""

    before_ms: int
    after_ms: int
    grace_ms: int = 0
    is_eager: bool = False
    """A left or outer join emits a record without a match at once, and matches that come later as well."""

    def __post_init__(self) -> None:
        _not_negative("grace", self.grace_ms)
        for bound, span_ms in (("span before", self.before_ms), ("span after", self.after_ms)):
            _whole(bound, span_ms)
        if self.before_ms + self.after_ms < 0:
            raise ConfigError(
                f"{callers_location()}: a join window from {self.before_ms} ms before to {self.after_ms} ms after "
                "holds no time: the sum of both must not be negative"
            )

    @property
    def size_ms(self) -> int:
        return self.before_ms + self.after_ms

    @property
    def retention_ms(self) -> int:
        return self.size_ms + self.grace_ms

    def __str__(self) -> str:
        eager = ", eager" if self.is_eager else ""
        return f"join({self.before_ms} ms before, {self.after_ms} ms after, grace {self.grace_ms} ms{eager})"


Windows = TimeWindows | SlidingWindows | SessionWindows


class Windowed(NamedTuple, Generic[K]):
    """A key in one window: [start, end) for time windows, [start, end] for sliding ones and sessions."""

    key: K
    start_ms: int
    end_ms: int


def tumbling(size_ms: int, *, grace_ms: int = 0) -> TimeWindows:
    return TimeWindows(size_ms, size_ms, grace_ms)


def hopping(size_ms: int, advance_ms: int, *, grace_ms: int = 0) -> TimeWindows:
    return TimeWindows(size_ms, advance_ms, grace_ms)


def sliding(size_ms: int, *, grace_ms: int = 0) -> SlidingWindows:
    return SlidingWindows(size_ms, grace_ms)


def sessions(gap_ms: int, *, grace_ms: int = 0) -> SessionWindows:
    return SessionWindows(gap_ms, grace_ms)


def within(difference_ms: int, *, grace_ms: int = 0) -> JoinWindows:
    """Joins records at most this far apart, in any order."""
    return JoinWindows(difference_ms, difference_ms, grace_ms)


def _positive(what: str, value_ms: int) -> None:
    if _whole(what, value_ms) <= 0:
        raise ConfigError(f"{callers_location()}: a window's {what} must be above 0 ms, not {value_ms}")


def _not_negative(what: str, value_ms: int) -> None:
    if _whole(what, value_ms) < 0:
        raise ConfigError(f"{callers_location()}: a window's {what} must not be negative, not {value_ms} ms")


def _whole(what: str, value_ms: object) -> int:
    if isinstance(value_ms, int):
        return value_ms
    raise ConfigError(f"{callers_location()}: a window's {what} is in whole milliseconds, not {value_ms!r}")
