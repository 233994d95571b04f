"""DROP of streams and tables; TERMINATE, PAUSE and RESUME of queries."""

from dataclasses import replace

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.rules.logged import Logged, existing, of_kind
from moldau.pipeline.sql.engine.state import Change, PersistentQuery, QueryState
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.statements import DropSource, QueryControl

_DONE = {"TERMINATE": "terminated", "PAUSE": "paused", "RESUME": "resumed"}


def drop_source(statement: DropSource, on: Logged) -> Change:
    """The query of AS SELECT ends with what it fills."""
    if statement.if_exists and statement.name not in on.defined.sources:
        return Change(f"{statement.name} does not exist.", is_nothing=True)
    source = of_kind(existing(statement.name, statement.at, on.defined), statement.kind, "DROP", statement.at)
    own = on.defined.own_query(source.name)
    _check_unused(statement, source, own, on)
    if statement.delete_topic:
        _check_topic_unused(statement, source, own, on)
    return Change(
        f"Source {source.name} (topic: {source.topic}) was dropped.",
        removed_sources=(source.name,),
        removed_queries=() if own is None else (own.id,),
        query_id=None if own is None else own.id,
    )


def _check_unused(statement: DropSource, source: SourceInfo, own: PersistentQuery | None, on: Logged) -> None:
    readers = [query.id for query in on.defined.readers(source.name)]
    writers = [query.id for query in on.defined.writers(source.name) if query != own]
    if readers or writers:
        said = [f"is read by {', '.join(readers)}"] if readers else []
        said += [f"is written by {', '.join(writers)}"] if writers else []
        ways = " ".join(f"TERMINATE {query_id};" for query_id in dict.fromkeys([*readers, *writers]))
        raise SqlError(
            f"{source.name} cannot be dropped: it {' and '.join(said)}", statement.at, hint=f"First: {ways}"
        )
    made = [on.defined.sources[name] for name in on.defined.made_from(source.name) if name != source.name]
    if made:
        names = ", ".join(one.name for one in made)
        ways = " ".join(f"DROP {one.kind} {one.name};" for one in made)
        raise SqlError(
            f"{source.name} cannot be dropped: {names} is made from it", statement.at, hint=f"First: {ways}"
        )


def _check_topic_unused(
    statement: DropSource, source: SourceInfo, own: PersistentQuery | None, on: Logged
) -> None:
    if source.is_read_only:
        hint = f"DROP {source.kind} {source.name}; leaves the topic alone."
        raise SqlError(
            f"{source.name} is a SOURCE {source.kind}, so its topic cannot be deleted",
            statement.at,
            hint=hint,
        )
    others = [
        one.name
        for one in on.defined.sources.values()
        if one.topic == source.topic and one.name != source.name
    ]
    if others:
        hint = f"DROP {source.kind} {source.name}; leaves the topic alone. Or drop {', '.join(others)} first."
        raise SqlError(
            f"the topic {source.topic} cannot be deleted: {', '.join(others)} is over it too",
            statement.at,
            hint=hint,
        )


def control_query(statement: QueryControl, on: Logged) -> Change:
    action, queries = statement.action, on.defined.queries
    if statement.query_id is None:
        chosen = tuple(queries.values())
        if not chosen:
            return Change("There are no queries.", is_nothing=True)
        message = f"All queries {_DONE[action]}: {', '.join(queries)}."
    else:
        chosen = (_found(statement, statement.query_id, on),)
        message = f"Query {_DONE[action]}."
    query_id = chosen[0].id if len(chosen) == 1 else None
    if action == "TERMINATE":
        return Change(message, removed_queries=tuple(one.id for one in chosen), query_id=query_id)
    state = QueryState.PAUSED if action == "PAUSE" else QueryState.RUNNING
    changed = tuple(replace(one, state=state) for one in chosen)
    return Change(message, queries=changed, query_id=query_id)


def _found(statement: QueryControl, query_id: str, on: Logged) -> PersistentQuery:
    found = on.defined.queries.get(query_id.upper())
    if found is None:
        hint = did_you_mean(query_id, on.defined.queries) or "SHOW QUERIES; lists them."
        raise SqlError(f"there is no query {query_id}", statement.at, hint=hint)
    return found
