"""Tables that keep their history: late rows, and rows as of a time (KIP-914)."""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.context import UNKNOWN_TIME_MS
from moldau.pipeline.operators.records import EXPIRED, NULL_KEY, Headers
from moldau.pipeline.operators.stores.versioned import Placed
from moldau.pipeline.operators.wiring import Push, Wiring
from moldau.pipeline.plan.nodes import Node, TableNode, TableSource, TableTransformValues, history_of
from moldau.pipeline.plan.stores import StoreSpec

HistoryGetter = Callable[[Any, int], "tuple[Any, int] | None"]
"""(key, time) -> the value at that time, and since when it was valid"""

_DERIVED: dict[type[Node], Callable[[Any, Wiring], Callable[[Any, Any, int], Any]]] = {}
"""How the value of a derived table is computed: (key, parent's value) -> value."""


def derives(kind: type[Node]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers how a table of one kind is computed from its parent's value at any time."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        _DERIVED[kind] = rule
        return rule

    return register


def history_getter(table: str, wiring: Wiring) -> HistoryGetter:
    node = wiring.topology[table]
    if isinstance(node, TableSource):
        assert node.store is not None
        return _stored_history(node.store, wiring)
    assert isinstance(node, TableNode)
    parent, compute = history_getter(node.parents[0], wiring), _DERIVED[type(node)](node, wiring)

    asks_for_all = isinstance(node, TableTransformValues)

    def getter(key: Any, as_of_ms: int) -> tuple[Any, int] | None:
        """A transformer is also called for keys that did not exist."""
        found = parent(key, as_of_ms)
        if found is None and not asks_for_all:
            return None
        old, timestamp_ms = (None, UNKNOWN_TIME_MS) if found is None else found
        value = compute(key, old, timestamp_ms)
        return None if value is None else (value, timestamp_ms)

    return getter


def _stored_history(spec: StoreSpec, wiring: Wiring) -> HistoryGetter:
    encode_key, _, decode_value = wiring.store_codecs(spec)
    get_as_of = wiring.state.versioned(spec.name).get_as_of

    def getter(key: Any, as_of_ms: int) -> tuple[Any, int] | None:
        found = get_as_of(encode_key(key) or b"", as_of_ms)
        return None if found is None else (decode_value(found[0]), found[1])

    return getter


def versioned_table(node: TableSource, spec: StoreSpec, wiring: Wiring) -> Push:
    """A table's source that inserts each row at its time, and marks late rows."""
    forward, send_old, context = wiring.downstream(node), node.send_old_values, wiring.context
    store = wiring.state.versioned(spec.name)
    encode_key, encode_value, decode_value = wiring.store_codecs(spec)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None:
            context.outputs.drop(node.name, NULL_KEY)
            return
        stored_key = encode_key(key) or b""
        before = store.get(stored_key) if send_old else None
        placed = store.put_version(stored_key, encode_value(value), timestamp_ms)
        if placed is Placed.NOWHERE:
            context.outputs.drop(node.name, EXPIRED, (store.stream_time_ms or 0) - timestamp_ms)
            return
        context.is_latest = placed is Placed.LATEST
        try:
            forward(key, value, before and decode_value(before[0]), timestamp_ms, headers)
        finally:
            context.is_latest = True

    return push


def latest_only(table: str, push: Push, wiring: Wiring) -> Push:
    """`push` for an operator that follows the current rows of a table: late rows do not reach it."""
    if history_of(table, wiring.topology) is None:
        return push
    context = wiring.context

    def push_latest(*change: Any) -> None:
        if context.is_latest:
            push(*change)

    return push_latest
