"""Joins of a stream with a table: the table of the same partition, or a global table.

A change of the table emits nothing; only later stream records see it. A table that keeps its history is read as of the
record's timestamp. With a grace period, records wait for late rows.
"""

import struct
from collections.abc import Callable
from typing import Any

from moldau.pipeline.operators.history import history_getter
from moldau.pipeline.operators.joins.stream_joins import with_key
from moldau.pipeline.operators.records import NULL_KEY, NULL_VALUE, Headers
from moldau.pipeline.operators.verdicts import HeldRecord
from moldau.pipeline.operators.wiring import Push, Wiring, builds, of_record
from moldau.pipeline.plan.nodes import JoinKind, StreamGlobalJoin, StreamTableJoin, history_of
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.serdes.framing import pack_frames, unpack_frames

_TIME = struct.Struct(">q")
_NUMBER = struct.Struct(">I")
NUMBERS_MAX = 0x7FFFFFFF


@builds(StreamTableJoin)
def stream_table_join(node: StreamTableJoin, wiring: Wiring) -> list[Push]:
    join = _joining(node, wiring)
    return [join if node.buffer is None else _Waiting(node, node.buffer, wiring, join).take]


def _joining(node: StreamTableJoin, wiring: Wiring) -> Push:
    """Joins a record with the table's current row, or the row at the record's timestamp if the table keeps its history.
    A left join keeps a record without a key (KIP-962). A null value is never joined."""
    forward = wiring.downstream(node)
    joiner, takes_key, left = node.joiner, node.with_key, node.kind is JoinKind.LEFT
    context = wiring.context
    of_its_time = history_of(node.table, wiring.topology) is not None
    lookup: Callable[..., tuple[Any, int] | None] = (
        history_getter(node.table, wiring) if of_its_time else wiring.getter(node.table)
    )

    def join(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if value is None or (key is None and not left):
            context.outputs.drop(node.name, NULL_VALUE if value is None else NULL_KEY)
            return
        found = None
        if key is not None:
            found = lookup(key, timestamp_ms) if of_its_time else lookup(key)
        if found is not None:
            other = found[0]
        elif left:
            other = None
        else:
            return
        result = joiner(key, value, other) if takes_key else joiner(value, other)
        forward(key, result, timestamp_ms, headers)

    return join


class _Waiting:
    """Records that wait until their grace has passed, in the order of their timestamps. A later record is joined at
    once."""

    def __init__(self, node: StreamTableJoin, buffer: StoreSpec, wiring: Wiring, join: Push) -> None:
        self._node = node
        self._wiring = wiring
        self._grace_ms = node.grace_ms
        self._join = join
        self._times = wiring.state.times
        self._clock, self._count = f"join {node.name}", f"records {node.name}"
        self._store = wiring.state.key_value(buffer.name)
        self._encode_key, self._encode, self._decode = wiring.store_codecs(buffer)
        assert buffer.key_serde is not None
        self._decode_key = buffer.key_serde.decoder(buffer.name, is_key=True)

        wiring.at_time(node, self._advance, holds_back=True)

    def _advance(self, to_ms: int) -> None:
        self._release(self._wiring.move_clock(self._clock, to_ms) - self._grace_ms)

    def take(self, key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        stream_time_ms = self._times.get(self._clock, -1)
        if key is None or value is None or timestamp_ms < stream_time_ms - self._grace_ms:
            self._join(key, value, timestamp_ms, headers)
            return
        stream_time_ms = self._times[self._clock] = max(stream_time_ms, timestamp_ms)
        number = self._times[self._count] = (self._times.get(self._count, 0) + 1) & NUMBERS_MAX
        place = _TIME.pack(timestamp_ms) + (self._encode_key(key) or b"") + _NUMBER.pack(number)
        named = [part for name, content in headers for part in (name.encode(), content)]
        self._store.put(place, pack_frames([self._encode(value), *named]), timestamp_ms)
        self._release(stream_time_ms - self._grace_ms)

    def _release(self, until_ms: int) -> None:
        if until_ms < 0:
            return
        for place, (stored, timestamp_ms) in self._store.range(None, _TIME.pack(until_ms + 1)):
            value, *named = unpack_frames(stored)
            headers = tuple(
                ((name or b"").decode(), content)
                for name, content in zip(named[::2], named[1::2], strict=True)
            )
            self._store.put(place, None, timestamp_ms)
            stored_key = place[_TIME.size : -_NUMBER.size]
            held = HeldRecord(stored_key, value, timestamp_ms, headers)
            key = self._decode_key(stored_key)
            self._wiring.let_go(self._node, held, self._join, key, self._decode(value), timestamp_ms, headers)


@builds(StreamGlobalJoin)
def stream_global_join(node: StreamGlobalJoin, wiring: Wiring) -> list[Push]:
    forward, lookup = wiring.downstream(node), wiring.getter(node.table)
    key_of, join, left = (
        of_record(node.selector),
        with_key(node.joiner, node.with_key),
        node.kind is JoinKind.LEFT,
    )

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if value is None:
            wiring.context.outputs.drop(node.name, NULL_VALUE)
            return
        foreign = key_of(key, value, timestamp_ms)
        found = None if foreign is None else lookup(foreign)
        if found is None and not left:
            if foreign is None:
                wiring.context.outputs.drop(node.name, NULL_KEY)
            return
        forward(key, join(key, value, None if found is None else found[0]), timestamp_ms, headers)

    return [push]
