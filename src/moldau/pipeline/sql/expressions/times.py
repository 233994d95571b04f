"""Times as numbers and as text: ISO 8601, complete or cut short."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

from moldau.pipeline.sql.functions.scalar.date_reading import parse_timestamp as parse_by_pattern
from moldau.pipeline.sql.time_zones import zone
from moldau.pipeline.sql.types import STRING, SqlType
from moldau.pipeline.sql.value_texts import EPOCH, MIDNIGHT

DAY_MS: Final = 86_400_000

_TIMESTAMP = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
    r"(?:[T ](?P<time>\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:[.,]\d{1,9})?)?)?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?)?)?"
)
_TIME = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?)?")


def parse_date(text: str) -> int:
    """Days since 1970 of `2020-01-31`."""
    try:
        return (date.fromisoformat(text) - EPOCH).days
    except ValueError:
        raise ValueError(f"{text!r} is no DATE; one looks like '2020-01-31'") from None


def parse_time(text: str) -> int:
    """Milliseconds of the day of `10:15:30.5`."""
    found = _TIME.fullmatch(text)
    if found is None or ":" not in text:
        raise ValueError(f"{text!r} is no TIME; one looks like '10:15:30' or '10:15:30.123'")
    return _time_ms(text)


def _time_ms(text: str) -> int:
    found = _TIME.fullmatch(text)
    hour, minute, second, fraction = found.groups() if found else ("", "", "", "")
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"{text!r} is no time of a day")
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + int(((fraction or "") + "000")[:3])


def parse_timestamp(text: str) -> int:
    """Milliseconds since 1970 of `2020-01-31T10:15:30.123`; what is cut short begins at its beginning. UTC unless it
    names a zone."""
    found = _TIMESTAMP.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no TIMESTAMP; one looks like '2020-01-31T10:15:30.123'")
    day = date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    time_ms = _time_ms(found["time"]) if found["time"] else 0
    return (day - EPOCH).days * DAY_MS + time_ms - _zone_ms(found["zone"])


def _zone_ms(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    ms = (int(zone[1:3]) * 60 + int(zone[-2:])) * 60_000
    return -ms if zone[0] == "-" else ms


def at_zone(ms: int, name: str) -> int:
    """The wall clock's reading in a zone, as milliseconds."""
    moment = (MIDNIGHT + timedelta(milliseconds=ms)).astimezone(zone(name))
    offset = moment.utcoffset() or timedelta()
    return ms + int(offset.total_seconds() * 1000)


def timestamp_reader(kind: SqlType, pattern: str | None) -> Callable[[Any], int]:
    """A record's time in milliseconds from a column: a number, a TIMESTAMP, or text."""
    if kind != STRING:
        return int
    return parse_timestamp if pattern is None else partial(parse_by_pattern, pattern=pattern)
