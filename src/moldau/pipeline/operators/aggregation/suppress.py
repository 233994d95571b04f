"""Suppress: holds changes back until their window closes, or for a time span of stream time (KIP-328)."""

from typing import Any

from moldau.pipeline.operators.failures import TaskFailed
from moldau.pipeline.operators.records import Headers
from moldau.pipeline.operators.stores.buffer import BufferStore, Held
from moldau.pipeline.operators.verdicts import HeldRecord
from moldau.pipeline.operators.wiring import Getter, Push, Wiring, builds, looks_up
from moldau.pipeline.plan.nodes import Suppress


class BufferFull(TaskFailed):
    """A strict suppress buffer is full. This is not the last record's fault: the task stops."""


@builds(Suppress)
def suppress(node: Suppress, wiring: Wiring) -> list[Push]:
    forward = wiring.downstream(node)
    buffer = wiring.state.buffer(node.store.name)
    encode_key, encode, decode = wiring.store_codecs(node.store)
    assert node.store.key_serde is not None
    decode_key = node.store.key_serde.decoder(node.store.name, is_key=True)
    clock = f"suppress {node.name}"
    until_window_closes = node.until_ms is None
    wait_ms = node.grace_ms if node.until_ms is None else node.until_ms
    send_old = node.send_old_values

    def emit(held: Held) -> None:
        # A window that was created and removed before it closed was never emitted, so its removal is not either.
        if held.new is None and until_window_closes:
            return
        old = decode(held.old) if send_old else None
        record = HeldRecord(held.key, held.new, held.timestamp_ms, held.headers)
        key, new = decode_key(held.key), decode(held.new)
        wiring.let_go(node, record, forward, key, new, old, held.timestamp_ms, held.headers)

    def advance(to_ms: int) -> None:
        expired_ms = wiring.move_clock(clock, to_ms) - wait_ms
        while (oldest := buffer.oldest()) is not None and oldest.buffer_time_ms <= expired_ms:
            emit(buffer.release())

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        buffer_time_ms = key.end_ms if until_window_closes else timestamp_ms
        buffer.hold(encode_key(key) or b"", buffer_time_ms, encode(new), encode(old), timestamp_ms, headers)
        advance(timestamp_ms)
        if _over(node, buffer):
            _refuse_when_strict(node, buffer)
            while _over(node, buffer):
                emit(buffer.release())

    wiring.at_time(node, advance, holds_back=True)
    return [push]


def _over(node: Suppress, buffer: BufferStore) -> bool:
    too_many = node.records_max is not None and len(buffer) > node.records_max
    return too_many or (node.bytes_max is not None and buffer.bytes_held > node.bytes_max)


def _refuse_when_strict(node: Suppress, buffer: BufferStore) -> None:
    if node.when_full == "fail":
        raise BufferFull(
            f"{node.name} holds {len(buffer)} records, {buffer.bytes_held} bytes; it may hold {node.records_max} "
            f"records, {node.bytes_max} bytes. Give it more, or let it emit early"
        )


@looks_up(Suppress)
def suppress_getter(node: Suppress, wiring: Wiring) -> Getter:
    """The value that was emitted downstream: the one before the held change, else the parent's."""
    buffer = wiring.state.buffer(node.store.name)
    encode_key, _, decode = wiring.store_codecs(node.store)
    parent = wiring.getter(node.parents[0])

    def getter(key: Any) -> tuple[Any, int] | None:
        held = buffer.get(encode_key(key) or b"")
        if held is None:
            return parent(key)
        prior = decode(held.prior)
        return None if prior is None else (prior, -1)

    return getter
