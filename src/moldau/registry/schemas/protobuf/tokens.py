"""Splits a `.proto` text into tokens."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from moldau.registry.schemas.model import InvalidSchema

_TOKEN = re.compile(
    r"""
      (?: \s++ | //[^\n]*+ | /\*.*?\*/ )*+
      (?:
        (?P<word>   [A-Za-z_][A-Za-z0-9_]*+ )
      | (?P<number> (?:0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) [fF]? (?![A-Za-z_0-9]) )
      | (?P<quoted> "(?:[^"\\\n]|\\[^\n])*+" | '(?:[^'\\\n]|\\[^\n])*+' )
      | (?P<sign>   [-+;={}\[\](),.<>:] | /(?!\*) )
      | (?P<end>    \Z )
      )
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_ESCAPE = re.compile(r"\\([xX][0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Token(NamedTuple):
    kind: str
    text: str
    at: int


def tokens_of(text: str) -> Iterator[Token]:
    """Splits lazily: a text that is wrong at its start is not read to its end."""
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            blank = _BLANK.match(text, at)
            at = blank.end() if blank else at
            reason = (
                "a comment that does not end"
                if text.startswith("/*", at)
                else f"{text[at]!r} has no meaning here"
            )
            raise wrong(text, at, reason)
        kind = match.lastgroup
        at = match.end()
        if kind == "end":
            yield Token("end", "the end of the file", at)
            return
        yield Token(kind, match[kind], match.start(kind))


def unquoted(literal: str) -> str:
    return _ESCAPE.sub(_read_escape, literal[1:-1])


def _read_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "xX" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0].isdigit():
        return chr(int(code, 8) & 0xFF)
    if code[0] in "uU" and len(code) > 1:
        point = int(code[1:], 16)
        return chr(point) if point <= 0x10FFFF else "\ufffd"
    return _LETTERS.get(code, code)


def wrong(text: str, at: int, reason: str) -> InvalidSchema:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return InvalidSchema(f"Not a valid Protobuf schema: line {line}, column {column}: {reason}.")
