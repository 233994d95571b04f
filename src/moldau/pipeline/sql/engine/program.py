"""A query as text that any process can make a topology of, without a catalog."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.types import SqlType


@dataclass(frozen=True, slots=True)
class Program:
    query_id: str
    statement: str
    sources: tuple[SourceInfo, ...]
    """What the query reads."""
    sink: SourceInfo
    properties: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, SqlType] = field(default_factory=dict)
    function_paths: tuple[str, ...] = ()
    """Folders and files with the user's functions."""
    registry: Mapping[str, str] = field(default_factory=dict)
    """`SCHEMA_REGISTRY_URL` and more, for the formats."""

    def to_json(self) -> str:
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str) -> "Program":
        raise NotImplementedError


def program_of(query_id: str, catalog: "object", function_paths: tuple[str, ...] = ()) -> Program:
    """The program of a query of the catalog (`Catalog`)."""
    raise NotImplementedError


def topology_from(text: str) -> Topology:
    """The topology of `Program.to_json`."""
    raise NotImplementedError
