"""Text as dates and times, by a pattern.

As in Java, a day that a month does not have is its last one, as long as it is not past 31. Upper and lower case are the
same in names.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final

import re2

from moldau.pipeline.sql.functions.scalar.date_patterns import (
    DATE_LETTERS,
    MONTHS,
    TIME_LETTERS,
    WEEKDAYS,
    Field,
    Piece,
    Section,
    pieces,
)
from moldau.pipeline.sql.time_zones import zone
from moldau.pipeline.sql.value_texts import EPOCH

DAY_MS: Final = 86_400_000
_MIDNIGHT: Final = datetime(1970, 1, 1)
_MS: Final = timedelta(milliseconds=1)
_SECOND_NS: Final = 1_000_000_000

Fields = dict[str, Any]
"""What a text says, by name: year, month, day, day_of_year, weekday, hour, ... and zone."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one field of a pattern matches, the names of what it says, and what it says for a text."""

    regex: str
    name: str
    value: Callable[[str], Any] = int
    low: int = 0
    high: int = _SECOND_NS * 86_400


def parse_timestamp(text: str, pattern: str, zone_name: str = "UTC") -> int:
    """Milliseconds since 1970; what the pattern leaves out is that of the first millisecond of 1970 in the zone."""
    fields = _read(text, pattern)
    where: tzinfo = fields.get("zone") or zone(zone_name)
    day = _date(fields, text, pattern, EPOCH)
    moment = datetime.combine(day, datetime.min.time()) + timedelta(milliseconds=_time_ms(fields, text))
    local_ms = (moment - _MIDNIGHT) // _MS
    if where is UTC:
        return local_ms
    offset = moment.replace(tzinfo=where).utcoffset() or timedelta()
    return local_ms - offset // _MS


def parse_date(text: str, pattern: str) -> int:
    """Days since 1970."""
    fields = _read(text, pattern)
    _refuse(fields, TIME_LETTERS, pattern, "DATE")
    return (_date(fields, text, pattern, None) - EPOCH).days


def parse_time(text: str, pattern: str) -> int:
    """Milliseconds of the day."""
    fields = _read(text, pattern)
    _refuse(fields, DATE_LETTERS, pattern, "TIME")
    if (
        not {"hour", "milli_of_day", "nano_of_day"} & fields.keys()
        and not {"hour12", "half"} <= fields.keys()
    ):
        raise ValueError(f"the pattern {pattern!r} does not say which hour it is")
    return _time_ms(fields, text)


def _read(text: str, pattern: str) -> Fields:
    return _reader(pattern).read(text)


def _refuse(fields: Fields, letters: frozenset[str], pattern: str, kind: str) -> None:
    wrong = _reader(pattern).letters & letters
    if wrong:
        raise ValueError(
            f"the pattern {pattern!r} has {', '.join(sorted(wrong))}, which a {kind} does not have"
        )


def _date(fields: Fields, text: str, pattern: str, default: date | None) -> date:
    """Without a default the text must say all of it."""
    year, month, day = fields.get("year"), fields.get("month"), fields.get("day")
    if default is None and (year is None or ("day_of_year" not in fields and None in (month, day))):
        raise ValueError(
            f"the pattern {pattern!r} does not say which day it is: it needs year, month and day"
        )
    year = 1970 if year is None else year
    if not date.min.year <= year <= date.max.year:
        raise ValueError(f"{text!r}: the year must lie between 1 and 9999")
    if "day_of_year" in fields:
        found = date(year, 1, 1) + timedelta(days=fields["day_of_year"] - 1)
        if found.year != year:
            raise ValueError(f"{text!r}: the year {year} has no day {fields['day_of_year']}")
    else:
        month = month or 1
        found = date(year, month, min(day or 1, calendar.monthrange(year, month)[1]))
    weekday = fields.get("weekday")
    if weekday is not None and fields.keys() >= {"year", "month", "day"} and found.isoweekday() != weekday:
        raise ValueError(f"{text!r}: {found} is a {WEEKDAYS[found.weekday()]}")
    return found


def _time_ms(fields: Fields, text: str) -> int:
    if "milli_of_day" in fields:
        return int(fields["milli_of_day"])
    if "nano_of_day" in fields:
        return int(fields["nano_of_day"] // 1_000_000)
    hour = fields.get("hour")
    if hour is None:
        hour = fields.get("hour12", 0) % 12 + 12 * fields.get("half", 0)
    seconds = (hour * 60 + fields.get("minute", 0)) * 60 + fields.get("second", 0)
    return int(seconds * 1000 + fields.get("nano", 0) // 1_000_000)


PATTERN_CHARACTERS_MAX: Final = 200
READINGS_MAX: Final = 1_000_000
"""Python's engine, which is the quicker one for usual patterns, tries at most so many."""


@dataclass(slots=True)
class _Reader:
    pattern: str
    parts: list[_Part] = field(default_factory=list)
    letters: frozenset[str] = frozenset()
    regex: Any = re.compile("")
    """A `re.Pattern`, or what has its methods."""

    def read(self, text: str) -> Fields:
        found = self.regex.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} does not match the pattern {self.pattern!r}")
        fields: Fields = {}
        for part, written in zip(self.parts, found.groups(), strict=True):
            if written is None:
                continue
            value = part.value(written)
            if type(value) is int and not part.low <= value <= part.high:
                raise ValueError(
                    f"{text!r}: {written} is no {part.name}; it lies between {part.low} and {part.high}"
                )
            if fields.setdefault(part.name, value) != value:
                raise ValueError(f"{text!r} says two different things of the {part.name}")
        return fields


@lru_cache(maxsize=512)
def _reader(pattern: str) -> _Reader:
    if len(pattern) > PATTERN_CHARACTERS_MAX:
        raise ValueError(
            f"the pattern {pattern[:60]!r}... has {len(pattern):,} characters; the limit is "
            f"{PATTERN_CHARACTERS_MAX}: leave fields and optional sections out"
        )
    reader = _Reader(pattern)
    of = pieces(pattern)
    regex = _regex(of, reader.parts, pattern)
    if _readings(of) <= READINGS_MAX:
        reader.regex = re.compile(regex, re.IGNORECASE | re.ASCII)
    else:
        reader.regex = _linear(regex, pattern)
    reader.letters = frozenset(_letters(of))
    return reader


def _readings(of: tuple[Piece, ...]) -> int:
    """Roughly in how many ways a text could be divided among the fields: a section may be left out, and a field of
    no fixed width may end in many places."""
    found = 1
    for piece in of:
        if isinstance(piece, Section):
            found *= 1 + _readings(piece.pieces)
        elif isinstance(piece, Field):
            part = _part(piece.letter, piece.count)
            found *= 10 if part is not None and re.search("[,*]", part.regex) else 1
    return found


def _linear(regex: str, pattern: str) -> Any:
    """RE2 never goes back, so that no text takes for ever."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        return re2.compile(regex, options)
    except re2.error:
        shown = pattern if len(pattern) <= 60 else pattern[:60] + "..."
        raise ValueError(
            f"the pattern {shown!r} is too long: leave fields and optional sections out"
        ) from None


def _letters(of: tuple[Piece, ...]) -> set[str]:
    found: set[str] = set()
    for piece in of:
        if isinstance(piece, Field):
            found.add(piece.letter)
        elif isinstance(piece, Section):
            found |= _letters(piece.pieces)
    return found


def _regex(of: tuple[Piece, ...], parts: list[_Part], pattern: str) -> str:
    texts = []
    for piece in of:
        match piece:
            case str():
                texts.append(re.escape(piece))
            case Section(pieces=inner):
                texts.append(f"(?:{_regex(inner, parts, pattern)})?")
            case Field(letter=letter, count=count):
                part = _part(letter, count)
                if part is None:
                    raise ValueError(
                        f"text cannot be read by the {letter * count} of the pattern {pattern!r}"
                    )
                parts.append(part)
                texts.append(f"({part.regex})")
    return "".join(texts)


def _digits(count: int, most: int = 9) -> str:
    return rf"\d{{1,{most}}}" if count == 1 else rf"\d{{{count}}}"


def _part(letter: str, count: int) -> _Part | None:
    """None: a letter that texts can be written with, and not read."""
    if letter in "uy":
        return _year(count)
    if letter in "ML":
        return _Part(_digits(count), "month", low=1, high=12) if count < 3 else _name(MONTHS, count, "month")
    if letter in "Eec" and (letter == "E" or count >= 3):
        return _name(WEEKDAYS, max(count, 3), "weekday")
    if letter in _NUMBERS:
        name, low, high = _NUMBERS[letter]
        regex = r"\d{2,3}" if letter == "D" and count == 2 else _digits(count, 19)
        return _Part(regex, name, low=low, high=high)
    match letter:
        case "S":
            return _Part(_digits(count) if count > 1 else r"\d", "nano", lambda text: int(text.ljust(9, "0")))
        case "a":
            return _Part("AM|PM", "half", lambda text: int(text.upper() == "PM"))
        case "G":
            return _Part("AD|Anno Domini|A", "era", str)
        case "k":
            return _Part(_digits(count), "hour", lambda text: _clock_hour(text, 24))
        case "h":
            return _Part(_digits(count), "hour12", lambda text: _clock_hour(text, 12))
    return _zone_part(letter, count)


_NUMBERS: Final = {
    "D": ("day_of_year", 1, 366),
    "d": ("day", 1, 31),
    "H": ("hour", 0, 23),
    "K": ("hour12", 0, 11),
    "m": ("minute", 0, 59),
    "s": ("second", 0, 59),
    "A": ("milli_of_day", 0, DAY_MS - 1),
    "n": ("nano", 0, _SECOND_NS - 1),
    "N": ("nano_of_day", 0, DAY_MS * 1_000_000 - 1),
}
"""The name of what a letter says, and its bounds."""


def _clock_hour(text: str, last: int) -> int:
    if not 1 <= int(text) <= last:
        raise ValueError(f"{text} is no hour on a clock of {last} hours")
    return int(text) % last


def _year(count: int) -> _Part:
    if count == 2:
        return _Part(r"\d{2}", "year", lambda text: 2000 + int(text))
    if count < 4:
        return _Part(r"-?\d{1,9}" if count == 1 else rf"\d{{{count},9}}", "year", low=-(10**9))
    return _Part(rf"-?\d{{{count}}}|\+\d{{{count + 1},9}}", "year", low=-(10**9))


def _name(names: tuple[str, ...], count: int, name: str) -> _Part | None:
    """None: one letter stands for more than one name."""
    if count == 5:
        return None
    written = [one[:3] if count == 3 else one for one in names]
    places = {one.upper(): place for place, one in enumerate(written, 1)}
    return _Part("|".join(written), name, lambda text: places[text.upper()])


_COLON: Final = {1: r"[+-]\d{2}(?:\d{2})?", 2: r"[+-]\d{4}", 3: r"[+-]\d{2}:\d{2}", 4: r"[+-]\d{4}(?:\d{2})?"}
_LONGEST: Final = r"[+-]\d{2}:\d{2}(?::\d{2})?"


def _zone_part(letter: str, count: int) -> _Part | None:
    if letter in "Vz":
        return _Part(r"[A-Za-z][A-Za-z0-9_+\-/]*(?::\d{2})?|[+-]\d{2}(?::?\d{2})?", "zone", zone)
    if letter == "O" or (letter == "Z" and count == 4):
        return _Part(r"GMT(?:[+-]\d{1,2}(?::\d{2}(?::\d{2})?)?)?", "zone", zone)
    if letter not in "XxZ":
        return None
    offset = _COLON[2] if letter == "Z" and count < 4 else _COLON.get(count, _LONGEST)
    has_zulu = letter == "X" or count == 5
    return _Part(f"Z|{offset}" if has_zulu else offset, "zone", _offset_zone)


def _offset_zone(text: str) -> tzinfo:
    return zone(text.upper())
