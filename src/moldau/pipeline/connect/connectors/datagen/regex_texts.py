"""Texts that match a regular expression: literals, classes, groups, alternatives and quantifiers.

Anchors match what is there anyway and are skipped. Look-around and back references are refused.
"""

import string
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from moldau.pipeline.connect.api import ConnectError

DrawText = Callable[[Random], str]

REPEATS_MAX: Final = 10
"""Of a quantifier without an upper bound, beyond its lower one."""
_PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))
_WORD: Final = string.ascii_letters + string.digits + "_"
_CLASSES: Final = {
    "d": string.digits,
    "w": _WORD,
    "s": " \t",
    "D": "".join(one for one in _PRINTABLE if one not in string.digits),
    "W": "".join(one for one in _PRINTABLE if one not in _WORD),
    "S": _PRINTABLE[1:],
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def text_drawer(pattern: str, repeats_max: int = REPEATS_MAX) -> DrawText:
    """Raises ConnectError for a pattern it cannot draw from."""
    reader = _Reader(pattern, repeats_max)
    draw = reader.alternatives()
    if reader.has_more():
        raise reader.unfit(f"there is a {reader.peek()!r} without its beginning")
    return draw


class _Reader:
    """Recursive descent: each method returns what draws the part it has read."""

    def __init__(self, pattern: str, repeats_max: int) -> None:
        self._pattern = pattern
        self._repeats_max = repeats_max
        self._at = 0

    def has_more(self) -> bool:
        return self._at < len(self._pattern)

    def peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def unfit(self, why: str) -> ConnectError:
        return ConnectError(f"No texts can be made from the regex {self._pattern!r}: {why} at {self._at}")

    def alternatives(self) -> DrawText:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda dice: dice.choice(branches)(dice)

    def _sequence(self) -> DrawText:
        parts: list[DrawText] = []
        while self.has_more() and self.peek() not in "|)":
            part = self._part()
            if part is not None:
                parts.append(self._repeated(part))
        if len(parts) == 1:
            return parts[0]
        return lambda dice: "".join([part(dice) for part in parts])

    def _part(self) -> DrawText | None:
        """None for an anchor."""
        one = self._next()
        match one:
            case "^" | "$":
                return None
            case "(":
                return self._group()
            case "[":
                return _one_of(self._class())
            case ".":
                return _one_of(_PRINTABLE)
            case "\\":
                return self._escaped()
            case "*" | "+" | "?" | "{":
                raise self.unfit(f"{one!r} has nothing to repeat")
        return lambda dice: one

    def _group(self) -> DrawText:
        if self._skip("?") and not self._skip(":"):
            raise self.unfit("only plain groups and (?:...) are supported")
        inner = self.alternatives()
        if not self._skip(")"):
            raise self.unfit("a group has no end")
        return inner

    def _escaped(self) -> DrawText | None:
        one = self._next()
        if one in _CLASSES:
            return _one_of(_CLASSES[one])
        if one in "bBAZz":
            return None
        if one.isalnum() and one not in _ESCAPES:
            raise self.unfit(f"\\{one} is not supported")
        text = _ESCAPES.get(one, one)
        return lambda dice: text

    def _class(self) -> str:
        is_negated = self._skip("^")
        found: list[str] = []
        while not (self.peek() == "]" and found):
            one = self._next()
            if one == "\\":
                one = self._next()
                if one in _CLASSES:
                    found.append(_CLASSES[one])
                    continue
                one = _ESCAPES.get(one, one)
            if self.peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._next()
                last = self._next()
                if ord(last) < ord(one):
                    raise self.unfit(f"the range {one}-{last} is empty")
                found.append("".join(map(chr, range(ord(one), ord(last) + 1))))
            else:
                found.append(one)
        self._next()
        listed = "".join(found)
        if not is_negated:
            return listed
        rest = "".join(one for one in _PRINTABLE if one not in listed)
        if not rest:
            raise self.unfit("the class leaves no printable ASCII character")
        return rest

    def _repeated(self, part: DrawText) -> DrawText:
        low, high = self._bounds()
        if (low, high) == (1, 1):
            return part
        self._skip("?")  # A reluctant quantifier matches the same texts.
        return lambda dice: "".join([part(dice) for _ in range(dice.randint(low, high))])

    def _bounds(self) -> tuple[int, int]:
        if self._skip("*"):
            return 0, self._repeats_max
        if self._skip("+"):
            return 1, 1 + self._repeats_max
        if self._skip("?"):
            return 0, 1
        if not self._skip("{"):
            return 1, 1
        end = self._pattern.find("}", self._at)
        low, comma, high = self._pattern[self._at : max(end, self._at)].partition(",")
        if not low.isdecimal() or not (high or "0").isdecimal():
            raise self.unfit("a quantifier is {n}, {n,} or {n,m}")
        self._at = end + 1
        least = int(low)
        most = int(high) if high else least + self._repeats_max if comma else least
        if most < least:
            raise self.unfit(f"the quantifier {{{low},{high}}} has its bounds the wrong way round")
        return least, most

    def _next(self) -> str:
        if not self.has_more():
            raise self.unfit("it ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

    def _skip(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self._at += 1
        return True


def _one_of(letters: Sequence[str]) -> DrawText:
    return lambda dice: dice.choice(letters)
