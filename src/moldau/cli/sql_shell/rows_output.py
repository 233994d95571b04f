"""Prints the rows of a query: those of a pull query as one table, those of a push query as they come."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

from moldau.cli.sql_shell.grid import Layout, layout, layout_of_stream
from moldau.cli.sql_shell.screen import Screen
from moldau.cli.sql_shell.sql_server import Rows
from moldau.cli.sql_shell.values import json_text

FIRST_ROWS: Final = 500
"""A pull query's columns are as wide as these rows need."""

Row = list[Any]


def print_rows(rows: Rows, screen: Screen, *, is_push: bool, rows_max: int | None = None) -> int:
    """Returns the number of rows."""
    found: Iterator[Row] = islice(iter(rows), rows_max)
    if screen.is_json:
        return _print_json(rows.names, found, screen)
    if is_push:
        chosen = layout_of_stream(rows.names, rows.types, [], screen.style)
    else:
        first = list(islice(found, FIRST_ROWS))
        chosen = layout(rows.names, first, screen.style)
        found = chain(first, found)
    screen.show(*chosen.heading_lines())
    return _print_table(chosen, found, screen)


def _print_table(chosen: Layout, rows: Iterable[Row], screen: Screen) -> int:
    count = 0
    for row in rows:
        count += 1
        screen.show(*chosen.row_lines(row, count))
    return count


def _print_json(names: list[str], rows: Iterable[Row], screen: Screen) -> int:
    """An object a line."""
    count = 0
    for row in rows:
        count += 1
        screen.show(json_text(dict(zip(names, row, strict=False))))
    return count
