"""A query as text that any process can make a topology of, without a catalog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import Format, HeaderColumn, SourceInfo
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.command import offsets_of
from moldau.pipeline.sql.engine.formats import with_registry, without_registry
from moldau.pipeline.sql.engine.rules.outline import columns_json, columns_of, window_json, window_of
from moldau.pipeline.sql.engine.rules.query_properties import guarantee_of, offset_reset_of
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.functions.user.loading import load
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse, parse_type
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect, InsertSelect, Kind
from moldau.pipeline.sql.translation.query import topology_of
from moldau.pipeline.sql.translation.row import OnFailure, log_failure
from moldau.pipeline.sql.types import Schema, SqlType


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
    application_id: str = ""
    """What the pipeline is called: the name of its consumer group, and what its internal topics begin with."""
    begin: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Where the first run begins to read streams, by topic and partition, if not at their beginning."""

    def to_json(self) -> str:
        content = {
            "query_id": self.query_id,
            "statement": self.statement,
            "sources": [_source_json(one) for one in self.sources],
            "sink": _source_json(self.sink),
            "properties": dict(self.properties),
            "types": {name: str(kind) for name, kind in self.types.items()},
            "function_paths": self.function_paths,
            "registry": dict(self.registry),
            "application_id": self.application_id,
            "begin": self.begin,
        }
        return orjson.dumps(content).decode()

    @classmethod
    def from_json(cls, text: str) -> "Program":
        said = orjson.loads(text)
        registry = said["registry"]
        return cls(
            said["query_id"],
            said["statement"],
            tuple(_source_of(one, registry) for one in said["sources"]),
            _source_of(said["sink"], registry),
            said["properties"],
            {name: parse_type(kind) for name, kind in said["types"].items()},
            tuple(said["function_paths"]),
            registry,
            said["application_id"],
            offsets_of(said["begin"]),
        )

    def topology(self, library: FunctionLibrary, on_failure: OnFailure = log_failure) -> Topology:
        """SqlError where a function is no longer there, or has changed."""
        statement = parse(self.statement)[0].statement
        assert isinstance(statement, CreateAsSelect | InsertSelect)
        sources = {one.name: one for one in self.sources}
        try:
            plan = analyse(statement.query, sources, library, self.types, is_persistent=True)
        except SqlError as wrong:
            raise wrong.within(self.statement) from None
        topology = topology_of(
            plan,
            self.sink,
            self.application_id or self.query_id,
            guarantee=guarantee_of(self.properties),
            on_failure=on_failure,
            offset_reset=offset_reset_of(self.properties),
        )
        return replace(topology, latest_from=self.begin)


def program_of(
    query_id: str, catalog: Catalog, function_paths: Sequence[str] = (), application_id: str = ""
) -> Program:
    """The program of a query of the catalog."""
    query = catalog.queries[query_id]
    assert query.target is not None
    return Program(
        query.id,
        query.statement,
        query.inputs,
        query.target,
        query.properties,
        query.types,
        tuple(function_paths),
        catalog.registry,
        application_id,
        query.begin,
    )


def topology_from(text: str, on_failure: OnFailure = log_failure) -> Topology:
    """The topology of `Program.to_json`. `on_failure` is told of expressions that fail."""
    program = Program.from_json(text)
    loaded = load(program.function_paths)
    try:
        return program.topology(builtin().with_user(loaded.functions), on_failure)
    except SqlError as wrong:
        # A file that cannot be loaded may be the reason why a function is unknown.
        wrong.hint = "\n".join((wrong.hint, *loaded.errors)).strip()
        raise


def _source_json(source: SourceInfo) -> dict[str, Any]:
    return {
        "name": source.name,
        "kind": source.kind.value,
        "key": columns_json(source.schema.key),
        "value": columns_json(source.schema.value),
        "topic": source.topic,
        "key_format": _format_json(source.key_format),
        "value_format": _format_json(source.value_format),
        "window": window_json(source.window),
        "timestamp": [source.timestamp_column, source.timestamp_format],
        "headers": [[one.column, one.header] for one in source.headers],
        "is_read_only": source.is_read_only,
        "statement": source.statement,
    }


def _source_of(said: Mapping[str, Any], registry: Mapping[str, str]) -> SourceInfo:
    return SourceInfo(
        said["name"],
        Kind(said["kind"]),
        Schema(columns_of(said["key"]), columns_of(said["value"])),
        said["topic"],
        with_registry(_format_of(said["key_format"]), registry),
        with_registry(_format_of(said["value_format"]), registry),
        window_of(said["window"]),
        said["timestamp"][0],
        said["timestamp"][1],
        tuple(HeaderColumn(*one) for one in said["headers"]),
        said["is_read_only"],
        said["statement"],
    )


def _format_json(form: Format) -> dict[str, Any]:
    plain = without_registry(form)
    return {"name": plain.name, "properties": plain.properties, "is_wrapped": plain.is_wrapped}


def _format_of(said: Mapping[str, Any]) -> Format:
    return Format(
        said["name"], tuple((name, value) for name, value in said["properties"]), said["is_wrapped"]
    )
