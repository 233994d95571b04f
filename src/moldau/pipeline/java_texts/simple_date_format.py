"""Dates and times as text by the patterns of Java's SimpleDateFormat, in UTC, with English names.

As in Java, reading is lenient: a month 13 is January of the next year, numbers may have fewer digits than the pattern
has letters, and what follows the pattern is ignored. Weeks are those of the United States: they begin on Sunday, and
1 January is in the first. The letters w, W, F, E, u and Y are read, but do not decide the day.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Final

LETTERS: Final = "GyYMLwWDdFEuaHkKhmsSzZX"
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = date(1970, 1, 1)
_CENTURY_AHEAD: Final = 20
"""Two digits of a year are one of the 80 years before today and the 20 after it."""
_ZONE: Final = re.compile(r"(?:GMT|UTC)?(?:([+-])(\d{1,2}):?(\d{2})?)?|Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that stands for itself, or a letter and how often it stands in a row."""

    letter: str
    count: int
    text: str = ""


class SimpleDateFormat:
    """ValueError where the pattern is none."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._pieces = _pieces(pattern)

    def format(self, ms: int) -> str:
        """ValueError for a time outside of the years 1 to 9999."""
        moment = moment_of(ms)
        return "".join(piece.text or _WRITERS[piece.letter](moment, piece.count) for piece in self._pieces)

    def parse(self, text: str) -> int:
        """Milliseconds since 1970. ValueError where the text does not begin as the pattern says."""
        found: dict[str, int] = {}
        place = 0
        for number, piece in enumerate(self._pieces):
            if piece.text:
                if not text.startswith(piece.text, place):
                    raise self._unfit(text)
                place += len(piece.text)
                continue
            place = self._read(text, _after_blanks(text, place), number, found)
        return _resolved(found)

    def _read(self, text: str, place: int, number: int, found: dict[str, int]) -> int:
        """Where the field ends."""
        piece = self._pieces[number]
        names = _names(piece)
        if names is not None:
            for name, value in names:
                if text[place : place + len(name)].lower() == name.lower():
                    found[piece.letter] = value
                    return place + len(name)
            raise self._unfit(text)
        if piece.letter in "zZX":
            zone = _ZONE.match(text, place)
            if zone is None or not zone[0]:
                raise self._unfit(text)
            found["z"] = _offset_minutes(zone)
            return zone.end()
        limit = str(piece.count) if self._is_followed_by_number(number) else ""
        digits = re.compile(rf"-?\d{{1,{limit}}}").match(text, place)
        if digits is None:
            raise self._unfit(text)
        value = int(digits[0])
        if piece.letter in "yY" and piece.count <= 2 and len(digits[0]) == 2 and digits[0].isdecimal():
            value = _whole_year(value)
        found[piece.letter] = value
        return digits.end()

    def _is_followed_by_number(self, number: int) -> bool:
        """Then it has as many digits as letters: `yyyyMMdd`."""
        following = self._pieces[number + 1 : number + 2]
        return bool(following) and not following[0].text and _is_number(following[0])

    def _unfit(self, text: str) -> ValueError:
        return ValueError(f"{text!r} does not match the pattern {self.pattern!r}")


@lru_cache(maxsize=512)
def simple_date_format(pattern: str) -> SimpleDateFormat:
    return SimpleDateFormat(pattern)


def moment_of(ms: int) -> datetime:
    """ValueError for a time that Python cannot hold."""
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        raise ValueError(f"{ms} milliseconds since 1970 are no time between the years 1 and 9999") from None


def _pieces(pattern: str) -> tuple[_Piece, ...]:
    found: list[_Piece] = []
    for place, part in enumerate(_unquoted(pattern)):
        if place % 2:
            found.append(_Piece("", 0, part))
            continue
        for letter, run in groupby(part):
            count = len(list(run))
            if not (letter.isascii() and letter.isalpha()):
                found.append(_Piece("", 0, letter * count))
            elif letter in LETTERS:
                found.append(_Piece(letter, count))
            else:
                raise ValueError(
                    f"the pattern {pattern!r} has the letter {letter}, which stands for nothing: "
                    "put text in single quotes"
                )
    return tuple(piece for piece in found if piece.letter or piece.text)


def _unquoted(pattern: str) -> list[str]:
    """What is outside of quotes and what is in them, in turns. Two quotes in a row are one."""
    parts, place = [""], 0
    while place < len(pattern):
        if pattern.startswith("''", place):
            if len(parts) % 2:
                parts += ["'", ""]
            else:
                parts[-1] += "'"
            place += 2
        elif pattern[place] == "'":
            parts.append("")
            place += 1
        else:
            parts[-1] += pattern[place]
            place += 1
    if len(parts) % 2 == 0:
        raise ValueError(f"the pattern {pattern!r} has a quote without an end")
    return parts


def _is_number(piece: _Piece) -> bool:
    return piece.letter not in "GEazZX" and _names(piece) is None


def _names(piece: _Piece) -> list[tuple[str, int]] | None:
    """Longer ones first, with what they stand for; None for a field without names."""
    match piece.letter:
        case "M" | "L" if piece.count >= 3:
            return _both(MONTHS, 1)
        case "E":
            return _both(WEEKDAYS, 1)
        case "a":
            return [("AM", 0), ("PM", 1)]
        case "G":
            return [("AD", 1), ("BC", 0)]
    return None


def _both(names: Sequence[str], first: int) -> list[tuple[str, int]]:
    numbered = list(enumerate(names, first))
    return [(name, number) for number, name in numbered] + [(name[:3], number) for number, name in numbered]


def _after_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t":
        place += 1
    return place


def _whole_year(digits: int) -> int:
    latest = datetime.now(UTC).year + _CENTURY_AHEAD
    year = latest - latest % 100 + digits
    return year if year <= latest else year - 100


def _offset_minutes(zone: re.Match[str]) -> int:
    if zone[1] is None:
        return 0
    minutes = int(zone[2]) * 60 + int(zone[3] or 0)
    return -minutes if zone[1] == "-" else minutes


def _resolved(found: dict[str, int]) -> int:
    year, month = found.get("y", found.get("Y", 1970)), found.get("M", found.get("L", 1)) - 1
    if found.get("G") == 0:
        year = 1 - year
    year, month = year + month // 12, month % 12 + 1
    if not 1 <= year <= 9999:
        raise ValueError(f"the year {year} does not lie between 1 and 9999")
    if "D" in found and "d" not in found:
        month, day = 1, found["D"]
    else:
        day = found.get("d", 1)
    days = (date(year, month, 1) - _FIRST_DAY).days + day - 1
    minutes = found.get("m", 0) - found.get("z", 0)
    return ((days * 24 + _hour(found)) * 60 + minutes) * 60_000 + found.get("s", 0) * 1000 + found.get("S", 0)


def _hour(found: dict[str, int]) -> int:
    if "H" in found:
        return found["H"]
    if "k" in found:
        return found["k"] % 24 if found["k"] == 24 else found["k"]
    hour = found.get("K", found.get("h", 0))
    return (hour % 12 if hour == 12 else hour) + 12 * found.get("a", 0)


def _padded(number: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda moment, count: f"{number(moment):0{count}}"


def _year(number: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda moment, count: f"{number(moment) % 100:02}" if count == 2 else f"{number(moment):0{count}}"


def _month(moment: datetime, count: int) -> str:
    if count < 3:
        return f"{moment.month:0{count}}"
    name = MONTHS[moment.month - 1]
    return name if count >= 4 else name[:3]


def _weekday(moment: datetime, count: int) -> str:
    name = WEEKDAYS[moment.weekday()]
    return name if count >= 4 else name[:3]


def _week_year(moment: datetime) -> int:
    """The days before the next 1 January, in its week, belong to the next year."""
    saturday = moment.date() + timedelta(days=5 - moment.weekday() if moment.weekday() < 6 else 6)
    return saturday.year


def _week_of_year(moment: datetime) -> int:
    if _week_year(moment) != moment.year:
        return 1
    return _week(moment.timetuple().tm_yday, date(moment.year, 1, 1))


def _week(day: int, first: date) -> int:
    """The week of a day, counted from the first day of its year or month."""
    return (day + first.isoweekday() % 7 - 1) // 7 + 1


_WRITERS: Final[dict[str, Callable[[datetime, int], str]]] = {
    "G": lambda moment, count: "AD",
    "y": _year(lambda moment: moment.year),
    "Y": _year(_week_year),
    "M": _month,
    "L": _month,
    "w": _padded(_week_of_year),
    "W": _padded(lambda moment: _week(moment.day, moment.date().replace(day=1))),
    "D": _padded(lambda moment: moment.timetuple().tm_yday),
    "d": _padded(lambda moment: moment.day),
    "F": _padded(lambda moment: (moment.day - 1) // 7 + 1),
    "E": _weekday,
    "u": _padded(lambda moment: moment.isoweekday()),
    "a": lambda moment, count: "AM" if moment.hour < 12 else "PM",
    "H": _padded(lambda moment: moment.hour),
    "k": _padded(lambda moment: moment.hour or 24),
    "K": _padded(lambda moment: moment.hour % 12),
    "h": _padded(lambda moment: moment.hour % 12 or 12),
    "m": _padded(lambda moment: moment.minute),
    "s": _padded(lambda moment: moment.second),
    "S": _padded(lambda moment: moment.microsecond // 1000),
    "z": lambda moment, count: "Coordinated Universal Time" if count >= 4 else "UTC",
    "Z": lambda moment, count: "+0000",
    "X": lambda moment, count: "Z",
}
