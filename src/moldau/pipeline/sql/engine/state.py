"""What is defined at one point of the command log, and what one command changes of it. Values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, TypeVar

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.types import SqlType

T = TypeVar("T")


class QueryState(StrEnum):
    """What the users asked for. Whether it runs well is the server's knowledge."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"


@dataclass(frozen=True, slots=True)
class PersistentQuery:
    id: str
    """CTAS_NAME_5, CSAS_NAME_3, INSERTQUERY_7: with the offset of the command."""
    kind: Literal["CREATE_AS", "INSERT"]
    statement: str
    sources: tuple[str, ...]
    """The streams and tables it reads, in their order."""
    sink: str
    properties: Mapping[str, str] = field(default_factory=dict)
    state: QueryState = QueryState.RUNNING
    version: int = 0
    """The offset of the command that defined or replaced it: another one is another topology."""
    inputs: tuple[SourceInfo, ...] = ()
    """What it reads, as it was when the query was defined: a running query does not notice ALTER."""
    target: SourceInfo | None = None
    """What it writes, likewise."""
    types: Mapping[str, SqlType] = field(default_factory=dict)
    """The types of the user at that time."""
    begin: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Where its first run begins, by topic and partition, if it reads what came after its statement."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """Everything the command log says. A change makes new definitions."""

    sources: Mapping[str, SourceInfo] = field(default_factory=dict)
    types: Mapping[str, SqlType] = field(default_factory=dict)
    queries: Mapping[str, PersistentQuery] = field(default_factory=dict)
    created_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each stream or table made by AS SELECT: what the SELECT reads."""
    system_properties: Mapping[str, str] = field(default_factory=dict)
    """By ALTER SYSTEM."""

    def readers(self, source: str) -> tuple[PersistentQuery, ...]:
        return tuple(query for query in self.queries.values() if source in query.sources)

    def writers(self, source: str) -> tuple[PersistentQuery, ...]:
        return tuple(query for query in self.queries.values() if query.sink == source)

    def own_query(self, source: str) -> PersistentQuery | None:
        """The query of a stream or table that was created by AS SELECT."""
        return next((one for one in self.writers(source) if one.kind == "CREATE_AS"), None)

    def made_from(self, source: str) -> tuple[str, ...]:
        """The streams and tables whose SELECT reads it."""
        return tuple(sorted(name for name, read in self.created_from.items() if source in read))

    def changed(self, change: "Change") -> "Definitions":
        return replace(
            self,
            sources=_without(self.sources, change.removed_sources)
            | {one.name: one for one in change.sources},
            types=_without(self.types, change.removed_types) | dict(change.types),
            queries=_without(self.queries, change.removed_queries) | {one.id: one for one in change.queries},
            created_from=_without(self.created_from, change.removed_sources) | dict(change.created_from),
            system_properties={**self.system_properties, **change.system_properties},
        )


@dataclass(frozen=True, slots=True)
class Change:
    """What a command does to the definitions: what it puts there, what it takes away."""

    message: str
    sources: tuple[SourceInfo, ...] = ()
    removed_sources: tuple[str, ...] = ()
    types: Mapping[str, SqlType] = field(default_factory=dict)
    removed_types: tuple[str, ...] = ()
    queries: tuple[PersistentQuery, ...] = ()
    removed_queries: tuple[str, ...] = ()
    created_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    system_properties: Mapping[str, str] = field(default_factory=dict)
    query_id: str | None = None
    is_nothing: bool = False
    """IF NOT EXISTS and the like: there was nothing to do."""


def _without(known: Mapping[str, T], removed: tuple[str, ...]) -> dict[str, T]:
    return {name: one for name, one in known.items() if name not in removed}
