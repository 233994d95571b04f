"""Patterns of dates and times as Java's DateTimeFormatter reads them: cut into pieces.

`date_writing` makes text by a pattern, `date_reading` reads it. Names are English, weeks follow ISO 8601.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

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

DATE_LETTERS: Final = frozenset("GuyYDMLdQqwWEecF")
TIME_LETTERS: Final = frozenset("ahKkHmsSAnN")
ZONE_LETTERS: Final = frozenset("VzOXxZ")
LETTERS: Final = DATE_LETTERS | TIME_LETTERS | ZONE_LETTERS

_COUNT_MAX: Final = {
    **dict.fromkeys("GMLQqEec", 5),
    **dict.fromkeys("dhHkKmsw", 2),
    **dict.fromkeys("aFW", 1),
    **dict.fromkeys("XxZ", 5),
    **dict.fromkeys("zO", 4),
    "D": 3,
    "S": 9,
    "V": 2,
}
"""How often a letter may stand in a row."""


@dataclass(frozen=True, slots=True)
class Field:
    letter: str
    count: int


@dataclass(frozen=True, slots=True)
class Section:
    """A part in brackets, which may be missing."""

    pieces: tuple["Piece", ...]


Piece = str | Field | Section
"""A str stands for itself."""


@lru_cache(maxsize=512)
def pieces(pattern: str) -> tuple[Piece, ...]:
    """ValueError says what is wrong with the pattern."""
    stack: list[list[Piece]] = [[]]
    for letter, text in _runs(pattern):
        match letter:
            case "[":
                stack.append([])
            case "]":
                if len(stack) == 1:
                    raise ValueError(f"the pattern {pattern!r} has a ] without a [")
                inner = stack.pop()
                stack[-1].append(Section(tuple(inner)))
            case "'":
                stack[-1].append(text)
            case _:
                stack[-1].append(_field(letter, len(text), pattern))
    while len(stack) > 1:  # Java closes open brackets at the end
        inner = stack.pop()
        stack[-1].append(Section(tuple(inner)))
    return tuple(stack[0])


def _runs(pattern: str) -> Iterator[tuple[str, str]]:
    """Equal letters in a row; brackets; and with ' whatever stands for itself."""
    place = 0
    while place < len(pattern):
        letter, start = pattern[place], place
        if letter == "'":
            place, text = _quoted(pattern, place + 1)
            yield "'", text
        elif letter in "[]":
            place += 1
            yield letter, letter
        elif letter.isascii() and letter.isalpha():
            while place < len(pattern) and pattern[place] == letter:
                place += 1
            yield letter, pattern[start:place]
        elif letter in "{}#":
            raise ValueError(
                f"the pattern {pattern!r} has a {letter}, which is reserved: write '{letter}' in quotes"
            )
        else:
            place += 1
            yield "'", letter


def _quoted(pattern: str, start: int) -> tuple[int, str]:
    """Where the quote ends, and its text. Two quotes are one, inside as well as by themselves."""
    text, place = "", start
    while True:
        end = pattern.find("'", place)
        if end < 0:
            raise ValueError(f"the pattern {pattern!r} has a quote without an end")
        text += pattern[place:end]
        if pattern[end + 1 : end + 2] != "'":
            return end + 1, text if end > start else "'"
        text += "'"
        place = end + 2


def _field(letter: str, count: int, pattern: str) -> Field:
    if letter not in LETTERS:
        raise ValueError(
            f"the pattern {pattern!r} has the letter {letter}, which stands for nothing: put text in quotes"
        )
    if count > _COUNT_MAX.get(letter, 19):
        raise ValueError(f"the pattern {pattern!r} has too many letters {letter} in a row")
    if letter == "V" and count != 2:
        raise ValueError(f"the pattern {pattern!r} has V by itself: write VV")
    return Field(letter, count)
