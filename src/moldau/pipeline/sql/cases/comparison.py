"""Compares an asserted record with the one that was written, and shows both."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from moldau.pipeline.sql.value_texts import decimal_text, double_text


def differs(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> bool:
    return any(not _same(value, actual.get(name)) for name, value in expected.items())


def _same(one: Any, other: Any) -> bool:
    match one, other:
        case float(), float():
            return one == other or (math.isnan(one) and math.isnan(other))
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return type(one) is type(other) and bool(one == other)


def shown(expected: Mapping[str, Any], actual: Mapping[str, Any] | None) -> str:
    """Two tables, one below the other, with their columns aligned."""
    names = list(expected)
    above = [_text(expected[name]) for name in names]
    below = None if actual is None else [_text(actual.get(name)) for name in names]
    widths = [max(map(len, column)) for column in zip(names, above, below or names, strict=True)]
    lines = ["expected:", *_table(names, above, widths), "actual:"]
    lines += ["  no record"] if below is None else _table(names, below, widths)
    return "\n".join(lines)


def _table(names: list[str], values: list[str], widths: list[int]) -> list[str]:
    return ["  " + " | ".join(map(str.ljust, row, widths)).rstrip() for row in (names, values)]


def _text(value: Any) -> str:
    """A value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return double_text(value)
        case Decimal():
            return decimal_text(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case list():
            return f"ARRAY[{', '.join(map(_text, value))}]"
        case dict():
            return f"{{{', '.join(f'{name} := {_text(one)}' for name, one in value.items())}}}"
    return str(value)
