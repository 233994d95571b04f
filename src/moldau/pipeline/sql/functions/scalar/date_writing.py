"""Dates and times as text, by a pattern."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from moldau.pipeline.code.generated import generated_function, tuple_of
from moldau.pipeline.sql.functions.scalar.date_patterns import (
    DATE_LETTERS,
    LETTERS,
    MONTHS,
    TIME_LETTERS,
    WEEKDAYS,
    Field,
    Piece,
    Section,
    pieces,
)
from moldau.pipeline.sql.time_zones import zone
from moldau.pipeline.sql.value_texts import moment_of

DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000

HOURS_KEPT: Final = 2048
SECONDS_KEPT: Final = 1024
FINER_THAN_SECONDS: Final = frozenset("SnAN")
"""Letters of patterns. In a quoted text they do no harm."""

Text = Callable[[datetime], str]

_TEMPLATES: Final = {
    "d": "{{0.day:0{}}}",
    "H": "{{0.hour:0{}}}",
    "m": "{{0.minute:0{}}}",
    "s": "{{0.second:0{}}}",
}
"""Numbers that `datetime` has by itself, by their letter; the width is put in."""

_SMALL: Final = {"m": "ms // 60000 % 60", "s": "ms // 1000 % 60"}
"""Numbers smaller than an hour, as Python computes them of the milliseconds since 1970 in UTC."""


def format_timestamp(ms: int, pattern: str, zone_name: str = "UTC") -> str:
    return _timestamp_writer(pattern, zone_name)(ms)


@lru_cache(maxsize=512)
def _timestamp_writer(pattern: str, zone_name: str) -> Callable[[int], str]:
    """Most of a text is the same for a whole hour of UTC: that is kept, with places for minutes and seconds. In other
    zones the text of a second is kept. Neither if the pattern looks closer."""
    where = zone(zone_name)
    is_fine = not FINER_THAN_SECONDS.isdisjoint(pattern)
    if where is UTC and not is_fine:
        return _writer_by_hour(pattern)
    write = _writer(pattern, LETTERS)

    def text(ms: int) -> str:
        return write(moment_of(ms).astimezone(where))

    if is_fine:
        return text
    of_second = lru_cache(maxsize=SECONDS_KEPT)(lambda second: text(second * 1000))
    return _naming_what_was_given(lambda ms: of_second(ms // 1000))


def _writer_by_hour(pattern: str) -> Callable[[int], str]:
    template = _Template(pattern, LETTERS, leaves_small=True)
    write = template.writer()
    of_hour = lru_cache(maxsize=HOURS_KEPT)(lambda hour: write(moment_of(hour * HOUR_MS)))
    fill = generated_function(
        "ms", [f"return of_hour(ms // {HOUR_MS}) % {tuple_of(template.small)}"], {"of_hour": of_hour}
    )

    return _naming_what_was_given(fill)


def _naming_what_was_given(kept: Callable[[int], str]) -> Callable[[int], str]:
    def text(ms: int) -> str:
        try:
            return kept(ms)
        except ValueError:
            moment_of(ms)
            raise

    return text


def format_date(days: int, pattern: str) -> str:
    return _writer(pattern, DATE_LETTERS)(moment_of(days * DAY_MS))


def format_time(ms: int, pattern: str) -> str:
    return _writer(pattern, TIME_LETTERS)(moment_of(ms))


@lru_cache(maxsize=512)
def _writer(pattern: str, known: frozenset[str]) -> Text:
    return _Template(pattern, known).writer()


class _Template:
    """One template for all of a pattern; what `datetime` does not have by itself is computed for it."""

    def __init__(self, pattern: str, known: frozenset[str], *, leaves_small: bool = False) -> None:
        """`leaves_small`: the text has a place, for the operator %, where a field smaller than an hour belongs."""
        self._pattern, self._known, self._leaves_small = pattern, known, leaves_small
        self._computed: list[Text] = []
        self.small: list[str] = []
        """The expressions of `ms` that belong to those places, in their order."""
        self._text = self._of(pieces(pattern))

    def writer(self) -> Text:
        template, computed = self._text.format, self._computed
        if not computed:
            return template
        return lambda moment: template(moment, *[text(moment) for text in computed])

    def _of(self, some: Sequence[Piece]) -> str:
        return "".join(map(self._piece, some))

    def _piece(self, piece: Piece) -> str:
        match piece:
            case str():
                literal = piece.replace("{", "{{").replace("}", "}}")
                return literal.replace("%", "%%") if self._leaves_small else literal
            case Section(pieces=inner):
                return self._of(inner) if _is_known(inner, self._known) else ""
            case Field(letter=letter, count=count):
                return self._field(letter, count)

    def _field(self, letter: str, count: int) -> str:
        if letter not in self._known:
            raise ValueError(
                f"the pattern {self._pattern!r} asks for {letter * count}, which the value does not have"
            )
        if self._leaves_small and letter in _SMALL:
            self.small.append(_SMALL[letter])
            return f"%0{count}d"
        if letter in _TEMPLATES:
            return _TEMPLATES[letter].format(count)
        self._computed.append(_text(letter, count))
        return f"{{{len(self._computed)}}}"


def _is_known(inner: tuple[Piece, ...], known: frozenset[str]) -> bool:
    return all(
        piece.letter in known
        if isinstance(piece, Field)
        else not isinstance(piece, Section) or _is_known(piece.pieces, known)
        for piece in inner
    )


def _text(letter: str, count: int) -> Text:
    if letter in "uyY":
        return _year_text(letter, count)
    if letter == "E":
        count = max(count, 3)
    if letter in "MLQqEec" and count >= 3:
        return _name_text(letter, count)
    if letter in "XxZOVz":
        return _zone_text(letter, count)
    if letter == "S":
        return lambda moment: f"{moment.microsecond:06}000"[:count]
    if letter == "G":
        return lambda moment: {4: "Anno Domini", 5: "A"}.get(count, "AD")
    if letter == "a":
        return lambda moment: "AM" if moment.hour < 12 else "PM"
    number, width = _NUMBERS[letter], count
    return lambda moment: f"{number(moment):0{width}}"


_NUMBERS: Final[dict[str, Callable[[datetime], int]]] = {
    "D": lambda moment: moment.timetuple().tm_yday,
    "M": lambda moment: moment.month,
    "L": lambda moment: moment.month,
    "Q": lambda moment: (moment.month + 2) // 3,
    "q": lambda moment: (moment.month + 2) // 3,
    "w": lambda moment: moment.isocalendar().week,
    "W": lambda moment: (moment.day + (moment.replace(day=1).weekday() + 3) % 7 + 3) // 7,
    "e": lambda moment: moment.isoweekday(),
    "c": lambda moment: moment.isoweekday(),
    "F": lambda moment: (moment.day - 1) // 7 + 1,
    "h": lambda moment: (moment.hour - 1) % 12 + 1,
    "K": lambda moment: moment.hour % 12,
    "k": lambda moment: moment.hour or 24,
    "A": lambda moment: _day_us(moment) // 1000,
    "n": lambda moment: moment.microsecond * 1000,
    "N": lambda moment: _day_us(moment) * 1000,
}


def _day_us(moment: datetime) -> int:
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond


def _year_text(letter: str, count: int) -> Text:
    if letter == "Y":
        return lambda moment: _year_of(moment.isocalendar().year, count)
    return lambda moment: _year_of(moment.year, count)


def _year_of(year: int, count: int) -> str:
    return f"{year % 100:02}" if count == 2 else f"{year:0{count}}"


def _name_text(letter: str, count: int) -> Text:
    if letter in "ML":
        return lambda moment: _shortened(MONTHS[moment.month - 1], count)
    if letter in "Eec":
        return lambda moment: _shortened(WEEKDAYS[moment.weekday()], count)
    ordinals = {3: "Q{}", 4: "{}{} quarter", 5: "{}"}
    return lambda moment: _quarter((moment.month + 2) // 3, ordinals[count])


def _quarter(number: int, text: str) -> str:
    return text.format(number, ("st", "nd", "rd", "th")[number - 1])  # codespell:ignore nd


def _shortened(name: str, count: int) -> str:
    return {3: name[:3], 5: name[:1]}.get(count, name)


def _zone_text(letter: str, count: int) -> Text:
    if letter == "V":
        return lambda moment: _zone_id(moment)
    if letter == "z":
        return lambda moment: moment.tzname() or ""
    if letter == "O" or (letter == "Z" and count == 4):
        return lambda moment: _localized_offset(_offset_s(moment), is_short=letter == "O" and count < 4)
    if letter == "Z":
        count, zero = (5, "Z") if count == 5 else (2, "+0000")
    else:
        zero = "Z" if letter == "X" else offset_text(0, count)
    return lambda moment: offset_text(seconds, count) if (seconds := _offset_s(moment)) else zero


def _zone_id(moment: datetime) -> str:
    key: Any = getattr(moment.tzinfo, "key", None)
    return str(key) if key else offset_text(seconds, 5) if (seconds := _offset_s(moment)) else "UTC"


def _offset_s(moment: datetime) -> int:
    offset = moment.utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def offset_text(seconds: int, count: int) -> str:
    """As one to five letters X write an offset: +02, +0200, +02:00, and with seconds where there are any."""
    sign, rest = "-" if seconds < 0 else "+", abs(seconds)
    hours, minutes, seconds = rest // 3600, rest // 60 % 60, rest % 60
    colon = ":" if count in (3, 5) else ""
    text = f"{sign}{hours:02}"
    if count > 1 or minutes:
        text += f"{colon}{minutes:02}"
    return text + (f"{colon}{seconds:02}" if count > 3 and seconds else "")


def _localized_offset(seconds: int, *, is_short: bool) -> str:
    if not seconds:
        return "GMT"
    if not is_short:
        return f"GMT{offset_text(seconds, 5)}"
    minutes = abs(seconds) // 60
    text = f"GMT{'-' if seconds < 0 else '+'}{minutes // 60}"
    return text + (f":{minutes % 60:02}" if minutes % 60 else "")
