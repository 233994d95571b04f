"""Nodes that fold a grouped stream into a table."""

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
    """A grouped stream folded into a table: `adder(key, value, aggregate)`; with `initializer` None it is a reduce,
    `adder(aggregate, value)`, whose first value starts it. `summary` names a known aggregate (count, sum...)
    which a host may compute natively; `column` is what it takes."""

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
    """`merger(key, one, other)` joins two sessions; None for a reduce, whose adder does it."""

    windows: SessionWindows
    merger: Function | None
    emit: EmitWhen = EmitWhen.UPDATE
    label: ClassVar[str] = "session-aggregate"
