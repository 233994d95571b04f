"""Cuts SQL text into tokens. Comments and white space go; every token knows its position."""

import re
from enum import Enum
from typing import Final, NamedTuple

from moldau.pipeline.sql.syntax.errors import Position, SqlError

TEXT_CHARACTERS_MAX: Final = 4 * 1024 * 1024
STATEMENT_TOKENS_MAX: Final = 200_000
TEXT_TOKENS_MAX: Final = 1_000_000
SHOWN_CHARACTERS_MAX: Final = 100
"""Of a token, in a message."""


class Kind(Enum):
    WORD = "word"
    """A bare identifier or keyword; `text` is upper-cased, `written` as it was."""
    QUOTED = "quoted identifier"
    STRING = "string"
    INTEGER = "integer"
    DECIMAL = "decimal number"
    FLOAT = "floating point number"
    VARIABLE = "variable"
    SYMBOL = "symbol"
    END = "end of text"


class Token(NamedTuple):
    kind: Kind
    text: str
    at: Position
    start: int
    end: int
    """Where it stands in the text, as offsets."""

    def __str__(self) -> str:
        text = (
            self.text if len(self.text) <= SHOWN_CHARACTERS_MAX else self.text[:SHOWN_CHARACTERS_MAX] + "..."
        )
        match self.kind:
            case Kind.END:
                return "the end of the statement"
            case Kind.STRING:
                return "'" + text.replace("'", "''") + "'"
            case Kind.QUOTED:
                return f"`{text}`"
        return f"'{text}'"


_SPACE = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)+", re.S)
_TOKEN = re.compile(
    r"""
    (?P<float>(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+)
  | (?P<decimal>\d+\.\d*|\.\d+)
  | (?P<integer>\d+(?![A-Za-z_0-9]))
  | (?P<word>[A-Za-z_][A-Za-z0-9_@]*|\d+[A-Za-z_][A-Za-z0-9_@]*)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>`(?:[^`]|``)*`|"(?:[^"]|"")*")
  | (?P<variable>\$\{[^}\n]*\})
  | (?P<symbol>->|:=|=>|<>|!=|<=|>=|\|\||[-+*/%()\[\],;.<>=:])
    """,
    re.X,
)
_KINDS: Final = {
    "float": Kind.FLOAT,
    "decimal": Kind.DECIMAL,
    "integer": Kind.INTEGER,
    "word": Kind.WORD,
    "string": Kind.STRING,
    "quoted": Kind.QUOTED,
    "variable": Kind.VARIABLE,
    "symbol": Kind.SYMBOL,
}


_OF_SEVERAL_LINES: Final = (Kind.STRING, Kind.QUOTED)


def tokenize(text: str) -> list[Token]:
    """All tokens, the last one the end."""
    if len(text) > TEXT_CHARACTERS_MAX:
        raise SqlError(f"the text has {len(text):,} characters; the limit is {TEXT_CHARACTERS_MAX:,}")
    tokens: list[Token] = []
    offset, line, line_start = 0, 1, 0
    tokens_max = STATEMENT_TOKENS_MAX
    while True:
        space = _SPACE.match(text, offset)
        if space:
            line, line_start = _moved(text, offset, space.end(), line, line_start)
            offset = space.end()
        at = Position(line, offset - line_start + 1)
        if offset == len(text):
            tokens.append(Token(Kind.END, "", at, offset, offset))
            return tokens
        found = _TOKEN.match(text, offset)
        if found is None or text.startswith("/*", offset):
            raise _unknown(text, offset, at).within(text)
        kind, written = _KINDS[found.lastgroup or ""], found[0]
        tokens.append(Token(kind, _meant(kind, written), at, offset, found.end()))
        if kind in _OF_SEVERAL_LINES:
            line, line_start = _moved(text, offset, found.end(), line, line_start)
        offset = found.end()
        if written == ";":
            tokens_max = min(len(tokens) + STATEMENT_TOKENS_MAX, TEXT_TOKENS_MAX)
        if len(tokens) > tokens_max:
            raise _too_many(tokens_max, at).within(text)


def _too_many(tokens_max: int, at: Position) -> SqlError:
    if tokens_max == TEXT_TOKENS_MAX:
        message = f"the text has more than {TEXT_TOKENS_MAX:,} words, constants and symbols"
        return SqlError(message, at, hint="Send its statements in several requests.")
    message = f"the statement has more than {STATEMENT_TOKENS_MAX:,} words, constants and symbols"
    return SqlError(message, at, hint="Make it shorter: values can stand in a table, to be joined with.")


def _moved(text: str, start: int, end: int, line: int, line_start: int) -> tuple[int, int]:
    """The line, and where it starts, after the text between the two offsets."""
    count = text.count("\n", start, end)
    return (line + count, text.rindex("\n", start, end) + 1) if count else (line, line_start)


def _meant(kind: Kind, written: str) -> str:
    match kind:
        case Kind.WORD:
            return written.upper()
        case Kind.STRING:
            return written[1:-1].replace("''", "'")
        case Kind.QUOTED:
            return written[1:-1].replace(written[0] * 2, written[0])
        case Kind.VARIABLE:
            return written[2:-1].strip()
    return written


def _unknown(text: str, offset: int, at: Position) -> SqlError:
    match text[offset]:
        case "'":
            return SqlError(
                "the string that begins here has no end",
                at,
                hint="A quote inside a string is written twice: 'it''s'.",
            )
        case "`" | '"':
            return SqlError("the quoted name that begins here has no end", at)
        case "/" if text.startswith("/*", offset):
            return SqlError("the comment that begins here has no end", at)
        case "$":
            return SqlError(
                "the variable that begins here has no end", at, hint="Variables are written ${name}."
            )
    return SqlError(f"unexpected character {text[offset]!r}", at)
