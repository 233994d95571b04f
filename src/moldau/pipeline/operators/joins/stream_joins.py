"""Stream-stream joins: records of the same key that are close in time, and in left and outer joins also the rest.

A record without a match waits in the outer store until no match can come any more: until stream time passes its window
and the grace. It does not wait where the windows are eager. Both sides share one stream time. As in Kafka Streams 4.2
(KAFKA-10847: no spurious left results).
"""

import struct
from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.records import LATE, NO_HEADERS, NULL_KEY, NULL_VALUE, Headers
from moldau.pipeline.operators.stores.join import JoinStore
from moldau.pipeline.operators.verdicts import HeldRecord
from moldau.pipeline.operators.wiring import Push, Wiring, builds
from moldau.pipeline.plan.nodes import JoinKind, StreamJoin
from moldau.pipeline.serdes.framing import pack_frames, unpack_frames

NEVER_MS = 2**63 - 1
_PLACE = struct.Struct(">q?")

Join = Callable[[Any, Any, Any], Any]
"""(key, left value, right value) -> result"""


class _Unmatched:
    """Records of both sides that have no match yet, oldest first, and the stream time that both sides share."""

    def __init__(self, node: StreamJoin, wiring: Wiring, join: Join) -> None:
        self._node = node
        self._wiring = wiring
        self._windows = node.windows
        self._join = join
        self._forward = wiring.downstream(node)
        self._times = wiring.state.times
        self._clock = f"join {node.name}"
        self._oldest = f"oldest {node.name}"
        self._store = wiring.state.key_value(node.outer_store.name) if node.outer_store else None
        assert node.left_store.key_serde is not None
        self._decode_key = node.left_store.key_serde.decoder(node.name, is_key=True)
        _, _, self._decode_left = wiring.store_codecs(node.left_store)
        _, _, self._decode_right = wiring.store_codecs(node.right_store)

    @property
    def waits(self) -> bool:
        """Whether records are held back. Not in an inner join."""
        return self._store is not None

    def advance(self, timestamp_ms: int) -> int:
        """Notes a record's timestamp and returns the stream time."""
        stream_time_ms = max(self._times.get(self._clock, -1), timestamp_ms)
        self._times[self._clock] = stream_time_ms
        return stream_time_ms

    def advance_without_record(self, to_ms: int) -> None:
        stream_time_ms = self.advance(to_ms)
        self.emit_closed(stream_time_ms, min(self._windows.before_ms, self._windows.after_ms), NO_HEADERS)

    def hold(self, is_left: bool, key: bytes, value: bytes, timestamp_ms: int) -> None:
        assert self._store is not None
        self._times[self._oldest] = min(self._times.get(self._oldest, NEVER_MS), timestamp_ms)
        place = _PLACE.pack(timestamp_ms, is_left) + key
        before = self._store.get(place)
        waiting = unpack_frames(before[0]) if before else []
        self._store.put(place, pack_frames([*waiting, value]), timestamp_ms)

    def matched(self, is_left: bool, key: bytes, timestamp_ms: int) -> None:
        """A match has come: the record of this time no longer waits."""
        if self._store is not None:
            place = _PLACE.pack(timestamp_ms, is_left) + key
            if self._store.get(place) is not None:
                self._store.put(place, None, 0)

    def emit_closed(self, stream_time_ms: int, look_back_ms: int, headers: Headers) -> None:
        """Emits the records whose windows have closed."""
        store, times, windows = self._store, self._times, self._windows
        if (
            store is None
            or times.get(self._oldest, NEVER_MS) + look_back_ms + windows.grace_ms >= stream_time_ms
        ):
            return
        times[self._oldest] = NEVER_MS
        left_open = right_open = False
        for place, (values, _) in store.range():
            timestamp_ms, is_left = _PLACE.unpack_from(place)
            times[self._oldest] = timestamp_ms
            if left_open and right_open:
                return
            reach_ms = windows.after_ms if is_left else windows.before_ms
            if timestamp_ms + reach_ms + windows.grace_ms >= stream_time_ms:
                left_open, right_open = left_open or is_left, right_open or not is_left
                continue
            self._tell(place[_PLACE.size :], is_left, values, timestamp_ms, headers)
            store.put(place, None, 0)

    def _tell(
        self, stored_key: bytes, is_left: bool, values: bytes, timestamp_ms: int, headers: Headers
    ) -> None:
        key = self._decode_key(stored_key)
        for stored in unpack_frames(values):
            held = HeldRecord(stored_key, stored, timestamp_ms, headers)
            self._wiring.let_go(self._node, held, self._tell_one, key, stored, is_left, timestamp_ms, headers)

    def _tell_one(self, key: Any, stored: bytes, is_left: bool, timestamp_ms: int, headers: Headers) -> None:
        if is_left:
            result = self._join(key, self._decode_left(stored), None)
        else:
            result = self._join(key, None, self._decode_right(stored))
        self._forward(key, result, timestamp_ms, headers)


@builds(StreamJoin)
def stream_join(node: StreamJoin, wiring: Wiring) -> list[Push]:
    join = with_key(node.joiner, node.with_key)
    unmatched = _Unmatched(node, wiring, join)
    wiring.at_time(node, unmatched.advance_without_record, holds_back=unmatched.waits)
    return [
        _side(node, wiring, join, unmatched, is_left=True),
        _side(node, wiring, join, unmatched, is_left=False),
    ]


def _side(node: StreamJoin, wiring: Wiring, join: Join, unmatched: _Unmatched, *, is_left: bool) -> Push:
    windows, forward = node.windows, wiring.downstream(node)
    if is_left:
        spec, other_spec = node.left_store, node.right_store
        before_ms, after_ms = windows.before_ms, windows.after_ms
        outer = node.kind is not JoinKind.INNER
    else:
        spec, other_spec = node.right_store, node.left_store
        before_ms, after_ms = windows.after_ms, windows.before_ms
        outer = node.kind is JoinKind.OUTER
    own: JoinStore = wiring.state.join(spec.name)
    other: JoinStore = wiring.state.join(other_spec.name)
    encode_key, encode, _ = wiring.store_codecs(spec)
    _, _, decode_other = wiring.store_codecs(other_spec)
    context = wiring.context

    def joined(key: Any, value: Any, other_value: Any) -> Any:
        return join(key, value, other_value) if is_left else join(key, other_value, value)

    def match(
        key: Any, stored_key: bytes, value: Any, stored: bytes, timestamp_ms: int, headers: Headers
    ) -> None:
        stream_time_ms = unmatched.advance(timestamp_ms)
        if timestamp_ms == stream_time_ms:
            unmatched.emit_closed(stream_time_ms, after_ms, headers)
        to_ms = max(0, timestamp_ms + after_ms)
        partners = other.fetch(stored_key, max(0, timestamp_ms - before_ms), to_ms)
        for partner_ms, partner in partners:
            unmatched.matched(not is_left, stored_key, partner_ms)
            forward(key, joined(key, value, decode_other(partner)), max(timestamp_ms, partner_ms), headers)
        if partners or not outer:
            return
        if windows.is_eager or to_ms < stream_time_ms:
            forward(key, joined(key, value, None), timestamp_ms, headers)
        else:
            unmatched.hold(is_left, stored_key, stored, timestamp_ms)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key is None or value is None:
            unmatched.advance(timestamp_ms)
            if outer and value is not None:
                forward(key, joined(key, value, None), timestamp_ms, headers)
            else:
                context.outputs.drop(node.name, NULL_VALUE if value is None else NULL_KEY)
            return
        stored_key, stored = encode_key(key) or b"", encode(value) or b""
        match(key, stored_key, value, stored, timestamp_ms, headers)
        if not own.put(stored_key, stored, timestamp_ms):
            context.outputs.drop(node.name, LATE, (own.stream_time_ms or 0) - timestamp_ms)

    return push


def with_key(joiner: Callable[..., Any], takes_key: bool) -> Join:
    return joiner if takes_key else lambda key, left, right: joiner(left, right)
