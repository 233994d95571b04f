"""What a query makes of what: enough to define its stream or table.

It is logged with the statement. A function of the user may be missing or another one when the log is read again, and
then the statement still defines the same, on every server. Whether the query can run is seen when it starts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.sql.analysis.inputs import find
from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.walking import parts
from moldau.pipeline.sql.definitions import KeyWindow, SourceInfo
from moldau.pipeline.sql.engine.rules.logged import Logged
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse_type
from moldau.pipeline.sql.syntax.tree.expressions import Call, Expression
from moldau.pipeline.sql.syntax.tree.relations import AllFields, OneColumn, Query
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import Column, Schema


@dataclass(frozen=True, slots=True)
class Outline:
    kind: Kind
    schema: Schema
    window: KeyWindow | None
    inputs: tuple[SourceInfo, ...]
    """In the order in which they are read."""
    plan: QueryPlan | None = None
    """None: it was logged, and the functions of the user were not asked for."""


def plan_of(query: Query, on: Logged) -> QueryPlan:
    """Of a query that runs for good."""
    if query.limit is not None:
        hint = "A SELECT by itself can have it."
        raise SqlError("a query that fills a stream or table has no LIMIT", query.at, hint=hint)
    return analyse(query, on.defined.sources, on.library, on.defined.types, is_persistent=True)


def outline_of(query: Query, on: Logged) -> Outline:
    if on.outline is not None and calls_own_functions(query):
        return _logged_outline(query, on.outline, on)
    plan = on.plan or plan_of(query, on)
    inputs = tuple(one.source for one in plan.inputs)
    return Outline(plan.kind, plan.schema, plan.window, inputs, plan)


def outline_json(plan: QueryPlan) -> Mapping[str, Any]:
    return {
        "kind": plan.kind.value,
        "key": columns_json(plan.schema.key),
        "value": columns_json(plan.schema.value),
        "window": window_json(plan.window),
    }


def _logged_outline(query: Query, said: Mapping[str, Any], on: Logged) -> Outline:
    read = (query.source, *(join.right for join in query.joins))
    return Outline(
        Kind(said["kind"]),
        Schema(columns_of(said["key"]), columns_of(said["value"])),
        window_of(said["window"]),
        tuple(find(one, on.defined.sources) for one in read),
    )


def calls_own_functions(query: Query) -> bool:
    """Whether a function is called that is not of the language."""
    known = builtin()
    calls = (part for one in _written(query) for part in parts(one) if isinstance(part, Call))
    return any(known.find(call.name) is None for call in calls)


def _written(query: Query) -> Iterator[Expression]:
    for item in query.items:
        match item:
            case OneColumn(expression=expression):
                yield expression
            case AllFields(struct=struct):
                yield struct
    yield from (one for one in (query.where, query.having) if one is not None)
    yield from (*query.group_by, *query.partition_by, *(join.on for join in query.joins))


def columns_json(columns: Sequence[Column]) -> list[list[str]]:
    return [[column.name, str(column.type)] for column in columns]


def columns_of(said: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    return tuple(Column(name, parse_type(kind)) for name, kind in said)


def window_json(window: KeyWindow | None) -> list[Any] | None:
    return None if window is None else [window.kind, window.size_ms]


def window_of(said: Sequence[Any] | None) -> KeyWindow | None:
    return None if said is None else KeyWindow(said[0], said[1])
