"""A statement of the command log, and what it is applied to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.server_properties import canonical_name
from moldau.pipeline.sql.engine.state import Change, Definitions
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect, CreateSource, Kind


@dataclass(frozen=True, slots=True)
class Logged:
    """`properties` are the session's."""

    text: str
    offset: int
    properties: Mapping[str, str]
    defined: Definitions
    library: FunctionLibrary
    registry: Mapping[str, str]
    server_properties: Mapping[str, str] = field(default_factory=dict)
    outline: Mapping[str, Any] | None = None
    """What the query makes, as it was logged. None: the statement is being decided."""
    begin: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Where a query begins that starts now."""
    plan: QueryPlan | None = None
    """Of the statement's query, where it has been analysed already."""

    @property
    def query_properties(self) -> Mapping[str, str]:
        """Of a query that starts now: the session's before the system's before the server's."""
        levels = (self.server_properties, self.defined.system_properties, self.properties)
        return {canonical_name(name): value for level in levels for name, value in level.items()}


def existing(name: str, at: Position, defined: Definitions) -> SourceInfo:
    found = defined.sources.get(name)
    if found is None:
        hint = did_you_mean(name, defined.sources) or "SHOW STREAMS; and SHOW TABLES; list what is defined."
        raise SqlError(f"{name} does not exist", at, hint=hint)
    return found


def of_kind(source: SourceInfo, kind: Kind, verb: str, at: Position) -> SourceInfo:
    if source.kind is not kind:
        hint = f"Write {verb} {source.kind} {source.name}."
        raise SqlError(f"{source.name} is a {source.kind}, not a {kind}", at, hint=hint)
    return source


def replaced(statement: CreateSource | CreateAsSelect, defined: Definitions) -> SourceInfo | None:
    """What OR REPLACE replaces. SqlError where the name is taken."""
    old = defined.sources.get(statement.name)
    if old is None:
        return None
    if not statement.or_replace:
        raise SqlError(
            f"{statement.name} exists already: it is a {old.kind}",
            statement.at,
            hint=f"CREATE OR REPLACE replaces it, DROP {old.kind} {statement.name} removes it.",
        )
    return old


def nothing_to_create(statement: CreateSource | CreateAsSelect, defined: Definitions) -> Change | None:
    """IF NOT EXISTS, and it does."""
    old = defined.sources.get(statement.name)
    if old is None or not statement.if_not_exists:
        return None
    return Change(f"{statement.name} exists already: it is a {old.kind}.", is_nothing=True)
