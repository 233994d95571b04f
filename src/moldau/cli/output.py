"""How answers are written: aligned columns for people, JSON for programs.

Columns are never cut, whether a terminal or a pipe reads them.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import orjson

Cell = str | int | None
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])


def output_option(function: CommandFunction) -> CommandFunction:
    return click.option(
        "--output",
        "-o",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="How to print the answer.",
    )(function)


def columns(headings: Sequence[str], rows: Sequence[Sequence[Cell]], indent: str = "") -> str:
    """Numbers stand to the right, text to the left, what is not known is a dash."""
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


def print_json(value: object) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
