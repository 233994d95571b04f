"""Output of commands: aligned columns for people, JSON and CSV for programs.

Columns are never truncated, on a terminal or in a pipe.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click
import orjson

Cell = str | int | None
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

_SPANS = (("d", 86_400), ("h", 3600), ("m", 60))


def output_option(function: CommandFunction) -> CommandFunction:
    """Adds --output for rows. The command prints JSON and CSV with `print_data`."""
    return _output_option(["table", "json", "csv"])(function)


def document_option(function: CommandFunction) -> CommandFunction:
    """Adds --output for answers that do not fit into rows."""
    return _output_option(["table", "json"])(function)


def _output_option(forms: Sequence[str]) -> Callable[[CommandFunction], CommandFunction]:
    return click.option(
        "--output",
        "-o",
        type=click.Choice(forms),
        default="table",
        show_default=True,
        help="The output format.",
    )


def columns(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], indent: str = "", drop_empty: bool = False
) -> str:
    """Aligns numbers to the right and text to the left. None is shown as a dash.

    `drop_empty` omits columns that contain only None.
    """
    if drop_empty and rows:
        kept = [index for index in range(len(headings)) if any(row[index] is not None for row in rows)]
        headings = [headings[index] for index in kept]
        rows = [[row[index] for index in kept] for row in rows]
    texts = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *texts, strict=True)]
    to_the_right = [
        bool(rows) and all(isinstance(row[index], int | None) for row in rows)
        for index in range(len(headings))
    ]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, to_the_right, strict=True)
        ]
        return (indent + "  ".join(aligned)).rstrip()

    return "\n".join(line(cells) for cells in [headings, *texts])


def about(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values, one pair per line."""
    width = max(len(name) for name, _ in facts) + 2
    return "\n".join(f"{name:<{width}}{value}".rstrip() for name, value in facts)


def print_json(value: object) -> None:
    click.echo(json_text(value))


def json_text(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def print_data(output: str, value: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Prints JSON, or CSV of the rows. Without `rows`, the value is the rows or a single row."""
    if output == "json":
        print_json(value)
        return
    chosen = rows if rows is not None else value if isinstance(value, list) else [value]
    click.echo(csv_text(chosen), nl=False)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A header line with the names of the JSON fields, then a line per row. Empty without rows."""
    if not rows:
        return ""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and all(isinstance(each, str | int) for each in value):
        return ",".join(map(str, value))
    if value is None or isinstance(value, str | int | float):
        return value
    return orjson.dumps(value).decode()


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def bytes_text(size_bytes: float) -> str:
    """In decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"


def seconds_text(seconds: float) -> str:
    """The two largest non-zero units: `3d4h`, `2m5s`, `0.25s`."""
    if seconds < 60:
        return f"{seconds:.3g}s"
    rest = round(seconds)
    parts: list[str] = []
    for unit, size in _SPANS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return "".join([*parts, f"{rest}s"][:2])


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


NO_TIMESTAMP = -1


def iso_time(timestamp_ms: int) -> str:
    if timestamp_ms == NO_TIMESTAMP:
        return "-"
    try:
        moment = EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return str(timestamp_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
