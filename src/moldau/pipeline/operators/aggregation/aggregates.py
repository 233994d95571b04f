"""Aggregation without windows, of a grouped stream and of a grouped table. A table's old values are subtracted."""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.history import latest_only
from moldau.pipeline.operators.records import NULL_KEY, NULL_VALUE, Headers
from moldau.pipeline.operators.tables import store_getter
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up, no_pair
from moldau.pipeline.plan.nodes import Aggregate, TableAggregate, TableGroup, TableMerge

Add = Callable[[Any, Any, Any], Any]
"""(key, value, aggregate or None) -> aggregate"""


def first_or_reduced(node: Aggregate | TableAggregate) -> tuple[Callable[[], Any], Add]:
    """Initializer and adder. For a reduce, which starts with the first value, the initializer returns None."""
    adder = node.adder
    if node.initializer is not None:
        return node.initializer, adder
    return _nothing, lambda key, value, aggregate: value if aggregate is None else adder(aggregate, value)


def _nothing() -> None:
    return None


@builds(Aggregate)
def aggregate(node: Aggregate, wiring: Wiring) -> list[Push]:
    from moldau.pipeline.operators.aggregation.collapsing import collapsed_aggregate, collapses

    if collapses(node, wiring):
        return [collapsed_aggregate(node, wiring)]
    forward, send_old = wiring.downstream(node), node.send_old_values
    initial, add = first_or_reduced(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store = wiring.state.key_value(node.store.name)
    get, put, context = store.get, store.put, wiring.context

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None or value is None:
            context.outputs.drop(node.name, NULL_KEY if key is None else NULL_VALUE)
            return
        stored_key = encode_key(key) or b""
        found = get(stored_key)
        if found is None:
            before = initial()
        else:
            before = decode(found[0])
            if found[1] > timestamp_ms:
                timestamp_ms = found[1]
        # The user's function may change the aggregate in place, so an emitted old value is a copy. For a new key it is
        # the initial value, as in Kafka Streams.
        old = _copied(before, encode, decode) if send_old else None
        after = add(key, value, before)
        put(stored_key, encode(after), timestamp_ms)
        forward(key, after, old, timestamp_ms, headers)

    return [push]


def _copied(value: Any, encode: Callable[[Any], bytes | None], decode: Callable[[bytes | None], Any]) -> Any:
    return decode(encode(value))


@looks_up(Aggregate)
def aggregate_getter(node: Aggregate, wiring: Wiring) -> Getter:
    stored = store_getter(node.store, wiring)
    if not wiring.collapse:
        return stored
    encode_key, encode, decode = wiring.store_codecs(node.store)
    held = wiring.held(node.store.name)

    def getter(key: Any) -> tuple[Any, int] | None:
        entry = held.get(encode_key(key) or b"")
        if entry is None:
            return stored(key)
        value = _copied(entry[1], encode, decode)
        return None if value is None else (value, entry[3])

    return getter


@builds(TableGroup)
def table_group(node: TableGroup, wiring: Wiring) -> list[Push]:
    """One record with both values if the group stays the same, else one to subtract and one to add (KIP-904)."""
    forward, mapper = wiring.downstream(node), node.mapper

    def pair_of(key: Any, value: Any) -> tuple[Any, Any]:
        pair = mapper(key, value)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise no_pair(node, pair)
        return pair[0], pair[1]

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        taken_key, taken = (None, None) if old is None else pair_of(key, old)
        given_key, given = (None, None) if new is None else pair_of(key, new)
        takes = taken_key is not None and taken is not None
        gives = given_key is not None and given is not None
        if takes and gives and taken_key == given_key:
            forward(given_key, (given, taken), timestamp_ms, headers)
            return
        if takes:
            forward(taken_key, (None, taken), timestamp_ms, headers)
        if gives:
            forward(given_key, (given, None), timestamp_ms, headers)

    return [latest_only(node.parents[0], push, wiring)]


@builds(TableAggregate)
def table_aggregate(node: TableAggregate, wiring: Wiring) -> list[Push]:
    forward, send_old = wiring.downstream(node), node.send_old_values
    initial, add = first_or_reduced(node)
    subtract = _subtractor(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store = wiring.state.key_value(node.store.name)
    get, put = store.get, store.put
    is_reduce = node.initializer is None

    def push(key: Any, change: tuple[Any, Any], timestamp_ms: int, headers: Headers) -> None:
        new, old = change
        stored_key = encode_key(key) or b""
        found = get(stored_key)
        before = None if found is None else decode(found[0])
        told = None if found is None or not send_old else decode(found[0])
        later_ms = timestamp_ms if found is None else max(timestamp_ms, found[1])
        result_ms = timestamp_ms
        between = before
        if old is not None and before is not None:
            between = subtract(key, old, before)
            result_ms = later_ms
        after = between
        if new is not None:
            if not (is_reduce and between is None):
                result_ms = later_ms
            after = add(key, new, initial() if between is None else between)
        put(stored_key, encode(after), result_ms)
        forward(key, after, told, result_ms, headers)

    return [push]


def _subtractor(node: TableAggregate) -> Add:
    subtractor = node.subtractor
    if node.initializer is not None:
        return subtractor
    return lambda key, value, aggregate: subtractor(aggregate, value)


@looks_up(TableAggregate)
def table_aggregate_getter(node: TableAggregate, wiring: Wiring) -> Getter:
    return store_getter(node.store, wiring)


@builds(TableMerge)
def table_merge(node: TableMerge, wiring: Wiring) -> list[Push]:
    return [wiring.downstream(node)] * len(node.parents)


@looks_up(TableMerge)
def table_merge_getter(node: TableMerge, wiring: Wiring) -> Getter:
    return wiring.getter(node.parents[0])
