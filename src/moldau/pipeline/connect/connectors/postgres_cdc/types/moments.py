"""Dates, times and intervals from PostgreSQL's texts (DateStyle ISO, TimeZone UTC, IntervalStyle iso_8601).

PostgreSQL's dates reach from 4713 BC to 294276 AD, further than Python's: they are computed, not parsed by datetime.
"""

import re
from typing import Final, NamedTuple

DAY_US: Final = 86_400_000_000
SECOND_US: Final = 1_000_000
INFINITY_MOMENT: Final = 9_223_372_036_825_200_000
MINUS_INFINITY_MOMENT: Final = -9_223_372_036_832_400_000
INFINITY_DAYS: Final = (1 << 31) - 1
MINUS_INFINITY_DAYS: Final = -(1 << 31)
_DATE: Final = re.compile(r"(\d+)-(\d\d)-(\d\d)")
_TIME: Final = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?")
_ZONE: Final = re.compile(r"([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?")
_INTERVAL: Final = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?"
    r"(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d{1,6}))?S)?)?"
)
_MONTH_US: Final = DAY_US * 36525 // 1200
"""A twelfth of 365.25 days, as in Debezium."""


class Interval(NamedTuple):
    months: int
    days: int
    microseconds: int


def days_of(text: str) -> int:
    """Since 1970-01-01, in the proleptic Gregorian calendar."""
    if "infinity" in text:
        return MINUS_INFINITY_DAYS if text.startswith("-") else INFINITY_DAYS
    found = _DATE.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no date as PostgreSQL writes them with DateStyle ISO")
    year, month, day = (int(part) for part in found.groups())
    return _days(1 - year if text.endswith("BC") else year, month, day)


def _days(year: int, month: int, day: int) -> int:
    """Years begin in March here, so that the leap day is the last one."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def time_us_of(text: str) -> int:
    """Since midnight. 24:00:00 is the end of the day."""
    found = _TIME.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no time as PostgreSQL writes them")
    hour, minute, second, fraction = found.groups()
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second or 0)
    return seconds * SECOND_US + int((fraction or "").ljust(6, "0"))


def moment_us_of(text: str) -> int:
    """Since 1970, of a timestamp with or without a zone."""
    if "infinity" in text:
        return MINUS_INFINITY_MOMENT if text.startswith("-") else INFINITY_MOMENT
    date, _, rest = text.partition(" ")
    days = days_of(f"{date} BC" if text.endswith("BC") else date)
    return days * DAY_US + time_us_of(rest) - _zone_us(rest)


def utc_time_us_of(text: str) -> int:
    """Of a time with a zone, moved to UTC."""
    return (time_us_of(text) - _zone_us(text)) % DAY_US


def _zone_us(text: str) -> int:
    found = _ZONE.search(text)
    if found is None:
        return 0
    sign, hours, minutes, seconds = found.groups()
    size = ((int(hours) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)) * SECOND_US
    return -size if sign == "-" else size


def moment_text(text: str, digits: int) -> str:
    """A timestamp with a zone as ISO 8601 in UTC. The server's zone is UTC, so its text has the right numbers."""
    if "infinity" in text:
        return text
    date, _, rest = text.partition(" ")
    sign = "-" if text.endswith("BC") else ""
    if sign:
        date = f"{int(date.partition('-')[0]) - 1:04}{date[date.index('-') :]}"
    return f"{sign}{date}T{_padded(time_us_of(rest), digits)}Z"


def zoned_time_text(text: str, digits: int) -> str:
    return f"{_padded(utc_time_us_of(text), digits)}Z"


def _padded(us: int, digits: int) -> str:
    seconds, fraction = divmod(us, SECOND_US)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    shown = f".{fraction:06}"[: digits + 1] if digits else ""
    return f"{hour:02}:{minute:02}:{second:02}{shown}"


def interval_of(text: str) -> Interval:
    found = _INTERVAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no interval as PostgreSQL writes them with IntervalStyle iso_8601")
    years, months, weeks, days, hours, minutes, seconds, fraction = found.groups()
    part = int((fraction or "").ljust(6, "0"))
    if (seconds or "").startswith("-"):
        part = -part
    us = ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)) * SECOND_US + part
    return Interval(int(years or 0) * 12 + int(months or 0), int(weeks or 0) * 7 + int(days or 0), us)


def interval_us(text: str) -> int:
    found = interval_of(text)
    return found.months * _MONTH_US + found.days * DAY_US + found.microseconds


def interval_text(text: str) -> str:
    """With all parts: P1Y2M3DT4H5M6.7S."""
    found = interval_of(text)
    years, months = _split(found.months, 12)
    minutes, us = _split(found.microseconds, 60 * SECOND_US)
    hours, minutes = _split(minutes, 60)
    sign = "-" if us < 0 else ""
    seconds = f"{abs(us) // SECOND_US}.{abs(us) % SECOND_US:06}".rstrip("0").rstrip(".")
    return f"P{years}Y{months}M{found.days}DT{hours}H{minutes}M{sign}{seconds}S"


def _split(number: int, size: int) -> tuple[int, int]:
    """Both parts have the sign of the number."""
    sign = -1 if number < 0 else 1
    whole, rest = divmod(abs(number), size)
    return sign * whole, sign * rest
