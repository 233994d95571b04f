"""CREATE OR REPLACE: what may change while the data and the state of a query stay.

As in ksqlDB: conditions and columns may change, columns are added at the end; what decides over the state of a query
may not.
"""

from collections.abc import Sequence

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.formats import without_registry
from moldau.pipeline.sql.engine.rules.logged import Logged
from moldau.pipeline.sql.engine.rules.outline import Outline, calls_own_functions
from moldau.pipeline.sql.engine.rules.topologies import topology_that_runs
from moldau.pipeline.sql.engine.state import Definitions, PersistentQuery
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect
from moldau.pipeline.sql.types import Column, Schema


def check_source_replacement(
    old: SourceInfo, new: SourceInfo, defined: Definitions, at: Position, *, is_query: bool = False
) -> None:
    """SqlError where the records that are there would no longer fit."""
    running = defined.own_query(old.name)
    if running is not None and not is_query:
        raise _refused(old, f"it is filled by the query {running.id}", at, defined)
    differences = {
        "its kind": old.kind is not new.kind,
        "its topic": old.topic != new.topic,
        "its key format": without_registry(old.key_format) != without_registry(new.key_format),
        "its value format": without_registry(old.value_format) != without_registry(new.value_format),
        "the window of its key": old.window != new.window,
        "its TIMESTAMP": (old.timestamp_column, old.timestamp_format)
        != (new.timestamp_column, new.timestamp_format),
        "whether it is a SOURCE": old.is_read_only != new.is_read_only,
        "its header columns": old.headers != new.headers,
    }
    for what, differs in differences.items():
        if differs:
            raise _refused(old, f"{what} would change", at, defined)
    if old.schema.key != new.schema.key:
        raise _refused(old, f"its key would change: it is {_listed(old.schema.key)}", at, defined)
    kept = new.schema.value[: len(old.schema.value)]
    if kept != old.schema.value:
        changed = [column for column in old.schema.value if column not in kept]
        moved = changed or old.schema.value
        raise _refused(
            old,
            f"columns would be missing, moved or of another type: {_listed(moved)}; "
            "columns can only be added, at the end",
            at,
            defined,
        )


def check_query_replacement(
    running: PersistentQuery, query: Query, outline: Outline, new: SourceInfo, on: Logged, at: Position
) -> None:
    """SqlError where the state of the running query would not fit the new one."""
    old = _query_of(running)
    differences = {
        "what it reads (FROM)": old.source != query.source,
        "its joins": old.joins != query.joins,
        "its WINDOW": old.window != query.window,
        "its GROUP BY": old.group_by != query.group_by,
        "its PARTITION BY": old.partition_by != query.partition_by,
        "its EMIT": old.emit != query.emit and outline.window is not None,
    }
    changed = [what for what, differs in differences.items() if differs]
    if not changed:
        changed = _plan_differences(running, old, query, outline, new, on)
    if changed:
        reason = f"{' and '.join(changed)} would change, and the query's state would not fit"
        target = on.defined.sources[running.sink]
        raise _refused(target, reason, at, on.defined)


def _plan_differences(
    running: PersistentQuery, old: Query, query: Query, outline: Outline, new: SourceInfo, on: Logged
) -> list[str]:
    """Seen when the statement is decided. When it is replayed, functions of the user may be missing."""
    if on.outline is not None and (calls_own_functions(old) or calls_own_functions(query)):
        return []
    assert outline.plan is not None
    before = {one.name: one for one in running.inputs}
    earlier = analyse(old, before, on.library, running.types, is_persistent=True)
    return _state_differences(earlier, outline.plan) or _name_differences(running, earlier, outline.plan, new)


def _state_differences(old: QueryPlan, new: QueryPlan) -> list[str]:
    found = []
    old_calls = [] if old.grouping is None else [(one.text, one.result) for one in old.grouping.calls]
    new_calls = [] if new.grouping is None else [(one.text, one.result) for one in new.grouping.calls]
    if old_calls != new_calls:
        found.append("its aggregates")
    if old.joins and _columns_read(old) != _columns_read(new):
        found.append("the columns of what it joins")
    return found


def _columns_read(plan: QueryPlan) -> list[tuple[Schema, object]]:
    return [(one.source.schema, one.metadata) for one in plan.inputs]


def _name_differences(
    running: PersistentQuery, earlier: QueryPlan, plan: QueryPlan, new: SourceInfo
) -> list[str]:
    """State is found again by the names of its stores and topics, and those follow from the steps before them."""
    assert running.target is not None
    old_topology = topology_that_runs(earlier, running.target, running.id)
    new_topology = topology_that_runs(plan, new, running.id)
    names = [(set(one.stores), one.internal_topics) for one in (old_topology, new_topology)]
    return [] if names[0] == names[1] else ["the steps before its state"]


def _query_of(running: PersistentQuery) -> Query:
    statement = parse(running.statement)[0].statement
    assert isinstance(statement, CreateAsSelect)
    return statement.query


def _refused(old: SourceInfo, reason: str, at: Position, defined: Definitions) -> SqlError:
    running = defined.own_query(old.name)
    terminate = "" if running is None else f"TERMINATE {running.id}; "
    hint = f"To start over: {terminate}DROP {old.kind} {old.name}; and then CREATE it again."
    return SqlError(f"{old.name} cannot be replaced: {reason}", at, hint=hint)


def _listed(columns: Sequence[Column]) -> str:
    return ", ".join(map(str, columns))
