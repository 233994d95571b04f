"""GROUP BY: which aggregates a query computes, over what, in which windows."""

from collections.abc import Sequence
from dataclasses import dataclass

from moldau.core.errors import ConfigError
from moldau.pipeline.code.tree import Apply, Code, Constant, Operation
from moldau.pipeline.plan.windows import TimeWindows
from moldau.pipeline.sql.analysis.plan import AggregateCall, GroupWindow
from moldau.pipeline.sql.analysis.scope import VALUE, QueryScope, read
from moldau.pipeline.sql.analysis.walking import children, parts
from moldau.pipeline.sql.definitions import KeyWindow
from moldau.pipeline.sql.expressions.calls import best_form, result_type, substituted
from moldau.pipeline.sql.expressions.operators import to_type
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.functions.declaration import Aggregate, AggregateForm
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.syntax.tree.relations import Window

GRACE_MS = 24 * 3_600_000
"""Where a window says nothing else."""
WINDOWS_PER_RECORD_MAX = 10_000
"""Each has a row of its own to fold the record into."""


@dataclass(frozen=True, slots=True)
class FoundCall:
    written: tree.Call
    call: AggregateCall
    value: Typed
    """The result, read from the row of states."""


def aggregate_calls(
    expressions: Sequence[tree.Expression], scope: QueryScope, *, of_table: bool
) -> list[FoundCall]:
    """All aggregates in the expressions, each once, typed in the scope before the grouping."""
    found: dict[tree.Expression, FoundCall] = {}
    for expression in expressions:
        for part in parts(expression):
            if (
                isinstance(part, tree.Call)
                and part not in found
                and isinstance(scope.functions.find(part.name), Aggregate)
            ):
                found[part] = _found(part, scope, len(found), of_table=of_table)
    return list(found.values())


def has_aggregate(expression: tree.Expression, scope: QueryScope) -> bool:
    return any(
        isinstance(part, tree.Call) and isinstance(scope.functions.find(part.name), Aggregate)
        for part in parts(expression)
    )


def _found(call: tree.Call, scope: QueryScope, index: int, *, of_table: bool) -> FoundCall:
    function = scope.function(call)
    assert isinstance(function, Aggregate)
    for inner in children(call):
        if has_aggregate(inner, scope):
            raise SqlError(f"an aggregate cannot stand inside the aggregate {call.name}", inner.at)
    given = [typed(argument, scope) for argument in call.arguments]
    if call.is_star:
        given = []
    form, fit = best_form(call.name, function.forms, given, call.at)
    assert isinstance(form, AggregateForm)
    arguments = []
    for parameter, one in zip(fit.parameters, given, strict=True):
        kind = substituted(parameter.type, fit.bindings)
        arguments.append(one if kind is None or one.type is None else to_type(one, kind))
    types = [one.type for one in arguments]
    constants = _constants(call, form, arguments)
    try:
        folding = form.bind([kind for kind in types if kind is not None], constants)
    except ValueError as wrong:
        raise SqlError(f"{call.name}: {wrong}", call.at) from None
    if of_table and folding.remove is None:
        hint = "COUNT, SUM, AVG and COLLECT_LIST can."
        raise SqlError(
            f"{call.name} cannot take a row back, which GROUP BY over a table needs", call.at, hint=hint
        )
    kind = result_type(form.result, types, fit.bindings, call.name, call.at)
    operation = Operation(call.name, function=folding.result, takes_null=True)
    made = AggregateCall(call.name, folding, tuple(one.code for one in arguments), kind)
    return FoundCall(call, made, Typed(kind, Apply(operation, (read(VALUE, index),))))


def _constants(call: tree.Call, form: AggregateForm, arguments: Sequence[Typed]) -> list[object]:
    found: list[object] = []
    first = len(arguments) if form.constants_from is None else form.constants_from
    first = first if first >= 0 else len(arguments) + first
    for index, one in enumerate(arguments):
        is_wanted = index >= first
        if is_wanted and not isinstance(one.code, Constant):
            raise SqlError(
                f"argument {index + 1} of {call.name} must be a constant", call.arguments[index].at
            )
        found.append(one.code.value if is_wanted and isinstance(one.code, Constant) else None)
    return found


def group_window(window: Window) -> GroupWindow:
    size_ms, grace_ms = window.size.ms, GRACE_MS if window.grace is None else window.grace.ms
    advance_ms = size_ms if window.advance is None else window.advance.ms
    if window.kind == "SESSION":
        if size_ms <= 0:
            raise SqlError("the gap of a session window must be longer than 0", window.at)
    else:
        try:
            TimeWindows(size_ms, advance_ms, grace_ms)
        except ConfigError as wrong:
            raise SqlError(str(wrong).partition(": ")[2] or str(wrong), window.at) from None
    retention_ms = size_ms + grace_ms
    if window.retention is not None:
        if window.retention.ms < retention_ms and window.grace is not None:
            raise SqlError(
                "the RETENTION is shorter than the window and its GRACE PERIOD", window.retention.at
            )
        grace_ms = min(grace_ms, max(0, window.retention.ms - size_ms))
        retention_ms = window.retention.ms
    _check_count(window, size_ms, advance_ms)
    key_window = KeyWindow(window.kind, 0 if window.kind == "SESSION" else size_ms)
    return GroupWindow(key_window, advance_ms, grace_ms, retention_ms)


def _check_count(window: Window, size_ms: int, advance_ms: int) -> None:
    count = -(-size_ms // advance_ms)
    if window.advance is not None and count > WINDOWS_PER_RECORD_MAX:
        raise SqlError(
            f"each record would belong to {count:,} windows of this HOPPING window; the limit is "
            f"{WINDOWS_PER_RECORD_MAX:,}",
            window.advance.at,
            hint=f"Make SIZE shorter or ADVANCE longer: SIZE may be at most {WINDOWS_PER_RECORD_MAX:,} times ADVANCE.",
        )


def arguments_row(calls: Sequence[AggregateCall]) -> tuple[tuple[Code, ...], tuple[int, ...]]:
    """All arguments one after the other, and how many belong to each call."""
    return (
        tuple(code for call in calls for code in call.arguments),
        tuple(len(call.arguments) for call in calls),
    )
