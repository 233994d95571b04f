"""How answers are written: aligned columns for people, JSON for programs.

Columns are never cut, whether a terminal or a pipe reads them.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import orjson

Cell = str | int | None
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

_SPANS = (("d", 86_400), ("h", 3600), ("m", 60))


def output_option(function: CommandFunction) -> CommandFunction:
    return click.option(
        "--output",
        "-o",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="How to print the answer.",
    )(function)


def columns(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], indent: str = "", drop_empty: bool = False
) -> str:
    """Numbers stand to the right, text to the left, what is not known is a dash.

    `drop_empty` leaves out columns in which nothing is known.
    """
    if drop_empty and rows:
        kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
        headings = [headings[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    texts = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *texts, strict=True)]
    to_the_right = [
        bool(rows) and all(isinstance(row[place], int | None) for row in rows)
        for place in range(len(headings))
    ]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, to_the_right, strict=True)
        ]
        return (indent + "  ".join(aligned)).rstrip()

    return "\n".join(line(cells) for cells in [headings, *texts])


def about(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values of one thing, one a line."""
    width = max(len(name) for name, _ in facts) + 2
    return "\n".join(f"{name:<{width}}{value}".rstrip() for name, value in facts)


def print_json(value: object) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def bytes_text(size_bytes: float) -> str:
    """In steps of 1000, as disks are sold."""
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"


def seconds_text(seconds: float) -> str:
    """The two largest units that matter: `3d4h`, `2m5s`, `0.25s`."""
    if seconds < 60:
        return f"{seconds:.3g}s"
    rest = round(seconds)
    parts: list[str] = []
    for unit, size in _SPANS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return "".join([*parts, f"{rest}s"][:2])
