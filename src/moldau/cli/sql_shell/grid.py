"""Tables that fit a width: columns shrink, long cells are wrapped or cut, and too many columns become a list.

Pure: the width is an argument. None is a pipe or file, where nothing is shrunk.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wcwidth import wcswidth, wcwidth

from moldau.cli.sql_shell.values import cell_text, is_number

SEPARATOR: Final = " | "
RULE: Final = "-+-"
CUT: Final = "…"
COLUMN_WIDTH_MIN: Final = 8
"""A column is not made narrower than this, unless its heading and cells are."""
_WIDTHS_BY_TYPE: Final = {
    "BOOLEAN": 5,
    "INTEGER": 7,
    "BIGINT": 13,
    "DOUBLE": 10,
    "TIMESTAMP": 23,
    "DATE": 10,
    "TIME": 8,
}
_EXPECTED_WIDTH: Final = 16
"""Of a column of strings in a query whose other rows are not known yet."""


@dataclass(frozen=True)
class Style:
    width: int | None = None
    wrap: bool = True
    """Whether a long cell continues on the next line, or is cut."""
    column_width: int | None = None
    """The same width for every column of a query, if it is set."""


@dataclass(frozen=True)
class Layout:
    """How the rows of one table are printed."""

    headings: tuple[str, ...]
    widths: tuple[int, ...]
    to_the_right: tuple[bool, ...]
    style: Style
    vertical: bool = False

    def heading_lines(self) -> list[str]:
        if self.vertical:
            return []
        return [*self._lines(self.headings, (False,) * len(self.headings)), self._rule()]

    def row_lines(self, row: Sequence[Any], number: int) -> list[str]:
        texts = [_one_line(cell_text(cell)) for cell in row]
        if not self.vertical:
            return self._lines(texts, self.to_the_right)
        name_width = max(map(_columns, self.headings))
        room = None if self.style.width is None else max(20, self.style.width - name_width - len(SEPARATOR))
        lines = [f"-[ row {number} ]".ljust(min(self.style.width or 40, 40), "-")]
        for heading, text in zip(self.headings, texts, strict=False):
            first, *others = self._folded(text, room)
            lines.append((_padded(heading, name_width, False) + SEPARATOR + first).rstrip())
            lines += [(" " * name_width + SEPARATOR + other).rstrip() for other in others]
        return lines

    def _lines(self, texts: Sequence[str], to_the_right: Sequence[bool]) -> list[str]:
        limits = [None if self.style.width is None else width for width in self.widths]
        cells = [self._folded(text, limit) for text, limit in zip(texts, limits, strict=False)]
        lines = []
        for index in range(max(map(len, cells), default=0)):
            parts = [
                _padded(cell[index] if index < len(cell) else "", width, right)
                for cell, width, right in zip(cells, self.widths, to_the_right, strict=False)
            ]
            lines.append((SEPARATOR.join(parts)).rstrip())
        return lines

    def _folded(self, text: str, width: int | None) -> list[str]:
        if width is None or _columns(text) <= width:
            return [text]
        if not self.style.wrap:
            return [cut(text, width)]
        if text.isascii():
            return textwrap.wrap(text, width, break_on_hyphens=False) or [text]
        return list(_pieces(text, width))

    def _rule(self) -> str:
        return RULE.join("-" * width for width in self.widths)


def layout(headings: Sequence[str], rows: Sequence[Sequence[Any]], style: Style) -> Layout:
    """For a table whose rows are all known."""
    natural = _natural(headings, rows)
    right = tuple(_all_numbers(rows, index) for index in range(len(headings)))
    return _fitted(headings, natural, right, style)


def layout_of_stream(
    headings: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]], style: Style
) -> Layout:
    """For a query whose first rows are known: columns get room for what their types suggest."""
    natural = _natural(headings, rows)
    kinds = [
        types[index].split("(")[0].upper() if index < len(types) else "" for index in range(len(headings))
    ]
    wanted = [
        max(width, _WIDTHS_BY_TYPE.get(kind, _EXPECTED_WIDTH))
        for width, kind in zip(natural, kinds, strict=True)
    ]
    right = tuple(
        kind in ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL") or (not kind and _all_numbers(rows, index))
        for index, kind in enumerate(kinds)
    )
    if style.column_width is not None:
        wanted = [style.column_width] * len(headings)
    return _fitted(headings, wanted, right, style)


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], style: Style) -> list[str]:
    chosen = layout(headings, rows, style)
    lines = chosen.heading_lines()
    for number, row in enumerate(rows, 1):
        lines += chosen.row_lines(row, number)
    return lines


def _natural(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[int]:
    widths = [_columns(heading) for heading in headings]
    for row in rows:
        for index, cell in enumerate(row[: len(widths)]):
            widths[index] = max(widths[index], _columns(_one_line(cell_text(cell))))
    return widths


def _fitted(headings: Sequence[str], wanted: Sequence[int], right: tuple[bool, ...], style: Style) -> Layout:
    widths = list(wanted)
    if style.width is not None:
        room = style.width - len(SEPARATOR) * (len(widths) - 1)
        least = [min(width, COLUMN_WIDTH_MIN) for width in widths]
        if sum(least) > room:
            return Layout(tuple(headings), tuple(widths), right, style, vertical=True)
        while sum(widths) > room:
            # The widest column gives way, down to the next widest, until the line fits.
            widest = max(widths)
            candidates = [index for index, width in enumerate(widths) if width == widest]
            next_widest = max((width for width in widths if width < widest), default=COLUMN_WIDTH_MIN)
            excess = sum(widths) - room
            step = max(1, min(widest - max(next_widest, COLUMN_WIDTH_MIN), -(-excess // len(candidates))))
            for index in candidates:
                widths[index] -= step
    return Layout(tuple(headings), tuple(widths), right, style)


def _all_numbers(rows: Iterable[Sequence[Any]], index: int) -> bool:
    cells = [row[index] for row in rows if index < len(row) and row[index] is not None]
    return bool(cells) and all(map(is_number, cells))


def cut(text: str, width: int) -> str:
    if _columns(text) <= width:
        return text
    return next(iter(_pieces(text, max(1, width - 1)))) + CUT


def _pieces(text: str, width: int) -> Iterable[str]:
    piece, used = "", 0
    for character in text:
        size = max(0, wcwidth(character))
        if used + size > width and piece:
            yield piece
            piece, used = "", 0
        piece += character
        used += size
    if piece:
        yield piece


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * max(0, width - _columns(text))
    return space + text if right else text + space


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else max(0, wcswidth(text))


_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), 127]} | {10: "\\n", 13: "\\r", 9: "\\t"}


def _one_line(text: str) -> str:
    """Control characters, which would break the table or drive the terminal, become visible."""
    return text.translate(_CONTROL)
