"""Splits an Avro IDL text into tokens, each with the documentation before it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from moldau.registry.schemas.model import InvalidSchema

_PART = r"(?:`[^\W\d]\w*`|[^\W\d]\w*)"
_TOKEN = re.compile(
    rf"""
      (?P<blank>  \s++ )
    | (?P<doc>    /\*\*(?!/).*?\*/ )
    | (?P<rest>   //[^\n]*+ | /\*.*?\*/ )
    | (?P<number> [-+]?(?:NaN|Infinity)\b
                | [-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?[fFdD]?
                | -?0[xX][0-9a-fA-F]+[lL]?
                | [-+]?\d+[eE][-+]?\d+[fFdD]?
                | -?\d+[lLfFdD]? )
    | (?P<word>   {_PART}(?:[.-]{_PART})*+ )
    | (?P<quoted> "(?:[^"\\\n]|\\[^\n])*+" )
    | (?P<sign>   [@(){{}}\[\]<>,;:=?] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_END_OF_OLD_FILES = "\x1a"


class Token(NamedTuple):
    kind: str
    """`word`, `name` (a word in backticks, which is no keyword), `number`, `quoted`, `sign` or `end`."""
    text: str
    at: int
    doc: str | None


def tokens_of(text: str) -> Iterator[Token]:
    at, doc = 0, None
    while at < len(text) and text[at] != _END_OF_OLD_FILES:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            reason = (
                "a comment that does not end" if text.startswith("/*", at) else f"{text[at]!r} has no meaning"
            )
            raise wrong(text, at, reason)
        kind, found = match.lastgroup, match[0]
        if kind == "doc":
            doc = _told(found)
        elif kind not in ("blank", "rest"):
            if kind == "word" and "`" in found:
                kind, found = "name", found.replace("`", "")
            yield Token(kind, found, at, doc)
            doc = None
        at = match.end()
    yield Token("end", "the end of the file", at, None)


def unquoted(literal: str) -> str:
    return _ESCAPE.sub(_read_escape, literal[1:-1])


def wrong(text: str, at: int, reason: str) -> InvalidSchema:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return InvalidSchema(f"Not valid Avro IDL: line {line}, column {column}: {reason}.")


def _read_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "u" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code.isdigit() else _LETTERS.get(code, code)


def _told(comment: str) -> str:
    """The text of a documentation comment, without the stars at the start of its lines, or else without their
    indentation."""
    first, *others = comment[3:-2].strip().splitlines() or [""]
    if all(re.match(r"\s*\*", line) for line in others):
        return "\n".join(re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in (first, *others))
    shared = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first, *(line[shared:].rstrip() for line in others)])
