"""The steps of a query's plan in words, one for each line."""

from collections.abc import Iterator
from typing import Final

from moldau.pipeline.sql.analysis.plan import Grouping, Input, JoinStep, JoinWithin, QueryPlan
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.syntax.printing import expression_text
from moldau.pipeline.sql.syntax.tree.expressions import Expression
from moldau.pipeline.sql.syntax.tree.relations import UNIT_MS, OneColumn, Query
from moldau.pipeline.sql.types import quoted

_UNITS: Final = sorted(UNIT_MS.items(), key=lambda unit: -unit[1])
_STAYS: Final = "the records have this key already, so none is moved"
_MOVES: Final = "the records have another key, so they are moved to the partition of the new one"


def steps(query: Query, plan: QueryPlan, sink: SourceInfo | None) -> list[str]:
    """Numbered; `sink` is None of a query whose rows go to the client."""
    return [f"{number}. {text}." for number, text in enumerate(_steps(query, plan, sink), 1)]


def _steps(query: Query, plan: QueryPlan, sink: SourceInfo | None) -> Iterator[str]:
    yield _read(plan.first)
    for step, join in zip(plan.joins, query.joins, strict=True):
        yield _read(step.right)
        yield _joined(step, expression_text(join.on))
    if query.where is not None:
        yield f"Keep the rows where {expression_text(query.where)}"
    if plan.explosion is not None:
        calls = ", ".join(text for _, text in plan.explosion.calls)
        yield f"Make a row of each element of {calls}"
    if plan.grouping is not None:
        yield from _grouped(query, plan, plan.grouping)
    if plan.partition_by is not None:
        keys = ", ".join(map(expression_text, query.partition_by)) if plan.partition_by else "none"
        yield f"Give each record a new key: {keys}"
    yield f"Compute {_columns(query, plan, sink)}"
    if query.limit is not None:
        yield f"End after {query.limit} rows"
    yield _written(plan, sink)


def _read(one: Input) -> str:
    source = one.source
    name = (
        quoted(source.name) if one.alias == source.name else f"{quoted(source.name)} as {quoted(one.alias)}"
    )
    text = f"Read {source.kind.value.lower()} {name} from topic {source.topic}, {_formats(source)}"
    if source.timestamp_column is not None:
        text += f", with the time of column {quoted(source.timestamp_column)}"
    return text


def _formats(source: SourceInfo) -> str:
    return f"key {source.key_format}, value {source.value_format}"


def _joined(step: JoinStep, condition: str) -> str:
    kind = step.kind.value.removesuffix(" OUTER")
    text = f"Join ({kind}) where {condition}"
    if step.within is not None:
        text += _within(step.within)
    if step.is_foreign_key:
        return f"{text}; the left side has the other table's key in a column, so keys are sent to it and rows back"
    moved = [side for side, key in (("left", step.left_key), ("right", step.right_key)) if key is not None]
    if not moved:
        return f"{text}; both sides have this key, so no record is moved"
    sides = "both sides do" if len(moved) == 2 else f"the {moved[0]} side does"
    return f"{text}; {sides} not have this key, so records are moved to the partition of the new key"


def _within(within: JoinWithin) -> str:
    text = f", at most {duration_text(within.before_ms)} before and {duration_text(within.after_ms)} after"
    if within.grace_ms is None:
        return text + ", rows without a partner at once"
    return text + f", with {duration_text(within.grace_ms)} of grace"


def _grouped(query: Query, plan: QueryPlan, grouping: Grouping) -> Iterator[str]:
    keys = ", ".join(map(expression_text, query.group_by))
    yield f"Group by {keys}; {_STAYS if grouping.is_by_record_key else _MOVES}"
    window = grouping.window
    if window is not None:
        size = duration_text(window.key_window.size_ms)
        match window.key_window.kind:
            case "SESSION":
                gap = duration_text(query.window.size.ms) if query.window else ""
                text = f"sessions that end after {gap} without a record"
            case "HOPPING":
                text = f"hopping windows of {size}, one every {duration_text(window.advance_ms)}"
            case _:
                text = f"tumbling windows of {size}"
        grace, kept = duration_text(window.grace_ms), duration_text(window.retention_ms)
        yield f"Divide each group into {text}; late records count for {grace} after the end, state is kept for {kept}"
    calls = ", ".join(dict.fromkeys(call.text for call in grouping.calls))
    yield f"Aggregate with {calls}" if calls else "Keep the groups"
    if plan.is_final:
        yield "Hold each window back until it has closed (EMIT FINAL)"
    if query.having is not None:
        yield f"Keep the groups where {expression_text(query.having)}"


def _columns(query: Query, plan: QueryPlan, sink: SourceInfo | None) -> str:
    """Rows for a client have the key's columns only where the SELECT has them: they are among the values then."""
    named = [item for item in query.items if isinstance(item, OneColumn)]
    if len(named) != len(query.items):
        shown = plan.schema if sink is not None else plan.schema.value
        return ", ".join(quoted(one.name) for one in shown)
    return ", ".join(_item(item.expression, item.alias) for item in named)


def _item(expression: Expression, alias: str | None) -> str:
    text = expression_text(expression)
    return text if alias is None or quoted(alias) == text else f"{quoted(alias)} = {text}"


def _written(plan: QueryPlan, sink: SourceInfo | None) -> str:
    if sink is None:
        return "Send the rows to the client"
    kind = plan.kind.value.lower()
    return f"Write {kind} {quoted(sink.name)} to topic {sink.topic}, {_formats(sink)}"


def duration_text(ms: int) -> str:
    """`1 DAY 30 SECONDS`"""
    parts = []
    for unit, unit_ms in _UNITS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append(f"{count} {unit.removesuffix('S') if count == 1 else unit}")
    return " ".join(parts) or "0 MILLISECONDS"
