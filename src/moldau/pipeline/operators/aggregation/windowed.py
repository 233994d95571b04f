"""Aggregation in tumbling and hopping windows. A window accepts records until stream time passes its end and the grace.

Stream time here is the highest timestamp that this operator has seen, as in Kafka Streams. A null value counts as a
value (Kafka's windowed aggregations differ in this from those without windows).
"""

from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.aggregation.aggregates import first_or_reduced
from moldau.pipeline.operators.aggregation.collapsing import collapsed_windows, collapses
from moldau.pipeline.operators.aggregation.sliding import sliding_aggregate
from moldau.pipeline.operators.records import LATE, NO_HEADERS, NULL_KEY, Headers
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.operators.verdicts import HeldRecord
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up
from moldau.pipeline.plan.nodes import EmitWhen, Node, WindowAggregate
from moldau.pipeline.plan.windows import SlidingWindows, TimeWindows, Windowed
from moldau.pipeline.serdes.serde import Decoder

EmitClosed = Callable[[int, Headers], None]
"""(close time, headers of the record that moved it)"""


@builds(WindowAggregate)
def window_aggregate(node: WindowAggregate, wiring: Wiring) -> list[Push]:
    if isinstance(node.windows, SlidingWindows):
        emit_closed = _closing_sliding(node, wiring, node.windows)
        follow_time(node, wiring, f"window {node.name}", node.windows.grace_ms, emit_closed)
        return [sliding_aggregate(node, wiring, node.windows, emit_closed)]
    if node.emit is EmitWhen.UPDATE and collapses(node, wiring):
        follow_time(node, wiring, f"window {node.name}", node.windows.grace_ms, None)
        return [collapsed_windows(node, wiring, node.windows)]
    return [_aligned(node, wiring, node.windows)]


def _aligned(node: WindowAggregate, wiring: Wiring, windows: TimeWindows) -> Push:
    forward, send_old = wiring.downstream(node), node.send_old_values
    initial, add = first_or_reduced(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store = wiring.state.window(node.store.name)
    get, put = store.get, store.put
    size_ms, grace_ms, starts_of = windows.size_ms, windows.grace_ms, windows.starts_of
    is_tumbling = windows.advance_ms == size_ms
    times, clock = wiring.state.times, f"window {node.name}"
    on_update = node.emit is EmitWhen.UPDATE
    emit_closed = None if on_update else _closing_aligned(node, wiring, windows)
    follow_time(node, wiring, clock, grace_ms, emit_closed)
    context = wiring.context

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None:
            context.outputs.drop(node.name, NULL_KEY)
            return
        stream_time_ms = times.get(clock, -1)
        if timestamp_ms > stream_time_ms:
            stream_time_ms = times[clock] = timestamp_ms
        close_ms = stream_time_ms - grace_ms
        # Before the record advances the store's time, which would drop the windows that it closes. A record never
        # closes and changes the same window.
        if emit_closed is not None:
            emit_closed(close_ms, headers)
        stored_key = encode_key(key) or b""
        for start_ms in (timestamp_ms - timestamp_ms % size_ms,) if is_tumbling else starts_of(timestamp_ms):
            if start_ms + size_ms <= close_ms:
                context.outputs.drop(node.name, LATE, stream_time_ms - timestamp_ms)
                continue
            found = get(stored_key, start_ms)
            result_ms = timestamp_ms
            if found is None:
                before = initial()
            else:
                before = decode(found[0])
                if found[1] > result_ms:
                    result_ms = found[1]
            old = decode(encode(before)) if send_old else None
            after = add(key, value, before)
            put(stored_key, encode(after), start_ms, result_ms)
            if on_update:
                forward(Windowed(key, start_ms, start_ms + size_ms), after, old, result_ms, headers)

    return push


def _closing_aligned(node: WindowAggregate, wiring: Wiring, windows: TimeWindows) -> EmitClosed:
    emit = emitter(node, wiring, windows.size_ms)
    times, last = wiring.state.times, f"closed {node.name}"
    size_ms, advance_ms = windows.size_ms, windows.advance_ms

    def emit_closed(close_ms: int, headers: Headers) -> None:
        last_ms = times.get(last, -1)
        newest_ms = close_ms - size_ms
        if (last_ms != -1 and last_ms >= close_ms) or newest_ms < 0:
            return
        oldest_ms = 0 if last_ms == -1 else max(0, last_ms - size_ms) + 1
        if newest_ms // advance_ms * advance_ms < oldest_ms:
            return  # no window starts in between
        times[last] = close_ms
        emit(oldest_ms, newest_ms, headers)

    return emit_closed


def _closing_sliding(node: WindowAggregate, wiring: Wiring, windows: SlidingWindows) -> EmitClosed | None:
    if node.emit is EmitWhen.UPDATE:
        return None
    emit = emitter(node, wiring, windows.size_ms)
    times, last = wiring.state.times, f"closed {node.name}"
    size_ms = windows.size_ms

    def emit_closed(close_ms: int, headers: Headers) -> None:
        last_ms = times.get(last, -1)
        newest_ms = close_ms - size_ms - 1
        if (last_ms != -1 and last_ms >= close_ms) or newest_ms < 0:
            return
        oldest_ms = 0 if last_ms == -1 else max(0, last_ms - size_ms)
        times[last] = close_ms
        emit(oldest_ms, newest_ms, headers)

    return emit_closed


def emitter(node: WindowAggregate, wiring: Wiring, size_ms: int) -> Callable[[int, int, Headers], None]:
    """Emits the final results of windows that start in [oldest, newest], ordered by time, then by key."""
    forward = wiring.downstream(node)
    store, decode_key, decode = _reading(node, wiring)

    def emit(oldest_ms: int, newest_ms: int, headers: Headers) -> None:
        for start_ms, key, (value, timestamp_ms) in store.starting_in(oldest_ms, newest_ms):
            windowed = Windowed(decode_key(key), start_ms, start_ms + size_ms)
            held = HeldRecord(key, value, timestamp_ms, headers)
            wiring.let_go(node, held, forward, windowed, decode(value), None, timestamp_ms, headers)

    return emit


def follow_time(node: Node, wiring: Wiring, clock: str, wait_ms: int, emit_closed: EmitClosed | None) -> None:
    """Closes windows when stream time advances without a record."""

    def advance(to_ms: int) -> None:
        stream_time_ms = wiring.move_clock(clock, to_ms)
        if emit_closed is not None:
            emit_closed(stream_time_ms - wait_ms, NO_HEADERS)

    wiring.at_time(node, advance, holds_back=emit_closed is not None)


def _reading(node: WindowAggregate, wiring: Wiring) -> tuple[WindowStore, Decoder, Decoder]:
    spec = node.store
    assert spec.key_serde is not None
    _, _, decode = wiring.store_codecs(spec)
    return wiring.state.window(spec.name), spec.key_serde.decoder(spec.name, is_key=True), decode


@looks_up(WindowAggregate)
def window_getter(node: WindowAggregate, wiring: Wiring) -> Getter:
    encode_key, _, decode = wiring.store_codecs(node.store)
    get = wiring.state.window(node.store.name).get
    held = wiring.held(node.store.name)

    def getter(windowed: Windowed) -> tuple[Any, int] | None:
        entry = held.get((encode_key(windowed.key) or b"", windowed.start_ms))
        if entry is not None:
            return entry[1], entry[3]
        found = get(encode_key(windowed.key) or b"", windowed.start_ms)
        return None if found is None else (decode(found[0]), found[1])

    return getter
