"""SHOW and LIST: what there is of one kind."""

from collections.abc import Mapping
from typing import Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import (
    Answer,
    Explanation,
    FunctionsList,
    FunctionSummary,
    PropertiesList,
    QueriesList,
    SourceDescriptions,
    SourcesList,
    TopicsList,
    TopicSummary,
    TypesList,
    VariablesList,
)
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision, Forward
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.protected_topics import is_hidden
from moldau.pipeline.sql.engine.server_properties import all_properties
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.showing.describing import description_of, kind_of
from moldau.pipeline.sql.engine.showing.explaining import explanation_of
from moldau.pipeline.sql.engine.state import PersistentQuery
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import Kind, Show

INTERNAL_SUFFIXES: Final = ("-changelog", "-repartition")
"""Of topics that belong to queries: hidden too."""


def needs_listing(statement: Show, catalog: Catalog) -> Needs:
    match statement.what:
        case "TOPICS":
            return Needs(all_topics=True)
        case "STREAMS" | "TABLES" if statement.is_extended:
            return Needs(topics=tuple(dict.fromkeys(one.topic for one in _sources(statement, catalog))))
    return Needs()


def decide_listing(
    statement: Show, catalog: Catalog, session: Session, facts: Facts, library: FunctionLibrary
) -> Decision:
    if statement.what in ("CONNECTORS", "CONNECTOR PLUGINS"):
        return Decision(forward=Forward(statement))
    return Decision(_answer(statement, catalog, session, facts, library))


def _answer(
    statement: Show, catalog: Catalog, session: Session, facts: Facts, library: FunctionLibrary
) -> Answer:
    match statement.what:
        case "STREAMS" | "TABLES":
            return sources_answer(_sources(statement, catalog), statement, catalog, facts)
        case "TOPICS":
            return _topics(facts, statement)
        case "QUERIES":
            return _queries(statement, catalog, library)
        case "FUNCTIONS":
            return _functions(library)
        case "TYPES":
            return TypesList(dict(sorted(catalog.types.items())))
        case "PROPERTIES":
            return PropertiesList(
                all_properties(facts.settings, catalog.system_properties, session.properties)
            )
        case "VARIABLES":
            return VariablesList(dict(sorted(session.variables.items())))
    raise TypeError(f"{statement!r} is not about something that is defined here")


def _sources(statement: Show, catalog: Catalog) -> tuple[SourceInfo, ...]:
    kind = Kind.TABLE if statement.what == "TABLES" else Kind.STREAM
    return tuple(one for _, one in sorted(catalog.sources.items()) if one.kind is kind)


def sources_answer(
    sources: tuple[SourceInfo, ...], statement: Show, catalog: Catalog, facts: Facts
) -> SourcesList | SourceDescriptions:
    if statement.is_extended:
        return SourceDescriptions(
            tuple(description_of(one, catalog, facts, is_extended=True) for one in sources)
        )
    return SourcesList("TABLES" if statement.what == "TABLES" else "STREAMS", sources)


def _topics(facts: Facts, statement: Show) -> TopicsList:
    return TopicsList(
        tuple(
            TopicSummary(name, one.partitions, one.replicas)
            for name, one in sorted(facts.topics.items())
            if statement.shows_all or not _is_internal(name, facts.settings)
        ),
        statement.is_extended,
    )


def _is_internal(name: str, settings: Mapping[str, str]) -> bool:
    return name.endswith(INTERNAL_SUFFIXES) or is_hidden(name, settings)


def _queries(statement: Show, catalog: Catalog, library: FunctionLibrary) -> QueriesList:
    queries = tuple(one for _, one in sorted(catalog.queries.items()))
    if not statement.is_extended:
        return QueriesList(queries)
    return QueriesList(queries, tuple(_explained(one, library) for one in queries))


def _explained(query: PersistentQuery, library: FunctionLibrary) -> Explanation:
    """A query whose function is missing is listed with the others."""
    try:
        return explanation_of(query, library)
    except SqlError as wrong:
        assert query.target is not None
        return Explanation(
            query.statement,
            query.target.schema,
            query.sources,
            plan=f"The query cannot start: {wrong}",
            topology="",
            query=query,
            sink=query.target,
            overridden=query.properties,
        )


def _functions(library: FunctionLibrary) -> FunctionsList:
    found = ((name, library.find(name)) for name in sorted(library.names()))
    return FunctionsList(
        tuple(
            FunctionSummary(name, kind_of(function), function.category.value)
            for name, function in found
            if function is not None
        )
    )
