"""A query parsed and typed once: what `host.start` runs. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.queries.lookup import TableLookup
from moldau.pipeline.sql.queries.row_stream import ResultColumn
from moldau.pipeline.sql.types import SqlType

SCAN_SETTING: Final = "ksql.query.pull.table.scan.enabled"


class Definitions(Protocol):
    """What is defined: the engine's catalog, or anything like it."""

    @property
    def version(self) -> int:
        """Another number after every change."""

    @property
    def sources(self) -> Mapping[str, SourceInfo]: ...

    @property
    def functions(self) -> FunctionLibrary: ...

    @property
    def types(self) -> Mapping[str, SqlType]: ...


@dataclass(frozen=True, slots=True)
class PullSettings:
    allows_scan: bool = True
    """`ksql.query.pull.table.scan.enabled`"""
    wait_s_max: float = 10.0
    """How long a pull query waits for its table to be loaded."""


class QueryKind(Enum):
    PUSH = "push"
    PULL_TABLE = "pull of a table"
    PULL_STREAM = "pull of a stream"


@dataclass(frozen=True, slots=True)
class Prepared:
    kind: QueryKind
    plan: QueryPlan
    columns: tuple[ResultColumn, ...]
    lookup: TableLookup | None = None
    """Of a pull of a table: the keys it asks for, and its compiled condition and columns."""
    calls_user: bool = False
    """Whether it calls a function of the user, which may block."""

    @property
    def is_pull(self) -> bool:
        return self.kind is not QueryKind.PUSH

    @property
    def table(self) -> SourceInfo:
        return self.plan.first.source
