"""EXPLAIN: what a query does step by step, where it runs and why, what it moves and what it keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.engine.answers import Explanation
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.changes import change_by
from moldau.pipeline.sql.engine.decision import Decision
from moldau.pipeline.sql.engine.facts import Facts
from moldau.pipeline.sql.engine.rules.logged import Logged
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.showing.plan_words import duration_text, steps
from moldau.pipeline.sql.engine.state import PersistentQuery
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tokens import tokenize
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.syntax.tree.statements import (
    CreateAsSelect,
    Explain,
    InsertSelect,
    QueryStatement,
    Statement,
)
from moldau.pipeline.sql.translation.query import topology_of
from moldau.pipeline.sql.types import Schema, SqlType

PYTHON_LANE: Final = (
    "Lane: Python. The expressions are compiled to Python functions and run in Spark's Python workers: 160,000 to "
    "170,000 records/s were measured there, and 67,000 to 100,000 for the same expressions in Spark's JVM."
)
PUSH_LANE: Final = (
    "Lane: this server. A push query tails the topics in the server's own process, without a Spark job."
)
PULL_LANE: Final = (
    "Lane: this server. A pull query is answered from what the server holds, without a Spark job."
)
CLIENT: Final = "client"
_JSON: Final = Format("JSON")


@dataclass(frozen=True, slots=True)
class _Explained:
    """A query with all that is known of it."""

    statement: str
    query: Query
    sources: Mapping[str, SourceInfo]
    types: Mapping[str, SqlType]
    sink: SourceInfo | None
    running: PersistentQuery | None
    properties: Mapping[str, str]


def decide_explaining(
    statement: Explain,
    catalog: Catalog,
    session: Session,
    facts: Facts,
    library: FunctionLibrary,
    text: str = "",
) -> Decision:
    """`text` is that of the whole statement, with EXPLAIN; the answer repeats it without."""
    if statement.statement is None:
        return Decision(explanation_of(_running(statement, catalog), library))
    inner = text[tokenize(text)[1].start :] if text else ""
    on = Logged(
        inner, catalog.next_offset, session.properties, catalog.definitions, library, catalog.registry
    )
    return Decision(_explanation(_not_running(statement.statement, on), library))


def explanation_of(query: PersistentQuery, library: FunctionLibrary) -> Explanation:
    """Of a query that runs, with its sources as they were when it was defined."""
    [parsed] = parse(query.statement)
    assert isinstance(parsed.statement, CreateAsSelect | InsertSelect)
    sources = {one.name: one for one in query.inputs}
    explained = _Explained(
        query.statement, parsed.statement.query, sources, query.types, query.target, query, query.properties
    )
    return _explanation(explained, library)


def _running(statement: Explain, catalog: Catalog) -> PersistentQuery:
    wanted = statement.query_id or ""
    found = next((one for name, one in catalog.queries.items() if name.upper() == wanted.upper()), None)
    if found is None:
        hint = did_you_mean(wanted, catalog.queries) or "SHOW QUERIES; lists those that run."
        raise SqlError(f"there is no query {wanted}", statement.at, hint=hint)
    return found


def _not_running(statement: Statement, on: Logged) -> _Explained:
    """What the statement would fill is asked of the rules of the command log. Nothing is changed."""
    sources = on.defined.sources
    match statement:
        case QueryStatement(query=query):
            sink = None
        case InsertSelect(target=target, query=query):
            change_by(statement, on)
            sink = sources[target]
        case CreateAsSelect(name=name, query=query):
            sink = {one.name: one for one in (*sources.values(), *change_by(statement, on).sources)}[name]
        case _:
            raise SqlError(
                "EXPLAIN shows what a query does, and this statement has none",
                statement.at,
                hint="Explain a SELECT, a CREATE ... AS SELECT, an INSERT INTO ... SELECT, or the id of a running "
                "query.",
            )
    return _Explained(on.text, query, sources, on.defined.types, sink, None, on.properties)


def _explanation(explained: _Explained, library: FunctionLibrary) -> Explanation:
    query, is_persistent = explained.query, explained.sink is not None
    plan = analyse(query, explained.sources, library, explained.types, is_persistent=is_persistent)
    is_pull = not is_persistent and query.emit is None
    sink = explained.sink or SourceInfo("", plan.kind, plan.schema, CLIENT, _JSON, _JSON)
    query_id = explained.running.id if explained.running else sink.name
    topology = None if is_pull else topology_of(plan, sink, query_id or "query")
    lane = PYTHON_LANE if is_persistent else PULL_LANE if is_pull else PUSH_LANE
    lines = [*steps(query, plan, explained.sink), lane, *_storage(topology)]
    return Explanation(
        statement=explained.statement,
        schema=plan.schema if is_persistent else Schema((), plan.schema.value),
        sources=tuple(one.source.name for one in plan.inputs),
        plan="\n".join(lines),
        topology="" if topology is None else topology.describe(),
        query=explained.running,
        sink=explained.sink,
        window_type=_window_type(plan),
        overridden=explained.properties,
    )


def _window_type(plan: QueryPlan) -> str | None:
    return None if plan.window is None else plan.window.kind


def _storage(topology: Topology | None) -> list[str]:
    """The internal topics and the state stores."""
    if topology is None:
        return []
    topics = [
        f"Internal topic: {one.name}, which brings the records of one key together."
        for one in topology.repartition_topics
    ]
    stores = []
    for store in topology.stores.values():
        kept = f", kept for {duration_text(store.retention_ms)}" if store.retention_ms else ""
        stores.append(f"State store: {store.name} ({store.kind.value}{kept}).")
    return [*topics, *stores]
