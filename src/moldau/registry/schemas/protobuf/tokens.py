"""A `.proto` text cut into tokens."""

import re
from dataclasses import dataclass

from moldau.registry.schemas.model import InvalidSchema

_TOKEN = re.compile(
    r"""
      (?P<space>  \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<word>   [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number> (?:0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) [fF]? (?![A-Za-z_0-9]) )
    | (?P<quoted> "(?:[^"\\\n]|\\[^\n])*" | '(?:[^'\\\n]|\\[^\n])*' )
    | (?P<sign>   [-+;={}\[\](),.<>:] | /(?!\*) )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([xX][0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            reason = (
                "a comment that does not end"
                if text.startswith("/*", at)
                else f"{text[at]!r} has no meaning here"
            )
            raise wrong(text, at, reason)
        if match.lastgroup != "space":
            assert match.lastgroup is not None
            found.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    found.append(Token("end", "the end of the file", len(text)))
    return found


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
