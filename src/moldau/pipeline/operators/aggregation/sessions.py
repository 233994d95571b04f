"""Aggregation in sessions: a record merges all sessions that it is close enough to into one.

The old sessions are emitted as removed, then the merged one as new: readers downstream never see both.
"""

from typing import Any

from moldau.pipeline.operators.aggregation.aggregates import first_or_reduced
from moldau.pipeline.operators.aggregation.windowed import follow_time
from moldau.pipeline.operators.records import LATE, NO_HEADERS, NULL_KEY, Headers
from moldau.pipeline.operators.verdicts import HeldRecord
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up
from moldau.pipeline.plan.nodes import EmitWhen, SessionAggregate
from moldau.pipeline.plan.windows import Windowed


@builds(SessionAggregate)
def session_aggregate(node: SessionAggregate, wiring: Wiring) -> list[Push]:
    forward, send_old = wiring.downstream(node), node.send_old_values
    initial, add = first_or_reduced(node)
    merge = _merger(node)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    store = wiring.state.session(node.store.name)
    gap_ms, grace_ms = node.windows.gap_ms, node.windows.grace_ms
    times, clock = wiring.state.times, f"window {node.name}"
    on_update = node.emit is EmitWhen.UPDATE
    emit_closed = None if on_update else _closing(node, wiring)
    follow_time(node, wiring, clock, grace_ms + gap_ms, emit_closed)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None:
            wiring.context.outputs.drop(node.name, NULL_KEY)
            return
        stream_time_ms = max(times.get(clock, -1), timestamp_ms)
        times[clock] = stream_time_ms
        close_ms = stream_time_ms - grace_ms - gap_ms
        if emit_closed is not None:
            emit_closed(close_ms, headers)
        stored_key = encode_key(key) or b""
        start_ms = end_ms = timestamp_ms
        aggregate = initial()
        found = store.find(stored_key, timestamp_ms - gap_ms, timestamp_ms + gap_ms)
        for session, stored in found:
            aggregate = merge(key, aggregate, decode(stored))
            start_ms, end_ms = min(start_ms, session[0]), max(end_ms, session[1])
        if end_ms < close_ms:
            wiring.context.outputs.drop(node.name, LATE, stream_time_ms - timestamp_ms)
        else:
            if (start_ms, end_ms) != (timestamp_ms, timestamp_ms):
                for session, stored in found:
                    store.put(stored_key, *session, None)
                    if on_update:
                        old = decode(stored) if send_old else None
                        forward(Windowed(key, *session), None, old, session[1], NO_HEADERS)
            aggregate = add(key, value, aggregate)
            store.put(stored_key, start_ms, end_ms, encode(aggregate))
            if on_update:
                forward(Windowed(key, start_ms, end_ms), aggregate, None, end_ms, NO_HEADERS)

    return [push]


def _merger(node: SessionAggregate) -> Any:
    if node.merger is not None:
        return node.merger
    _, add = first_or_reduced(node)
    return lambda key, one, other: add(key, other, one)


def _closing(node: SessionAggregate, wiring: Wiring) -> Any:
    forward = wiring.downstream(node)
    spec = node.store
    assert spec.key_serde is not None
    decode_key = spec.key_serde.decoder(spec.name, is_key=True)
    _, _, decode = wiring.store_codecs(spec)
    store = wiring.state.session(spec.name)
    times, last = wiring.state.times, f"closed {node.name}"

    def emit_closed(close_ms: int, headers: Headers) -> None:
        last_ms = times.get(last, -1)
        newest_ms, oldest_ms = close_ms - 1, max(0, last_ms)
        if (last_ms != -1 and last_ms >= close_ms) or newest_ms < 0 or newest_ms < oldest_ms:
            return
        times[last] = close_ms
        for key, (start_ms, end_ms), value in store.ending_in(oldest_ms, newest_ms):
            windowed = Windowed(decode_key(key), start_ms, end_ms)
            held = HeldRecord(key, value, end_ms, headers)
            wiring.let_go(node, held, forward, windowed, decode(value), None, end_ms, headers)

    return emit_closed


@looks_up(SessionAggregate)
def session_getter(node: SessionAggregate, wiring: Wiring) -> Getter:
    encode_key, _, decode = wiring.store_codecs(node.store)
    get = wiring.state.session(node.store.name).get

    def getter(windowed: Windowed) -> tuple[Any, int] | None:
        found = get(encode_key(windowed.key) or b"", windowed.start_ms, windowed.end_ms)
        return None if found is None else (decode(found), windowed.end_ms)

    return getter
