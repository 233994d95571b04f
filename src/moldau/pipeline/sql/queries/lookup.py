"""What a pull query asks of a table: keys, ranges of keys, windows, and a condition for the rest. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TableLookup:
    keys: tuple[tuple[Any, ...], ...] | None
    """The keys to be looked up; None: the whole table is scanned."""
    condition: Callable[[Any, Any, int], bool] | None
    row: Callable[[Any, Any, int], Any]
