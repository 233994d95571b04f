"""Tables: the last value of each key, and the operators of one table: filter, map_values, transform_values, to_stream.

A table function takes (key, new, old, timestamp_ms, headers). `old` is None unless the node sends old values; build()
determines which nodes do, as Kafka Streams does. Without a store a table only passes changes on.
"""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.context import UNKNOWN_TIME_MS
from moldau.pipeline.operators.decoding import decode_global
from moldau.pipeline.operators.history import derives, versioned_table
from moldau.pipeline.operators.processors import ProcessorContext
from moldau.pipeline.operators.records import NULL_KEY, Columns, Headers
from moldau.pipeline.operators.stores.key_value import KeyValueStore
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up, of_record
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import (
    GlobalTable,
    TableFilter,
    TableMapValues,
    TableNode,
    TableSource,
    TableToStream,
    TableTransformValues,
    history_of,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec

Compute = Callable[[Any, Any, int], Any]
"""(key, value, timestamp_ms) -> value of the derived table. Never called with a null value."""


@builds(TableSource)
def table_source(node: TableSource, wiring: Wiring) -> list[Push]:
    forward, context = wiring.downstream(node), wiring.context
    if node.store is None:

        def pass_on(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
            if key is None:
                context.outputs.drop(node.name, NULL_KEY)
            else:
                forward(key, value, None, timestamp_ms, headers)

        return [pass_on]
    if node.store.kind is StoreKind.VERSIONED:
        return [versioned_table(node, node.store, wiring)]
    store = wiring.state.key_value(node.store.name)
    get, put = store.get, store.put
    encode_key, encode_value, decode_value = wiring.store_codecs(node.store)
    send_old = node.send_old_values

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None:
            context.outputs.drop(node.name, NULL_KEY)
            return
        stored_key = encode_key(key) or b""
        old = None
        if send_old:
            found = get(stored_key)
            if found is not None:
                old = decode_value(found[0])
        put(stored_key, encode_value(value), timestamp_ms)
        forward(key, value, old, timestamp_ms, headers)

    return [push]


@looks_up(TableSource)
def table_source_getter(node: TableSource, wiring: Wiring) -> Getter:
    assert node.store is not None, f"{node.name} is read and has no store"
    return store_getter(node.store, wiring)


@looks_up(GlobalTable)
def global_getter(node: GlobalTable, wiring: Wiring) -> Getter:
    return store_getter(node.store, wiring)


def store_getter(spec: StoreSpec, wiring: Wiring) -> Getter:
    encode_key, _, decode_value = wiring.store_codecs(spec)
    get = wiring.state.key_value(spec.name).get

    def getter(key: Any) -> tuple[Any, int] | None:
        found = get(encode_key(key) or b"")
        return None if found is None else (decode_value(found[0]), found[1])

    return getter


def load_global(table: GlobalTable, columns: Columns, store: KeyValueStore) -> None:
    """Stores the records of a global table's topic as they are: the store has the bytes of the topic."""
    for key, value, timestamp_ms in decode_global(table, columns):
        store.put(key, value, timestamp_ms)
    store.take_changes()


@builds(TableFilter)
def table_filter(node: TableFilter, wiring: Wiring) -> list[Push]:
    # History needs every removal: a late one may end a row that has passed the filter.
    skips = history_of(node.parents[0], wiring.topology) is None
    return [_computing(node, wiring, _filtered(node, wiring), skips_nothing_to_nothing=skips)]


@looks_up(TableFilter)
def table_filter_getter(node: TableFilter, wiring: Wiring) -> Getter:
    return _computed_getter(node, wiring, _filtered(node, wiring))


@derives(TableFilter)
def _filtered(node: TableFilter, wiring: Wiring) -> Compute:
    holds, negate = of_record(node.predicate), node.negate
    by_expression = isinstance(node.predicate, Expression)

    def compute(key: Any, value: Any, timestamp_ms: int) -> Any:
        result = holds(key, value, timestamp_ms)
        if by_expression and result is None:
            return None
        return value if bool(result) is not negate else None

    return compute


@builds(TableMapValues)
def table_map_values(node: TableMapValues, wiring: Wiring) -> list[Push]:
    return [_computing(node, wiring, _mapped(node, wiring))]


@looks_up(TableMapValues)
def table_map_values_getter(node: TableMapValues, wiring: Wiring) -> Getter:
    return _computed_getter(node, wiring, _mapped(node, wiring))


@derives(TableMapValues)
def _mapped(node: TableMapValues, wiring: Wiring) -> Compute:
    return of_record(node.mapper, takes_key=node.with_key)


def _computing(
    node: TableNode, wiring: Wiring, compute: Compute, *, skips_nothing_to_nothing: bool = False
) -> Push:
    """Turns a change of the parent into a change of the derived table."""
    forward, send_old = wiring.downstream(node), node.send_old_values
    skips = skips_nothing_to_nothing and send_old
    get_old, put = materializer(node, wiring)

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        new = None if new is None else compute(key, new, timestamp_ms)
        if not send_old:
            old = None
        elif get_old is not None:
            old = get_old(key)
        else:
            old = None if old is None else compute(key, old, timestamp_ms)
        if skips and new is None and old is None:
            return
        if put is not None:
            put(key, new, timestamp_ms)
        forward(key, new, old, timestamp_ms, headers)

    return push


def materializer(
    node: TableNode, wiring: Wiring
) -> tuple[Callable[[Any], Any] | None, Callable[[Any, Any, int], None] | None]:
    """The functions with which a table reads its old value and writes its new one. (None, None) without a store."""
    if node.store is None:
        return None, None
    encode_key, encode_value, decode_value = wiring.store_codecs(node.store)
    store = wiring.state.key_value(node.store.name)
    get, put_bytes = store.get, store.put

    def get_old(key: Any) -> Any:
        found = get(encode_key(key) or b"")
        return None if found is None else decode_value(found[0])

    def put(key: Any, value: Any, timestamp_ms: int) -> None:
        put_bytes(encode_key(key) or b"", encode_value(value), timestamp_ms)

    return get_old, put


def _computed_getter(node: TableNode, wiring: Wiring, compute: Compute) -> Getter:
    if node.store is not None:
        return store_getter(node.store, wiring)
    parent = wiring.getter(node.parents[0])

    def getter(key: Any) -> tuple[Any, int] | None:
        found = parent(key)
        if found is None:
            return None
        value = compute(key, *found)
        return None if value is None else (value, found[1])

    return getter


@builds(TableTransformValues)
def table_transform_values(node: TableTransformValues, wiring: Wiring) -> list[Push]:
    """Like map_values, with an object of the user that may use stores. It is also called for removals."""
    transform = _transformer(node, wiring)
    forward, send_old = wiring.downstream(node), node.send_old_values
    get_old, put = materializer(node, wiring)

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        new = transform(key, new, timestamp_ms)
        if put is None or get_old is None:
            forward(key, new, transform(key, old, timestamp_ms) if send_old else None, timestamp_ms, headers)
            return
        before = get_old(key) if send_old else None
        put(key, new, timestamp_ms)
        forward(key, new, before, timestamp_ms, headers)

    return [push]


@looks_up(TableTransformValues)
def table_transform_values_getter(node: TableTransformValues, wiring: Wiring) -> Getter:
    if node.store is not None:
        return store_getter(node.store, wiring)
    parent, transform = wiring.getter(node.parents[0]), _transformer(node, wiring)

    def getter(key: Any) -> tuple[Any, int] | None:
        """A transformer is also called for keys that do not exist."""
        found = parent(key)
        value = transform(key, None if found is None else found[0], UNKNOWN_TIME_MS)
        return None if value is None else (value, UNKNOWN_TIME_MS if found is None else found[1])

    return getter


@derives(TableTransformValues)
def _transformer(node: TableTransformValues, wiring: Wiring) -> Compute:
    transformer = node.supplier()
    if hasattr(transformer, "init"):
        wiring.at_start(node, lambda: transformer.init(ProcessorContext(node.name, node.uses, wiring)))
    transform = transformer.transform if hasattr(transformer, "transform") else transformer
    return lambda key, value, timestamp_ms: transform(key, value)


@builds(TableToStream)
def table_to_stream(node: TableToStream, wiring: Wiring) -> list[Push]:
    forward, mapper = wiring.downstream(node), node.mapper

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        forward(key if mapper is None else mapper(key, new), new, timestamp_ms, headers)

    return [push]
