"""Predefined aggregates: SQL's SUM, MIN, TOPK, LATEST_BY_OFFSET, COLLECT_LIST and so on.

Each has an initializer, an adder and a merger (for sessions). `column` selects what to aggregate; without it, the value
itself. Nulls are skipped, as in SQL.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.plan.expressions import Evaluator, Expression, col
from moldau.pipeline.serdes.primitives import DOUBLE, JSON, LONG
from moldau.pipeline.serdes.serde import Serde

COLLECTED_MAX = 1000
"""How many values a collection keeps. Further ones are dropped (ksqlDB's limit)."""


@dataclass(frozen=True)
class Summary:
    """`name` tells a host which aggregate it is, in case it has a faster implementation."""

    name: str
    initializer: Callable[[], Any]
    adder: Callable[[Any, Any, Any], Any]
    merger: Callable[[Any, Any, Any], Any]
    serde: Serde | None = None
    column: Expression | None = None


def total(column: Expression | str | None = None, *, serde: Serde = DOUBLE) -> Summary:
    return _folding("sum", column, serde, lambda so_far, value: so_far + value, start=0)


def lowest(column: Expression | str | None = None, *, serde: Serde = JSON) -> Summary:
    return _folding(
        "min", column, serde, lambda so_far, value: value if so_far is None else min(so_far, value)
    )


def highest(column: Expression | str | None = None, *, serde: Serde = JSON) -> Summary:
    return _folding(
        "max", column, serde, lambda so_far, value: value if so_far is None else max(so_far, value)
    )


def counted(column: Expression | str | None = None) -> Summary:
    """The number of non-null values."""
    return _folding(
        "count", column, LONG, lambda so_far, value: so_far + 1, start=0, merge=lambda a, b: a + b
    )


def latest(column: Expression | str | None = None, *, serde: Serde = JSON) -> Summary:
    """The last value in the order of offsets."""
    return _folding("latest_by_offset", column, serde, lambda so_far, value: value)


def earliest(column: Expression | str | None = None, *, serde: Serde = JSON) -> Summary:
    """The first value in the order of offsets."""
    return _folding(
        "earliest_by_offset", column, serde, lambda so_far, value: value if so_far is None else so_far
    )


def collect_list(column: Expression | str | None = None, *, at_most: int = COLLECTED_MAX) -> Summary:
    return _folding(
        "collect_list",
        column,
        JSON,
        lambda so_far, value: [*so_far, value][:at_most],
        start=[],
        merge=lambda a, b: [*a, *b][:at_most],
    )


def collect_set(column: Expression | str | None = None, *, at_most: int = COLLECTED_MAX) -> Summary:
    """Each value once, in the order of first occurrence."""

    def add(so_far: list[Any], value: Any) -> list[Any]:
        return so_far if value in so_far or len(so_far) >= at_most else [*so_far, value]

    def merge(a: list[Any], b: list[Any]) -> list[Any]:
        for value in b:
            a = add(a, value)
        return a

    return _folding("collect_set", column, JSON, add, start=[], merge=merge)


def top_k(k: int, column: Expression | str | None = None) -> Summary:
    """The k highest values, highest first. Equal values count separately."""

    def merge(a: list[Any], b: list[Any]) -> list[Any]:
        return sorted([*a, *b], reverse=True)[:k]

    return _folding(
        "top_k", column, JSON, lambda so_far, value: merge(so_far, [value]), start=[], merge=merge
    )


def top_k_distinct(k: int, column: Expression | str | None = None) -> Summary:
    """The k highest distinct values, highest first."""

    def merge(a: list[Any], b: list[Any]) -> list[Any]:
        return sorted({*a, *b}, reverse=True)[:k]

    return _folding(
        "top_k_distinct", column, JSON, lambda so_far, value: merge(so_far, [value]), start=[], merge=merge
    )


def _folding(
    name: str,
    column: Expression | str | None,
    serde: Serde,
    add: Callable[[Any, Any], Any],
    *,
    start: Any = None,
    merge: Callable[[Any, Any], Any] | None = None,
) -> Summary:
    """`add(aggregate, value)` over non-null values. Merging uses `add`, too, unless `merge` is given."""
    picked = col(column) if isinstance(column, str) else column
    pick: Evaluator | None = None if picked is None else picked.evaluator()

    def adder(key: Any, value: Any, so_far: Any) -> Any:
        chosen = value if pick is None else pick(key, value, 0)
        return so_far if chosen is None else add(so_far, chosen)

    def merger(key: Any, one: Any, other: Any) -> Any:
        if other is None:
            return one
        return (merge or add)(one, other)

    return Summary(name, lambda: start, adder, merger, serde, picked)
