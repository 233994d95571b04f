"""What is defined, as the command log says it. `replay` is the only writer.

A command that no longer applies, because another server's command came first, changes nothing; the error is recorded.
All servers read the same log, so all record the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.changes import change_of
from moldau.pipeline.sql.engine.command import Command
from moldau.pipeline.sql.engine.state import Change, Definitions, PersistentQuery, QueryState
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import SqlType

__all__ = ["Applied", "Catalog", "PersistentQuery", "QueryState"]


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a command."""

    command: Command
    offset: int
    message: str
    change: Change | None = None
    """None where it failed."""

    @property
    def is_done(self) -> bool:
        return self.change is not None

    @property
    def query_id(self) -> str | None:
        """The query that the command started, replaced or ended."""
        return None if self.change is None else self.change.query_id


class Catalog:
    """Two catalogs are equal if the same is defined in them."""

    def __init__(self, library: FunctionLibrary, registry: Mapping[str, str] | None = None) -> None:
        """`registry`: what formats need to reach the schema registry, `SCHEMA_REGISTRY_URL` and more. It is put into
        the formats of all sources, and is no part of what the log says."""
        self.version = 0
        """Another number after every change: of a command, or of the functions."""
        self._library = library
        self.registry = dict(registry or {})
        self.definitions = Definitions()
        self.failures: dict[int, str] = {}
        """Offset of a command that was not applied, and why."""
        self.next_offset = 0
        """The offset after the last command."""

    @property
    def library(self) -> FunctionLibrary:
        return self._library

    @library.setter
    def library(self, library: FunctionLibrary) -> None:
        """Statements from now on find these functions; queries that run keep theirs."""
        self._library = library
        self.version += 1

    @property
    def functions(self) -> FunctionLibrary:
        """As those who read definitions call it."""
        return self._library

    def replay(self, command: Command, offset: int) -> Applied:
        """Applies a command of the log. One that was applied already changes nothing."""
        if offset < self.next_offset:
            return Applied(command, offset, self.failures.get(offset, "It was applied already."))
        self.next_offset = offset + 1
        try:
            change = change_of(command, offset, self.definitions, self._library, self.registry)
        except SqlError as wrong:
            self.failures[offset] = str(wrong)
            return Applied(command, offset, str(wrong))
        if not change.is_nothing:
            self.definitions = self.definitions.changed(change)
            self.version += 1
        return Applied(command, offset, change.message, change)

    @property
    def sources(self) -> Mapping[str, SourceInfo]:
        return self.definitions.sources

    @property
    def types(self) -> Mapping[str, SqlType]:
        return self.definitions.types

    @property
    def queries(self) -> Mapping[str, PersistentQuery]:
        return self.definitions.queries

    @property
    def system_properties(self) -> Mapping[str, str]:
        return self.definitions.system_properties

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalog) and self.definitions == other.definitions

    __hash__ = None  # type: ignore[assignment]
