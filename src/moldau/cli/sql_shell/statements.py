"""Cuts what a person types into statements, and recognises the ones the shell handles itself.

Only quotes, comments and semicolons matter here. The server parses; a text it would reject passes.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

_PIECE: Final = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<quoted>'(?:[^']|'')*'|`(?:[^`]|``)*`|"(?:[^"]|"")*")
  | (?P<end>;)
  | (?P<open>'|`|"|/\*)
  | (?P<space>\s+)
  | (?P<text>(?:[^\s;'`"/-]|-(?!-)|/(?!\*))+)
    """,
    re.X | re.S,
)


class Split(NamedTuple):
    complete: list[str]
    """The statements that end with a semicolon, without comments around them."""
    rest: str
    """What follows the last semicolon; empty if nothing but comments and space does."""
    starts: list[int]
    """Where each begins in the text, the rest too if there is one."""


def split(text: str) -> Split:
    complete: list[str] = []
    starts: list[int] = []
    start, has_text = 0, False
    offset = 0
    while offset < len(text):
        found = _PIECE.match(text, offset)
        assert found is not None
        match found.lastgroup:
            case "open":
                # A quote or comment without an end: the rest of the text belongs to it.
                return Split(complete, text[start:], [*starts, start])
            case "end":
                if has_text:
                    complete.append(text[start : found.end()])
                    starts.append(start)
                start, has_text = found.end(), False
            case "comment" | "space" if not has_text:
                start = found.end()
            case "comment" | "space":
                pass
            case _:
                has_text = True
        offset = found.end()
    if not has_text:
        return Split(complete, "", starts)
    return Split(complete, text[start:].rstrip(), [*starts, start])


def statements_of(text: str) -> Iterator[tuple[str, int]]:
    """Each statement of a text, and the line where it begins. The last one may lack its semicolon."""
    complete, rest, starts = split(text)
    # A semicolon within a quote or comment that has no end would end nothing.
    last = [f"{rest};" if split(f"{rest};").complete else rest] if rest else []
    for statement, start in zip([*complete, *last], starts, strict=True):
        yield statement, text.count("\n", 0, start) + 1


class Kind(Enum):
    QUERY = "query"
    PRINT = "print"
    SET = "set"
    UNSET = "unset"
    DEFINE = "define"
    UNDEFINE = "undefine"
    RUN_SCRIPT = "run script"
    OTHER = "other"


_STRING = r"'((?:[^']|'')*)'"
_RULES: Final = (
    (Kind.QUERY, re.compile(r"SELECT\b", re.I)),
    (Kind.PRINT, re.compile(r"PRINT\b", re.I)),
    (Kind.SET, re.compile(rf"SET\s+{_STRING}\s*=\s*{_STRING}\s*;?\Z", re.I)),
    (Kind.UNSET, re.compile(rf"UNSET\s+(?:{_STRING}|ALL)\s*;?\Z", re.I)),
    (Kind.DEFINE, re.compile(rf"DEFINE\s+(\w+)\s*=\s*{_STRING}\s*;?\Z", re.I)),
    (Kind.UNDEFINE, re.compile(r"UNDEFINE\s+(\w+)\s*;?\Z", re.I)),
    (Kind.RUN_SCRIPT, re.compile(rf"RUN\s+SCRIPT\s+{_STRING}\s*;?\Z", re.I)),
)


class Classified(NamedTuple):
    kind: Kind
    words: tuple[str, ...]
    """The names and values of SET, DEFINE and RUN SCRIPT, without quotes. None is an empty word."""


def classify(statement: str) -> Classified:
    bare = without_comments(statement).strip()
    for kind, rule in _RULES:
        if found := rule.match(bare):
            return Classified(kind, tuple((word or "").replace("''", "'") for word in found.groups()))
    return Classified(Kind.OTHER, ())


def without_comments(text: str) -> str:
    return "".join(" " if piece.lastgroup == "comment" else piece[0] for piece in _PIECE.finditer(text))


_CHANGES_NAMES = re.compile(r"\s*(?:CREATE|DROP|ALTER|RUN)\b", re.I)


def changes_names(statement: str) -> bool:
    """Whether streams, tables, columns or types may be others after it."""
    return _CHANGES_NAMES.match(without_comments(statement)) is not None
