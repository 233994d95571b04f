"""How long a backtracking engine takes at most for a regular expression.

Without a repeated group the steps for a text of n characters are at most a constant times n to the power of one more
than the number of repeated characters: each of them ends at any place, and the match begins at any place.
"""

import re
from itertools import pairwise
from typing import Final, NamedTuple

STEPS_MAX: Final = 1_000_000
"""About ten milliseconds."""

_PIECE: Final = re.compile(
    r"(?P<group>\((?!\?)|\(\?:)|(?P<end>\))|(?P<bar>\|)|(?P<optional>\?)|(?P<exact>\{(?:\d|1\d)\})"
    r"|(?P<repeated>[*+]|\{\d+(?:,\d*)?\})|\\[dDwWbBztnrf.\\/$^()\[\]{}|*+?\-]|\\x\{[0-9A-Fa-f]+\}"
    r"|\[\^?(?:\\[dDwWtnrf.\\/$^()\[\]{}|*+?\-]|\\x\{[0-9A-Fa-f]+\}|[^\]\\\[])+\]|[^\\\[(){}]"
)


_WITHOUT_WIDTH: Final = ("^", r"\b", r"\B", r"\z")
_MAYBE_NONE: Final = ("?", "*", "{0")

Pieces = list[tuple[str, str]]
"""The kind of each piece of a pattern, and its text."""


class Cost(NamedTuple):
    quick_length_max: int
    """The length up to which any text takes at most STEPS_MAX; 0 where the pattern is not that simple."""
    is_never_empty: bool
    """Whether it is clear that each match has at least one character."""


def cost(pattern: str) -> Cost:
    found = _pieces(pattern)
    return Cost(0, False) if found is None else Cost(_quick_length_max(found), _is_never_empty(found))


def _pieces(pattern: str) -> Pieces | None:
    """None where a piece is not known here."""
    pieces: Pieces = []
    place = 0
    while place < len(pattern):
        found = _PIECE.match(pattern, place)
        if found is None:
            return None
        place = found.end()
        pieces.append((found.lastgroup or "character", found[0]))
    return pieces


def _quick_length_max(pieces: Pieces) -> int:
    repeats, choices, previous = 0, 1, ""
    for kind, _ in pieces:
        match previous, kind:
            case ("end" | "optional" | "exact" | "repeated", "exact" | "repeated"):
                return 0
            case "exact" | "repeated" | "optional", "optional":
                pass  # prefers fewer repetitions, which costs the same
            case _, "repeated":
                repeats += 1
            case _, "optional" | "bar":
                choices *= 2
        previous = kind
    return int((STEPS_MAX / choices) ** (1 / (repeats + 1)))


def _is_never_empty(pieces: Pieces) -> bool:
    """Whether each choice has a character, or a group of such choices, that must be there."""
    choices: list[list[bool]] = [[False]]
    """For each open group, whether its choices have one."""
    for (kind, text), (_, after) in pairwise((*pieces, ("", ""))):
        is_wide = kind == "character" and text not in _WITHOUT_WIDTH
        match kind:
            case "group":
                choices.append([False])
            case "bar":
                choices[-1].append(False)
            case "end" if len(choices) > 1:
                is_wide = all(choices.pop())
        choices[-1][-1] |= is_wide and not after.startswith(_MAYBE_NONE)
    return all(choices[0])
