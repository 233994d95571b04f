"""How a grouped stream becomes a table: the functions (`Fold`), and the store, key and node that its windows need."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import Aggregate, EmitWhen, SessionAggregate, WindowAggregate
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import SessionWindows, Windows
from moldau.pipeline.serdes.primitives import LONG
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.serdes.windowed import SessionWindowedSerde, TimeWindowedSerde
from moldau.pipeline.streams.checks import check_serde, check_start
from moldau.pipeline.streams.summaries import Summary
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.grouped import KGroupedStream

Function = Callable[..., Any]


@dataclass(frozen=True)
class Fold:
    """`initializer` None: a reduce. `merger` merges two sessions; a reduce does not need it. `summary` and `column`
    tell a host which aggregate it is, in case it has a faster implementation."""

    initializer: Callable[[], Any] | None
    adder: Function
    serde: Serde
    merger: Function | None = None
    prefix: str = "KSTREAM-AGGREGATE"
    summary: str = ""
    column: Expression | None = None


def counting() -> Fold:
    return Fold(zero, one_more, LONG, _both, summary="count")


def reducing(reducer: Function, serde: Serde) -> Fold:
    return Fold(None, reducer, serde, prefix="KSTREAM-REDUCE")


def summarizing(summary: object, default: Serde, where: Location) -> Fold:
    if not isinstance(summary, Summary):
        name = getattr(summary, "__name__", repr(summary))
        raise ConfigError(f"{where}: `{name}` is no summary: call it, as in summarize({name}(...))")
    serde = summary.serde or default
    return Fold(
        summary.initializer,
        summary.adder,
        serde,
        summary.merger,
        summary=summary.name,
        column=summary.column,
    )


def folded(
    grouped: "KGroupedStream",
    fold: Fold,
    store: str | None,
    name: str | None,
    windows: Windows | None = None,
    *,
    retention_ms: int = 0,
    emit: EmitWhen = EmitWhen.UPDATE,
) -> KTable:
    draft = grouped._draft
    where = draft.here()
    check_fold(fold, where)
    node_name = draft.name(fold.prefix, name)
    spec = fold_store(
        draft.name(f"{fold.prefix}-STATE-STORE", store),
        grouped.key_serde,
        fold.serde,
        windows,
        where,
        retention_ms=retention_ms,
        emit=emit,
        queryable=store is not None,
    )
    parent, sources = grouped.belonging(spec.name)
    fields = {"name": node_name, "parents": (parent,), "where": where, "store": spec}
    draft.add(fold_node(fields, fold, windows, emit))
    return folded_table(grouped, node_name, fold.serde, windows, sources)


def check_fold(fold: Fold, where: Location) -> None:
    check_serde(fold.serde, where)
    check_start(fold.initializer, fold.serde, where)


def fold_node(
    fields: dict[str, Any], fold: Fold, windows: Windows | None, emit: EmitWhen = EmitWhen.UPDATE
) -> Aggregate:
    fields = {
        **fields,
        "initializer": fold.initializer,
        "adder": fold.adder,
        "summary": fold.summary,
        "column": fold.column,
    }
    match windows:
        case None:
            return Aggregate(**fields)
        case SessionWindows():
            return SessionAggregate(**fields, windows=windows, merger=fold.merger, emit=emit)
        case _:
            return WindowAggregate(**fields, windows=windows, emit=emit)


def fold_store(
    name: str,
    key: Serde,
    value: Serde,
    windows: Windows | None,
    where: Location,
    *,
    retention_ms: int = 0,
    emit: EmitWhen = EmitWhen.UPDATE,
    queryable: bool = False,
) -> StoreSpec:
    if windows is None:
        return StoreSpec(name, StoreKind.KEY_VALUE, key, value, queryable=queryable)
    if 0 < retention_ms < windows.retention_ms:
        raise ConfigError(
            f"{where}: retention_ms={retention_ms} is shorter than the {windows.retention_ms} ms that {windows} need: "
            "give at least as much, or leave it out"
        )
    if not isinstance(windows, SessionWindows):
        kept_ms = max(retention_ms, windows.retention_ms)
        return StoreSpec(name, StoreKind.WINDOW, key, value, kept_ms, windows.size_ms, queryable=queryable)
    # A session is emitted when the retention is over: one that ended at its very edge must still exist.
    longer_ms = 1 if emit is EmitWhen.CLOSE else 0
    kept_ms = max(retention_ms, windows.retention_ms + longer_ms)
    return StoreSpec(name, StoreKind.SESSION, key, value, kept_ms, queryable=queryable)


def folded_table(
    grouped: "KGroupedStream",
    node: str,
    value: Serde,
    windows: Windows | None,
    sources: tuple[str, ...],
) -> KTable:
    """The resulting KTable. Its keys are `Windowed` if there are windows."""
    draft, key = grouped._draft, grouped.key_serde
    match windows:
        case None:
            return KTable(draft, node, key, value, sources)
        case SessionWindows():
            grace_ms = windows.grace_ms + windows.gap_ms
            return KTable(draft, node, SessionWindowedSerde(key), value, sources, grace_ms=grace_ms)
        case _:
            windowed = TimeWindowedSerde(key, windows.size_ms)
            return KTable(draft, node, windowed, value, sources, grace_ms=windows.grace_ms)


def zero() -> int:
    return 0


def one_more(key: Any, value: Any, so_far: int) -> int:
    return so_far + 1


def _both(key: Any, one: int, other: int) -> int:
    return one + other
