"""The names a server knows, for completion: streams and tables with their columns, functions, topics, queries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from moldau.cli.sql_shell.sql_server import Settings, SqlServer

QUESTIONS: Final = (
    "DESCRIBE STREAMS; DESCRIBE TABLES; SHOW FUNCTIONS; SHOW TOPICS; SHOW QUERIES; SHOW TYPES; "
    "SHOW PROPERTIES;"
)


@dataclass(frozen=True)
class ServerNames:
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each stream and table."""
    functions: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()


def names_of(server: SqlServer) -> ServerNames:
    return names_in(server.run(QUESTIONS, Settings({}, {})))


def names_in(entities: Iterable[Mapping[str, Any]]) -> ServerNames:
    """The names in answers."""
    sources: dict[str, tuple[str, ...]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for entity in entities:
        for one in entity.get("sourceDescriptions") or ():
            sources[str(one.get("name"))] = _names(one.get("fields"))
        for key in ("functions", "topics", "properties"):
            if key in entity:
                found[key] = _names(entity[key])
        if entity.get("@type") == "queries":
            found["queries"] = tuple(str(one.get("id")) for one in entity.get("queries") or ())
        if entity.get("@type") == "type_list":
            found["types"] = tuple(map(str, entity.get("types") or ()))
    return ServerNames(sources, **found)


def _names(described: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(sorted(str(one.get("name")) for one in described or () if isinstance(one, Mapping)))
