"""The patterns of LIKE. No pattern makes a search go back: at most, a text costs its length times the pattern's."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_ANY_CHARACTER: Final = "_"
_ANY_TEXT: Final = "%"


@lru_cache(maxsize=512)
def like_matcher(pattern: str, escape: str | None) -> Callable[[str], bool]:
    """Whether a text matches: `%` stands for any text, `_` for one character, and what follows `escape` for itself."""
    segments = [_Segment(part) for part in _segments(pattern, escape)]
    if len(segments) == 1:
        return segments[0].is_all_of
    return _Matcher(segments[0], [one for one in segments[1:-1] if one.length], segments[-1])


def _segments(pattern: str, escape: str | None) -> list[list[str | None]]:
    """The characters between the `%`; None for any one."""
    found: list[list[str | None]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            found[-1].append(next(characters, character))
        elif character == _ANY_TEXT:
            found.append([])
        else:
            found[-1].append(None if character == _ANY_CHARACTER else character)
    return found


class _Segment:
    """A part of fixed length."""

    def __init__(self, characters: list[str | None]) -> None:
        self.length = len(characters)
        self._text = "".join(one or "" for one in characters)
        has_any = None in characters
        written = "".join("." if one is None else re.escape(one) for one in characters)
        self._regex = re.compile(written, re.S) if has_any else None

    def is_all_of(self, text: str) -> bool:
        return len(text) == self.length and self.stands_at(text, 0)

    def stands_at(self, text: str, start: int) -> bool:
        if self._regex is None:
            return text.startswith(self._text, start)
        return self._regex.match(text, start) is not None

    def end_in(self, text: str, start: int, end: int) -> int:
        """Where the first one between the two offsets ends; -1 where there is none."""
        if self._regex is None:
            found = text.find(self._text, start, end)
            return found if found < 0 else found + self.length
        match = self._regex.search(text, start, end)
        return -1 if match is None else match.end()


class _Matcher:
    """The first and the last segment stand at the ends of the text. Each other stands at the first place behind the one
    before: a later place would leave less for the rest."""

    def __init__(self, first: _Segment, middle: list[_Segment], last: _Segment) -> None:
        self._first, self._middle, self._last = first, middle, last
        self._length_min = first.length + last.length + sum(one.length for one in middle)

    def __call__(self, text: str) -> bool:
        end = len(text) - self._last.length
        if len(text) < self._length_min:
            return False
        if not (self._first.stands_at(text, 0) and self._last.stands_at(text, end)):
            return False
        place = self._first.length
        for segment in self._middle:
            place = segment.end_in(text, place, end)
            if place < 0:
                return False
        return True
