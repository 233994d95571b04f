"""Aggregates that emit one change per key and batch, as Kafka Streams does with its record cache.

During a batch, changed aggregates are held as values, not bytes. At its end each is written to the store and emitted
once. Readers in the same task see the held values. The emitted change is the last one that would have been emitted
without collapsing, in the context of the record that made it. If emitting fails, the batch is run again record by
record, and each record emits its own change.
"""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.aggregation.aggregates import first_or_reduced
from moldau.pipeline.operators.failures import FAILURES
from moldau.pipeline.operators.records import LATE, NULL_KEY, NULL_VALUE, Headers
from moldau.pipeline.operators.wiring import Push, Wiring
from moldau.pipeline.plan.nodes import Aggregate, Process, TableTransformValues, WindowAggregate
from moldau.pipeline.plan.windows import TimeWindows, Windowed

KEY, AGGREGATE, OLD, TIMESTAMP_MS, HEADERS, COLUMNS, OFFSET, ORDER_MS = range(8)
"""What is held for a key: a list, because it changes with every record. The last three are the origin of the record and
its order. Order None: nothing was added yet."""


def collapses(node: Aggregate, wiring: Wiring) -> bool:
    """Not if a processor of the user reads the store itself."""
    users = (one for one in wiring.part.nodes if isinstance(one, Process | TableTransformValues))
    return wiring.collapse and not any(node.store.name in user.uses for user in users)


def collapsed_aggregate(node: Aggregate, wiring: Wiring) -> Push:
    initial, add = first_or_reduced(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store, held = wiring.state.key_value(node.store.name), wiring.held(node.store.name)
    get, send_old, forward = store.get, node.send_old_values, wiring.downstream(node)
    context = wiring.context

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None or value is None:
            context.outputs.drop(node.name, NULL_KEY if key is None else NULL_VALUE)
            return
        stored_key = encode_key(key) or b""
        entry = held.get(stored_key)
        if entry is None:
            found = get(stored_key)
            if found is None:
                entry = [key, initial(), None, timestamp_ms, headers, None, 0, None]
            else:
                old = decode(found[0]) if send_old else None
                entry = [key, decode(found[0]), old, found[1], headers, None, 0, None]
            held[stored_key] = entry
        entry[AGGREGATE] = add(key, value, entry[AGGREGATE])
        entry[HEADERS], entry[COLUMNS] = headers, context.columns
        entry[OFFSET], entry[ORDER_MS] = context.offset, context.order_ms
        if timestamp_ms > entry[TIMESTAMP_MS]:
            entry[TIMESTAMP_MS] = timestamp_ms

    def tell(stored_key: bytes, entry: list[Any]) -> None:
        key, aggregate, old, timestamp_ms, headers = entry[:COLUMNS]
        store.put(stored_key, encode(aggregate), timestamp_ms)
        forward(key, aggregate, old, timestamp_ms, headers)

    wiring.at_end(node, lambda: _tell_all(held, wiring, tell))
    return push


def _tell_all(held: dict[Any, list[Any]], wiring: Wiring, tell: Callable[[Any, list[Any]], None]) -> None:
    """Emits in the order of the records that made the last changes."""
    if not held:
        return
    entries = list(held.items())
    order_ms = [entry[ORDER_MS] for _, entry in entries]
    held.clear()
    context = wiring.context
    for at in sorted(range(len(entries)), key=order_ms.__getitem__):
        place, entry = entries[at]
        columns, offset = entry[COLUMNS], entry[OFFSET]
        if columns is None:
            context.topic, context.record_partition = "", -1
        else:
            context.topic, context.record_partition = columns.topic, columns.partition
        context.columns, context.offset = columns, offset
        context.timestamp_ms, context.headers = entry[TIMESTAMP_MS], entry[HEADERS]
        context.order_ms = entry[ORDER_MS]
        try:
            tell(place, entry)
        except FAILURES as failure:
            wiring.telling_failed(failure)
            raise


def collapsed_windows(node: WindowAggregate, wiring: Wiring, windows: TimeWindows) -> Push:
    initial, add = first_or_reduced(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store, held = wiring.state.window(node.store.name), wiring.held(node.store.name)
    get, send_old, forward = store.get, node.send_old_values, wiring.downstream(node)
    size_ms, grace_ms, starts_of = windows.size_ms, windows.grace_ms, windows.starts_of
    is_tumbling, context = windows.advance_ms == size_ms, wiring.context
    times, clock = wiring.state.times, f"window {node.name}"

    def entry_of(
        key: Any, stored_key: bytes, start_ms: int, timestamp_ms: int, headers: Headers
    ) -> list[Any]:
        found = get(stored_key, start_ms)
        windowed = Windowed(key, start_ms, start_ms + size_ms)
        if found is None:
            return [windowed, initial(), None, timestamp_ms, headers, None, 0, None]
        old = decode(found[0]) if send_old else None
        return [windowed, decode(found[0]), old, found[1], headers, None, 0, None]

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None:
            context.outputs.drop(node.name, NULL_KEY)
            return
        stream_time_ms = times.get(clock, -1)
        if timestamp_ms > stream_time_ms:
            stream_time_ms = times[clock] = timestamp_ms
        close_ms = stream_time_ms - grace_ms
        stored_key = encode_key(key) or b""
        for start_ms in (timestamp_ms - timestamp_ms % size_ms,) if is_tumbling else starts_of(timestamp_ms):
            if start_ms + size_ms <= close_ms:
                context.outputs.drop(node.name, LATE, stream_time_ms - timestamp_ms)
                continue
            place = (stored_key, start_ms)
            entry = held.get(place)
            if entry is None:
                entry = held[place] = entry_of(key, stored_key, start_ms, timestamp_ms, headers)
            entry[AGGREGATE] = add(key, value, entry[AGGREGATE])
            entry[HEADERS], entry[COLUMNS] = headers, context.columns
            entry[OFFSET], entry[ORDER_MS] = context.offset, context.order_ms
            if timestamp_ms > entry[TIMESTAMP_MS]:
                entry[TIMESTAMP_MS] = timestamp_ms

    def tell(place: tuple[bytes, int], entry: list[Any]) -> None:
        windowed, aggregate, old, timestamp_ms, headers = entry[:COLUMNS]
        store.put(place[0], encode(aggregate), place[1], timestamp_ms)
        forward(windowed, aggregate, old, timestamp_ms, headers)

    wiring.at_end(node, lambda: _tell_all(held, wiring, tell))
    return push
