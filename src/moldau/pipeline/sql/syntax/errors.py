"""What is wrong with a statement, and where: for people, with the line and a caret below the place."""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from moldau.core.errors import MoldauError


class Position(NamedTuple):
    """Of the first character of something; both count from 1."""

    line: int
    column: int


NOWHERE = Position(0, 0)
"""Of what was not written but made, as the columns of `*`."""


class SqlError(MoldauError):
    """`at` is NOWHERE where the whole statement is meant. `text` is what was parsed, for the caret."""

    def __init__(self, message: str, at: Position = NOWHERE, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint
        self.text = ""

    def within(self, text: str) -> "SqlError":
        """The same, knowing the text its position is about."""
        self.text = self.text or text
        return self

    def __str__(self) -> str:
        parts = [
            self.message if self.at == NOWHERE else f"line {self.at.line}:{self.at.column}: {self.message}"
        ]
        line = self._line()
        if line is not None:
            # A long line is cut around the place, so that the caret stays below it.
            start = max(0, self.at.column - 60)
            parts += [f"  {line[start : start + 100]}", "  " + " " * (self.at.column - 1 - start) + "^"]
        if self.hint:
            parts.append(self.hint)
        return "\n".join(parts)

    def _line(self) -> str | None:
        lines = self.text.split("\n")
        if self.at == NOWHERE or not self.text or self.at.line > len(lines):
            return None
        return lines[self.at.line - 1].replace("\t", " ")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known name, or nothing."""
    close = difflib.get_close_matches(name.upper(), {one.upper(): one for one in known}, 1, 0.6)
    return f"Did you mean {close[0]}?" if close else ""


def short(number: str) -> str:
    """A number for a message, without its middle if it is very long."""
    if len(number) <= 60:
        return number
    return f"{number[:20]}...{number[-4:]} ({len(number):,} characters)"
