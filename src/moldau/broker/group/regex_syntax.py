"""RE2's syntax, which is what consumers may subscribe by (KIP-848), as a tree.

All of it but what topic names have no use for: Unicode classes (`\\p`), single bytes (`\\C`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

REPEAT_MAX: Final = 1000
"""RE2's own limit."""
DEPTH_MAX: Final = 100
"""Groups inside groups."""
_LAST: Final = 0x10FFFF
_COUNTS: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAME: Final = re.compile(r"\(\?P?<\w+>")
_HEX: Final = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})")

Ranges = tuple[tuple[int, int], ...]


def _ranges(text: str) -> Ranges:
    return tuple((ord(text[at]), ord(text[at + 1])) for at in range(0, len(text), 2))


def _complement(ranges: Ranges) -> Ranges:
    gaps, start = [], 0
    for low, high in sorted(ranges):
        if start < low:
            gaps.append((start, low - 1))
        start = max(start, high + 1)
    return (*gaps, (start, _LAST)) if start <= _LAST else tuple(gaps)


_CLASSES: Final = {"d": _ranges("09"), "w": _ranges("09AZ__az"), "s": _ranges("\t\n\f\r  ")}
_POSIX: Final = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\0\x7f",
    "blank": "\t\t  ",
    "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZ__az",
    "xdigit": "09AFaf",
}
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Chars(NamedTuple):
    ranges: Ranges
    either_case: bool = False

    def has(self, char: str) -> bool:
        codes = {ord(char), *map(ord, char.swapcase())} if self.either_case else {ord(char)}
        return any(low <= code <= high for low, high in self.ranges for code in codes)


class Assertion(Enum):
    START = auto()
    END = auto()
    WORD_BOUNDARY = auto()
    NO_WORD_BOUNDARY = auto()


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Choice:
    options: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Repeat:
    part: "Node"
    at_least: int
    at_most: int | None


Node = Chars | Assertion | Sequence | Choice | Repeat


class Malformed(Exception):
    """The text says what is wrong."""


def parsed(pattern: str) -> Node:
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._flags: frozenset[str] = frozenset()

    def parse(self) -> Node:
        node = self._choice()
        if self._at < len(self._text):
            raise Malformed("unexpected )")
        return node

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise Malformed("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _match(self, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts += self._repeated()
        return Sequence(tuple(parts))

    def _repeated(self) -> Iterable[Node]:
        atoms = self._atom()
        counts = self._counts()
        if counts is None:
            return atoms
        self._take("?")
        if self._counts() is not None:
            raise Malformed("invalid nested repetition operator")
        if not atoms:
            raise Malformed("missing argument to repetition operator")
        return (*atoms[:-1], Repeat(atoms[-1], *counts))

    def _counts(self) -> tuple[int, int | None] | None:
        for sign, counts in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return counts
        found = self._match(_COUNTS)
        if found is None:
            return None
        low = int(found[1])
        high = None if found[3] == "" else int(found[3] or low)
        if max(low, high or 0) > REPEAT_MAX or (high is not None and high < low):
            raise Malformed("invalid repeat count")
        return low, high

    def _atom(self) -> tuple[Node, ...]:
        """Several where `\\Q` quotes a text; none where flags are set."""
        char = self._next()
        match char:
            case "(":
                self._at -= 1
                return self._group()
            case "[":
                return (self._set(),)
            case ".":
                line_end = () if "s" in self._flags else ((10, 10),)
                return (Chars(_complement(line_end)),)
            case "^":
                return (Assertion.START,)
            case "$":
                return (Assertion.END,)
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise Malformed("missing argument to repetition operator")
        return (self._literal(char),)

    def _literal(self, char: str) -> Chars:
        return Chars(((ord(char), ord(char)),), "i" in self._flags)

    def _group(self) -> tuple[Node, ...]:
        flags = self._flags
        opening = self._match(_FLAGS)
        if opening is not None:
            self._flags = (flags | set(opening[1])) - set(opening[2] or "")
            if opening[3] == ")":
                return ()
        elif not self._match(_NAME):
            if self._text.startswith("(?", self._at):
                raise Malformed(f"invalid or unsupported group syntax {self._text[self._at : self._at + 4]}")
            self._at += 1
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise Malformed("it is nested too deeply")
        node = self._choice()
        if not self._take(")"):
            raise Malformed("missing closing )")
        self._depth -= 1
        self._flags = flags
        return (node,)

    def _escape(self) -> tuple[Node, ...]:
        assertions = {
            "A": Assertion.START,
            "z": Assertion.END,
            "b": Assertion.WORD_BOUNDARY,
            "B": Assertion.NO_WORD_BOUNDARY,
        }
        char = self._next()
        if char in assertions:
            return (assertions[char],)
        if char == "Q":
            quoted, _, _ = self._text[self._at :].partition("\\E")
            self._at = min(self._at + len(quoted) + 2, len(self._text))
            return tuple(self._literal(each) for each in quoted)
        self._at -= 1
        return (Chars(self._escaped_ranges(), "i" in self._flags),)

    def _escaped_ranges(self) -> Ranges:
        """After a backslash, inside a set or outside."""
        found = self._match(_HEX)
        if found is not None:
            code = int(found[1] or found[2], 16)
            return ((code, code),)
        char = self._next()
        if char.lower() in _CLASSES:
            ranges = _CLASSES[char.lower()]
            return _complement(ranges) if char.isupper() else ranges
        char = _CONTROLS.get(char, char)
        if char.isalnum() or not char.isascii():
            raise Malformed(f"invalid escape sequence \\{char}")
        return ((ord(char), ord(char)),)

    def _set(self) -> Chars:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self._take("]"):
            first = False
            ranges += self._set_part()
        either_case = "i" in self._flags
        if negated and either_case:
            ranges += [(ord(c.swapcase()), ord(c.swapcase())) for c in map(chr, range(128)) if _in(c, ranges)]
        return Chars(_complement(tuple(ranges)) if negated else tuple(ranges), either_case and not negated)

    def _set_part(self) -> Ranges:
        if self._take("[:"):
            name, _, _ = self._text[self._at :].partition(":]")
            wanted = name.removeprefix("^")
            if wanted not in _POSIX:
                raise Malformed(f"invalid character class [:{name}:]")
            self._at += len(name) + 2
            ranges = _ranges(_POSIX[wanted])
            return _complement(ranges) if name != wanted else ranges
        low = self._set_bound()
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            high = self._set_bound()
            single = all(len(bound) == 1 and bound[0][0] == bound[0][1] for bound in (low, high))
            if not single or high[0][0] < low[0][0]:
                raise Malformed("invalid character class range")
            return ((low[0][0], high[0][0]),)
        return low

    def _set_bound(self) -> Ranges:
        char = self._next()
        return self._escaped_ranges() if char == "\\" else ((ord(char), ord(char)),)


def _in(char: str, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)
