"""Aggregation in sliding windows (KIP-450): a record ends one window and, if others follow it, starts one after itself.

A window in the store contains at least one record. Its timestamp in the store is that of its latest record, which shows
what it contains. Windows that would start before 0 share the one that starts at 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from moldau.pipeline.operators.aggregation.aggregates import first_or_reduced
from moldau.pipeline.operators.records import LATE, NULL_KEY, NULL_VALUE, Headers
from moldau.pipeline.operators.stores.window import WindowStore
from moldau.pipeline.operators.wiring import Push, Wiring
from moldau.pipeline.plan.nodes import EmitWhen, WindowAggregate
from moldau.pipeline.plan.windows import SlidingWindows, Windowed
from moldau.pipeline.serdes.serde import Decoder, Encoder

TimedBytes = tuple[bytes, int]


@dataclass(slots=True)
class _Arrival:
    """A record during its walk over the windows around it, and what the walk has found."""

    key: Any
    stored_key: bytes
    value: Any
    timestamp_ms: int
    headers: Headers
    close_ms: int
    stream_time_ms: int
    starts: set[int] = field(default_factory=set)
    right: TimedBytes | None = None
    """A window that extends past the record: the content of the record's right window."""
    left: TimedBytes | None = None
    """The latest window that ended before the record."""
    left_exists: bool = False
    right_exists: bool = False
    previous_ms: int | None = None
    """The timestamp of the previous record, if its right window may be missing."""


class _SlidingAggregate:
    def __init__(self, node: WindowAggregate, wiring: Wiring, windows: SlidingWindows) -> None:
        self._size_ms = windows.size_ms
        self._store: WindowStore = wiring.state.window(node.store.name)
        self._initial, self._add = first_or_reduced(node)
        self._encode: Encoder
        self._decode: Decoder
        _, self._encode, self._decode = wiring.store_codecs(node.store)
        self._forward = wiring.downstream(node)
        self._node, self._context = node, wiring.context
        self._send_old = node.send_old_values
        self._on_update = node.emit is EmitWhen.UPDATE

    def take(self, arrival: _Arrival) -> None:
        """Updates the windows that contain the record, latest first, then creates the missing ones."""
        at_ms = arrival.timestamp_ms
        windows = self._store.fetch(arrival.stored_key, max(0, at_ms - 2 * self._size_ms), at_ms + 1)
        for start_ms, found in reversed(windows):
            arrival.starts.add(start_ms)
            end_ms = start_ms + self._size_ms
            if start_ms == at_ms + 1:
                arrival.right_exists = True
            elif end_ms > at_ms:
                if arrival.right is None:
                    arrival.right = found
                self._update(arrival, start_ms, found)
            elif end_ms == at_ms:
                arrival.left_exists = True
                self._update(arrival, start_ms, found)
                if found[1] >= at_ms:
                    return  # a record of this very time was here: all its windows exist
                arrival.previous_ms = found[1]
            else:
                arrival.left = found
                arrival.previous_ms = found[1]
                break
        self._make_missing(arrival)

    def _make_missing(self, arrival: _Arrival) -> None:
        at_ms, previous_ms = arrival.timestamp_ms, arrival.previous_ms
        if previous_ms is not None:
            start_ms = previous_ms + 1
            if start_ms not in arrival.starts and start_ms + self._size_ms >= at_ms:
                self._update(arrival, start_ms, self._fresh(at_ms))
        if not arrival.left_exists:
            start_ms = at_ms - self._size_ms
            if arrival.left is not None and previous_ms is not None and start_ms <= previous_ms:
                found: TimedBytes | None = (arrival.left[0], at_ms)
            else:
                found = self._fresh(at_ms)
            self._update(arrival, start_ms, found)
        self._make_right(arrival)

    def take_early(self, arrival: _Arrival) -> None:
        """For a record before the end of the first possible window: [0, size] replaces all windows that would start
        before 0."""
        at_ms = arrival.timestamp_ms
        first: TimedBytes | None = None
        for start_ms, found in self._store.fetch(arrival.stored_key, 0, at_ms + 1):
            arrival.starts.add(start_ms)
            if start_ms == 0:
                first = found
                if found[1] < at_ms:
                    arrival.previous_ms = found[1]
            elif start_ms <= at_ms:
                arrival.right = found
                self._update(arrival, start_ms, found)
            else:
                arrival.right_exists = True
        if arrival.right is None and first is not None and first[1] > at_ms:
            arrival.right = first
        self._make_right(arrival)
        previous_ms = arrival.previous_ms
        if previous_ms is not None and previous_ms + 1 not in arrival.starts:
            self._update(arrival, previous_ms + 1, self._fresh(at_ms))
        self._update(arrival, 0, self._fresh(at_ms) if first is None else first)

    def _make_right(self, arrival: _Arrival) -> None:
        """The window after the record, if it contains something already. The record itself is not in it."""
        right, at_ms = arrival.right, arrival.timestamp_ms
        if arrival.right_exists or right is None or right[1] <= at_ms:
            return
        self._store.put(arrival.stored_key, right[0], at_ms + 1, right[1])
        self._tell(arrival, at_ms + 1, None, self._decode(right[0]), right[1])

    def _update(self, arrival: _Arrival, start_ms: int, found: TimedBytes | None) -> None:
        if start_ms + self._size_ms < arrival.close_ms:
            self.drop_late(arrival.timestamp_ms, arrival.stream_time_ms)
            return
        before = None if found is None else self._decode(found[0])
        old = self._decode(found[0]) if found is not None and self._send_old else None
        after = self._add(arrival.key, arrival.value, before)
        result_ms = arrival.timestamp_ms if found is None else max(arrival.timestamp_ms, found[1])
        self._store.put(arrival.stored_key, self._encode(after), start_ms, result_ms)
        self._tell(arrival, start_ms, old, after, result_ms)

    def _tell(self, arrival: _Arrival, start_ms: int, old: Any, new: Any, timestamp_ms: int) -> None:
        if self._on_update:
            windowed = Windowed(arrival.key, start_ms, start_ms + self._size_ms)
            self._forward(windowed, new, old if self._send_old else None, timestamp_ms, arrival.headers)

    def drop_late(self, timestamp_ms: int, stream_time_ms: int) -> None:
        self._context.outputs.drop(self._node.name, LATE, stream_time_ms - timestamp_ms)

    def _fresh(self, timestamp_ms: int) -> TimedBytes | None:
        """The initial value of a new window. None for a reduce."""
        initial = self._encode(self._initial())
        return None if initial is None else (initial, timestamp_ms)


def sliding_aggregate(
    node: WindowAggregate,
    wiring: Wiring,
    windows: SlidingWindows,
    emit_closed: Callable[[int, Headers], None] | None,
) -> Push:
    operator = _SlidingAggregate(node, wiring, windows)
    encode_key, _, _ = wiring.store_codecs(node.store)
    times, clock = wiring.state.times, f"window {node.name}"
    size_ms, grace_ms = windows.size_ms, windows.grace_ms

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None or value is None:
            wiring.context.outputs.drop(node.name, NULL_KEY if key is None else NULL_VALUE)
            return
        stream_time_ms = max(times.get(clock, -1), timestamp_ms)
        times[clock] = stream_time_ms
        close_ms = stream_time_ms - grace_ms
        if timestamp_ms + size_ms < close_ms:
            operator.drop_late(timestamp_ms, stream_time_ms)
            return
        arrival = _Arrival(
            key, encode_key(key) or b"", value, timestamp_ms, headers, close_ms, stream_time_ms
        )
        if timestamp_ms < size_ms:
            operator.take_early(arrival)
            return
        if emit_closed is not None:
            emit_closed(close_ms, headers)
        operator.take(arrival)

    return push
