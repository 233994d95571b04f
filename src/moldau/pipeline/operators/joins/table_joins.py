"""Joins of two tables of the same key: every change of either side changes the result."""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.history import latest_only
from moldau.pipeline.operators.records import Headers
from moldau.pipeline.operators.tables import materializer, store_getter
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up
from moldau.pipeline.plan.nodes import JoinKind, TableJoin

Join = Callable[[Any, Any], Any]
"""(value of this side, value of the other) -> result"""


@builds(TableJoin)
def table_join(node: TableJoin, wiring: Wiring) -> list[Push]:
    left, right = node.parents
    joiner = node.joiner

    def reversed_joiner(right_value: Any, left_value: Any) -> Any:
        return joiner(left_value, right_value)

    return [
        latest_only(left, _side(node, wiring, joiner, wiring.getter(right), is_left=True), wiring),
        latest_only(right, _side(node, wiring, reversed_joiner, wiring.getter(left), is_left=False), wiring),
    ]


def _side(node: TableJoin, wiring: Wiring, join: Join, other: Getter, *, is_left: bool) -> Push:
    """`alone`: this side makes a result without the other; `needless`: the other makes one without this side."""
    forward, send_old = wiring.downstream(node), node.send_old_values
    alone = node.kind is JoinKind.OUTER or (node.kind is JoinKind.LEFT and is_left)
    needless = node.kind is JoinKind.OUTER or (node.kind is JoinKind.LEFT and not is_left)
    _, put = materializer(node, wiring)

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        found = other(key)
        if found is None:
            if not alone or (new is None and old is None):
                return
            partner = None
        else:
            partner = found[0]
            if found[1] > timestamp_ms:
                timestamp_ms = found[1]
        by_other = needless and partner is not None
        result = join(new, partner) if new is not None or by_other else None
        before = join(old, partner) if send_old and (old is not None or by_other) else None
        if put is not None:
            put(key, result, timestamp_ms)
        forward(key, result, before, timestamp_ms, headers)

    return push


@looks_up(TableJoin)
def table_join_getter(node: TableJoin, wiring: Wiring) -> Getter:
    if node.store is not None:
        return store_getter(node.store, wiring)
    left_of, right_of = (wiring.getter(parent) for parent in node.parents)
    joiner, kind = node.joiner, node.kind

    def getter(key: Any) -> tuple[Any, int] | None:
        left, right = left_of(key), right_of(key)
        if left is None and (right is None or kind is not JoinKind.OUTER):
            return None
        if right is None and kind is JoinKind.INNER:
            return None
        value = joiner(left and left[0], right and right[0])
        timestamp_ms = max(-1 if one is None else one[1] for one in (left, right))
        return None if value is None else (value, timestamp_ms)

    return getter
