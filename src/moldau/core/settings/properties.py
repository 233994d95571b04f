"""Parses Java's properties syntax, the format of server.properties."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError

_ESCAPE: Final = re.compile(r"\\(u([0-9a-fA-F]{4})|u|.)", re.DOTALL)
_CONTROL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS: Final = " \t\f"


class Property(NamedTuple):
    name: str
    value: str
    line: int


def parse_properties(text: str, *, file: str = "properties") -> list[Property]:
    """All properties in order, including repeated ones: the last one counts."""
    properties = []
    for number, line in _logical_lines(text):
        name, value = _split(line)
        properties.append(Property(_unescape(name, file, number), _unescape(value, file, number), number))
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with continuations joined, without comments and blank lines, each with the number of its first line."""
    joined, began = "", 0
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = raw.lstrip(_BLANKS)
        if not began:
            if not line or line[0] in "#!":
                continue
            began = number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            joined += line[:-1]
            continue
        yield began, joined + line
        joined, began = "", 0
    if began:
        yield began, joined


def _split(line: str) -> tuple[str, str]:
    """Name and value, separated by the first unescaped `=`, `:` or blank."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANKS:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescape(text: str, file: str, line: int) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[2]:
            return chr(int(match[2], 16))
        if match[1] == "u":
            raise ConfigError(f"{file}, line {line}: \\u needs four hexadecimal digits, for example \\u00e9")
        return _CONTROL.get(match[1], match[1])

    return _ESCAPE.sub(replace, text) if "\\" in text else text
