"""Nodes that aggregate a grouped stream into a table."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes.node import Function, StoringNode
from moldau.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows


class EmitWhen(StrEnum):
    UPDATE = "on update"
    CLOSE = "on window close"


@dataclass(frozen=True, kw_only=True)
class Aggregate(StoringNode):
    """Aggregates a grouped stream: `adder(key, value, aggregate)`. With `initializer` None it is a reduce:
    `adder(aggregate, value)`, starting with the first value. `summary` names a known aggregate (count, sum...) that a
    host may compute natively, `column` is its input."""

    initializer: Function | None
    adder: Function
    send_old_values: bool = False
    summary: str = ""
    column: Expression | None = None
    label: ClassVar[str] = "aggregate"


@dataclass(frozen=True, kw_only=True)
class WindowAggregate(Aggregate):
    windows: TimeWindows | SlidingWindows
    emit: EmitWhen = EmitWhen.UPDATE
    label: ClassVar[str] = "window-aggregate"


@dataclass(frozen=True, kw_only=True)
class SessionAggregate(Aggregate):
    """`merger(key, one, other)` merges two sessions. None for a reduce, whose adder does it."""

    windows: SessionWindows
    merger: Function | None
    emit: EmitWhen = EmitWhen.UPDATE
    label: ClassVar[str] = "session-aggregate"
