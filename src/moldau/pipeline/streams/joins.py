"""The joins of a stream: with a stream, with a table, with a global table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import (
    JoinKind,
    Rule,
    StreamGlobalJoin,
    StreamJoin,
    StreamTableJoin,
    history_of,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import JoinWindows
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.global_table import GlobalKTable
from moldau.pipeline.streams.handle import Handle
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


@dataclass(frozen=True, slots=True)
class Joining:
    """What every join of a stream has."""

    kind: JoinKind
    joiner: Callable[..., Any]
    with_key: bool
    value_serde: Serde | None
    name: str | None
    where: Location

    @property
    def prefix(self) -> str:
        """Of the generated name, in a join with a table."""
        return "KSTREAM-LEFTJOIN" if self.kind is JoinKind.LEFT else "KSTREAM-JOIN"


def join(
    stream: "KStream",
    other: "KStream | KTable | GlobalKTable",
    joining: Joining,
    windows: JoinWindows | None,
    on: Rule | None,
    grace_ms: int | None,
) -> "KStream":
    where = joining.where
    if not isinstance(other, Handle | GlobalKTable):
        raise ConfigError(f"{where}: a stream is joined with a stream or a table, not with {other!r}")
    stream._draft.check_builder(other, where)
    if grace_ms is not None and not isinstance(other, KTable):
        raise ConfigError(
            f"{where}: grace_ms= is for joins with a table; two streams have it in their windows="
        )
    if isinstance(other, GlobalKTable):
        if on is None:
            raise ConfigError(f"{where}: a join with a global table needs on=, the key to look up there")
        return _join_global(stream, other, joining, on)
    if isinstance(other, KTable):
        if windows is not None or on is not None:
            raise ConfigError(f"{where}: a join with a table takes neither windows= nor on=")
        return _join_table(stream, other, joining, grace_ms)
    if windows is None:
        raise ConfigError(f"{where}: a join of two streams needs windows=, how far apart records may be")
    if not isinstance(windows, JoinWindows):
        raise ConfigError(
            f"{where}: {windows!r} are no windows of a join: use within(milliseconds) or JoinWindows"
        )
    return _join_stream(stream, other, joining, windows)


def _join_global(stream: "KStream", other: GlobalKTable, joining: Joining, on: Rule) -> "KStream":
    node = StreamGlobalJoin(
        **stream._next(joining.prefix, joining.name),
        table=other.node,
        kind=joining.kind,
        selector=on,
        joiner=joining.joiner,
        with_key=joining.with_key,
    )
    return stream._changed(node, None, joining.value_serde)


def _join_table(stream: "KStream", other: KTable, joining: Joining, grace_ms: int | None) -> "KStream":
    where = joining.where
    left = stream._partitioned_by_key(joining.name, where, keeps_null_keys=joining.kind is JoinKind.LEFT)
    other._check_same_key(left, where)
    sources = left._copartition(other)
    stream._draft.need_values(other.node)
    fields = {**left._next(joining.prefix, joining.name), "where": where}
    buffer = None
    if grace_ms is not None:
        _check_grace(grace_ms, other, where)
        keys, values = left._keys(None, where), left._values(None, where)
        buffer = StoreSpec(f"{fields['name']}-Buffer", StoreKind.ORDERED, keys, values)
    node = StreamTableJoin(
        **fields,
        table=other.node,
        kind=joining.kind,
        joiner=joining.joiner,
        with_key=joining.with_key,
        grace_ms=grace_ms or 0,
        buffer=buffer,
    )
    joined = left._changed(node, None, joining.value_serde)
    joined._sources = sources
    return joined


def _check_grace(grace_ms: int, table: KTable, where: Location) -> None:
    history_ms = history_of(table.node, table._draft.nodes)
    if history_ms is None:
        raise ConfigError(
            f"{where}: grace_ms= needs a table that keeps its history, to see the row of the record's time; "
            "give its table() a history_ms="
        )
    if not 0 <= grace_ms <= history_ms:
        raise ConfigError(
            f"{where}: a grace of {grace_ms} ms does not fit a table whose history goes back {history_ms} ms; "
            "give at least 0 and at most the history"
        )


def _join_stream(stream: "KStream", other: "KStream", joining: Joining, windows: JoinWindows) -> "KStream":
    draft, where, name = stream._draft, joining.where, joining.name
    relaxed = joining.kind is not JoinKind.INNER
    left = stream._partitioned_by_key(name and f"{name}-left", where, keeps_null_keys=relaxed)
    right = other._partitioned_by_key(name and f"{name}-right", where, keeps_null_keys=relaxed)
    right._check_same_key(left, where)
    sources = left._copartition(right)
    join_name = draft.name("KSTREAM-JOIN", name)
    keys = left._keys(None, where)
    left_store, right_store = (
        StoreSpec(
            f"{join_name}-{side}", StoreKind.JOIN, keys, stream._values(None, where), windows.retention_ms
        )
        for side, stream in (("left", left), ("right", right))
    )
    outer_store = None
    if relaxed:
        outer_store = StoreSpec(f"{join_name}-outer", StoreKind.ORDERED, keys, left._values(None, where))
    node = StreamJoin(
        name=join_name,
        parents=(left.node, right.node),
        where=where,
        kind=joining.kind,
        windows=windows,
        joiner=joining.joiner,
        with_key=joining.with_key,
        left_store=left_store,
        right_store=right_store,
        outer_store=outer_store,
    )
    joined = left._changed(node, None, joining.value_serde)
    joined._sources = sources
    return joined
