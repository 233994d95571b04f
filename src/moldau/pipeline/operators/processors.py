"""Processors of the user: their interface, and the node that runs one.

A processor is any object with `process(record)`; `init(context)` and `close()` are optional. A function of (record,
context) works too. It emits results with `context.forward(record)`. Stores use the serdes that they were declared with.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.records import EXPIRED, Headers
from moldau.pipeline.operators.stores.views import view_of
from moldau.pipeline.operators.timers import PunctuationType, Schedule
from moldau.pipeline.operators.wiring import Push, Wiring, builds
from moldau.pipeline.plan.nodes import Process


@dataclass(frozen=True, slots=True)
class Record:
    """What a processor receives and forwards."""

    key: Any
    value: Any
    timestamp_ms: int
    headers: Headers = ()

    def with_key(self, key: Any) -> "Record":
        return replace(self, key=key)

    def with_value(self, value: Any) -> "Record":
        return replace(self, value=value)

    def with_timestamp(self, timestamp_ms: int) -> "Record":
        return replace(self, timestamp_ms=timestamp_ms)

    def with_headers(self, headers: Headers) -> "Record":
        return replace(self, headers=headers)


class ProcessorContext:
    """What a processor can do in its task."""

    def __init__(self, node: str, stores: tuple[str, ...], wiring: Wiring) -> None:
        self._node = node
        self._stores = stores
        self._wiring = wiring
        self._forward: Push | None = None
        self._children: dict[str, Push] = {}

    def forward(self, record: Record, child: str | None = None) -> None:
        """Emits a record to all following operators, or to the one named `child`."""
        push = self._forward if child is None else self._children.get(child)
        if push is None:
            raise ConfigError(
                f"{self._node} cannot forward to {child!r}: what follows it is {sorted(self._children)}"
            )
        push(record.key, record.value, record.timestamp_ms, record.headers)

    def store(self, name: str) -> Any:
        """The state store with this name, which must be connected to the processor or belong to a global table."""
        wiring = self._wiring
        if name in wiring.state.global_stores or name in self._stores:
            seen = view_of(wiring.topology.stores[name], wiring)
            seen.count_expired(self._count_expired)
            return seen
        raise ConfigError(
            f"{wiring.topology[self._node].where}: {self._node} asks for the store {name!r}, which it is not connected "
            f"to; it has {sorted(self._stores)}. Name the store in stores=[...]"
        )

    def _count_expired(self, late_ms: int) -> None:
        self._wiring.context.outputs.drop(self._node, EXPIRED, late_ms)

    def schedule(self, interval_ms: int, kind: PunctuationType, callback: Callable[[int], None]) -> Schedule:
        """Calls `callback(timestamp_ms)` every interval of stream time or wall-clock time."""
        wiring = self._wiring
        now_ms = wiring.context.wall_clock_ms
        return wiring.timers.schedule(self._node, interval_ms, kind, callback, now_ms)

    @property
    def topic(self) -> str:
        return self._wiring.context.topic

    @property
    def partition(self) -> int:
        return self._wiring.context.record_partition

    @property
    def offset(self) -> int:
        return self._wiring.context.offset

    @property
    def task_partition(self) -> int:
        return self._wiring.context.partition

    @property
    def stream_time_ms(self) -> int:
        """The highest timestamp the task has seen; -1 before the first record."""
        return self._wiring.context.stream_time_ms

    @property
    def wall_clock_ms(self) -> int:
        return self._wiring.context.wall_clock_ms

    def connect(self, forward: Push, children: dict[str, Push]) -> None:
        """Sets where results go. Called once, by the node."""
        self._forward = forward
        self._children = children


@builds(Process)
def process(node: Process, wiring: Wiring) -> list[Push]:
    context = ProcessorContext(node.name, node.uses, wiring)
    children = {child.name: wiring.inputs(child.name)[0] for child in wiring.children(node)}
    forward = wiring.downstream(node)
    context.connect(_same_key(forward, wiring) if node.values_only else forward, children)
    run = _runner(node, context, wiring)
    now = wiring.context

    if not node.values_only:
        return [
            lambda key, value, timestamp_ms, headers: run(Record(key, value, timestamp_ms, headers))
        ] * len(node.parents)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        now.current_key = key
        run(Record(key, value, timestamp_ms, headers))

    return [push]


def _runner(node: Process, context: ProcessorContext, wiring: Wiring) -> Callable[[Record], None]:
    processor = node.supplier()
    if not hasattr(processor, "process"):
        raise ConfigError(f"{node.name} ({node.where}): {processor!r} has no process(record)")
    if hasattr(processor, "init"):
        wiring.at_start(node, lambda: processor.init(context))
    run: Callable[[Record], None] = processor.process
    return run


def _same_key(forward: Push, wiring: Wiring) -> Push:
    """A processor of values keeps the key that it received (KIP-820), so its output needs no repartitioning."""
    context = wiring.context

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if key != context.current_key:
            raise ConfigError(
                f"process_values may not change the key ({context.current_key!r} to {key!r}): use process"
            )
        forward(key, value, timestamp_ms, headers)

    return push
