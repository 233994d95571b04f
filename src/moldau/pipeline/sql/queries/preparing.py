"""From the text of a SELECT to `Prepared`. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Final

from moldau.pipeline.sql.analysis.inputs import ROW_PLACE, find
from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.scope import WINDOW_BOUNDS, FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.functions.library import Library
from moldau.pipeline.sql.queries.lookup import TableLookup, is_all_of_the_key, keys_asked
from moldau.pipeline.sql.queries.prepared import SCAN_SETTING, Definitions, Prepared, PullSettings, QueryKind
from moldau.pipeline.sql.queries.row_stream import ResultColumn
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.expressions import Call, ColumnName
from moldau.pipeline.sql.syntax.tree.relations import AllColumns, OneColumn, Query, SelectItem
from moldau.pipeline.sql.syntax.tree.statements import QueryStatement
from moldau.pipeline.sql.translation.row import Condition, OnFailure, Row, log_failure

PUSH_HINT: Final = "EMIT CHANGES at the end makes it a push query, which may have one. "


def parsed_query(text: str) -> Query:
    """The one SELECT of a text."""
    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0].statement, QueryStatement):
        raise SqlError("expected one SELECT", hint="Statements that define something go to /ksql.")
    return statements[0].statement.query


def prepared(
    query: Query,
    definitions: Definitions,
    settings: PullSettings,
    on_failure: OnFailure = log_failure,
) -> Prepared:
    """SqlError: the query has no meaning, or is not possible as a pull query."""
    sources = definitions.sources
    is_pull = query.emit is None
    if is_pull:
        _check_pull(query, find(query.source, sources))
    written = _with_window_bounds(query, sources)
    plan = analyse(written, sources, definitions.functions, definitions.types, is_persistent=False)
    columns = _columns(plan)
    calls_user = is_user_called(query, definitions.functions)
    if not is_pull:
        return Prepared(QueryKind.PUSH, plan, columns, calls_user=calls_user)
    if not plan.first.source.is_table:
        return Prepared(QueryKind.PULL_STREAM, plan, columns, calls_user=calls_user)
    lookup = _lookup(query, plan, definitions, settings, on_failure)
    return Prepared(QueryKind.PULL_TABLE, plan, columns, lookup, calls_user)


def is_user_called(part: object, functions: FunctionLibrary) -> bool:
    """Whether a statement, or a part of one, calls a function of the user, which may block."""
    return isinstance(functions, Library) and any(functions.is_user(name) for name in _called(part))


def _called(part: object) -> Iterator[str]:
    """The names of all functions in a part of a statement."""
    if isinstance(part, Call):
        yield part.name
    if isinstance(part, tuple):
        for one in part:
            yield from _called(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _called(getattr(part, field.name))


def _check_pull(query: Query, source: SourceInfo) -> None:
    """What only a query that keeps running can do is refused, with the way out."""
    clauses = (
        ("JOIN", query.joins and query.joins[0]),
        ("WINDOW", query.window),
        ("GROUP BY", query.group_by and query.group_by[0]),
        ("PARTITION BY", query.partition_by and query.partition_by[0]),
        ("HAVING", query.having),
    )
    for name, clause in clauses:
        if clause:
            hint = f"{PUSH_HINT}To ask for the result by key, keep it: CREATE TABLE ... AS SELECT ..."
            raise SqlError(f"a pull query has no {name}", clause.at, hint=hint)
    if source.is_table and not source.schema.key:
        raise SqlError(f"the table {source.name} has no key, so it cannot be asked", query.source.at)


def _with_window_bounds(query: Query, sources: Mapping[str, SourceInfo]) -> Query:
    """`*` of a windowed source has the window's bounds behind the key: without them its rows look alike."""
    source = sources.get(query.source.name)
    if source is None or source.window is None or query.joins or query.group_by:
        return query
    names = [
        *(column.name for column in source.schema.key),
        *WINDOW_BOUNDS,
        *(column.name for column in source.schema.value),
    ]
    items: list[SelectItem] = []
    for item in query.items:
        if isinstance(item, AllColumns) and item.source in (None, query.source.known_as):
            items += [OneColumn(ColumnName(name, item.source, at=item.at), at=item.at) for name in names]
        else:
            items.append(item)
    return replace(query, items=tuple(items))


def _columns(plan: QueryPlan) -> tuple[ResultColumn, ...]:
    keys = {one.column for one in plan.key}
    return tuple(
        ResultColumn(one.column.name, one.column.type, is_key=one.column in keys) for one in plan.value
    )


def _lookup(
    query: Query, plan: QueryPlan, definitions: Definitions, settings: PullSettings, on_failure: OnFailure
) -> TableLookup:
    place = next((name for name in plan.first.metadata if name in ROW_PLACE), None)
    if place is not None:
        raise SqlError(f"a pull query of a table has no {place}: rows of tables have no place", query.at)
    keys = keys_asked(query.where, plan.first.source, definitions.functions)
    if keys is None and not settings.allows_scan:
        names = " and ".join(column.name for column in plan.first.source.schema.key)
        raise SqlError(
            f"the query has to scan the whole table {plan.first.source.name}, which {SCAN_SETTING} forbids",
            query.source.at if query.where is None else query.where.at,
            hint=f"Ask by key (WHERE {names} = ...), or SET '{SCAN_SETTING}'='true';",
        )
    where = None
    if plan.where is not None and (keys is None or not is_all_of_the_key(query.where, plan.first.source)):
        where = Condition(plan.where, "WHERE", on_failure).evaluator()
    codes = tuple(one.code for one in plan.value if one.code is not None)
    row = Row(codes, tuple(one.column.name for one in plan.value), on_failure).evaluator()
    return TableLookup(keys, where, row)
