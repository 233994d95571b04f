"""Grouped streams in windows, on their way to an aggregate per key and window."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import EmitWhen, SessionAggregate, WindowAggregate
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows
from moldau.pipeline.serdes.primitives import LONG
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.serdes.windowed import SessionWindowedSerde, TimeWindowedSerde
from moldau.pipeline.streams.grouped import KGroupedStream, _one_more, _zero
from moldau.pipeline.streams.summaries import Summary
from moldau.pipeline.streams.table import KTable


class TimeWindowedKStream:
    """Tumbling, hopping and sliding windows. The table's keys are `Windowed(key, start_ms, end_ms)`."""

    def __init__(self, grouped: KGroupedStream, windows: TimeWindows | SlidingWindows) -> None:
        self._grouped = grouped
        self._windows = windows
        self._emit = EmitWhen.UPDATE

    def emit_on_close(self) -> "TimeWindowedKStream":
        """Tells each window once, when it has closed (KIP-825), instead of every update."""
        closing = TimeWindowedKStream(self._grouped, self._windows)
        closing._emit = EmitWhen.CLOSE
        return closing

    def count(self, *, store: str | None = None, name: str | None = None, retention_ms: int = 0) -> KTable:
        return self._aggregate(_zero, _one_more, LONG, store, name, retention_ms, summary="count")

    def reduce(
        self,
        reducer: Callable[[Any, Any], Any],
        *,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable:
        """`reducer(so far, value)`; the first value in a window starts it."""
        serde = self._grouped.value_serde
        return self._aggregate(None, reducer, serde, store, name, retention_ms, prefix="KSTREAM-REDUCE")

    def aggregate(
        self,
        initializer: Callable[[], Any],
        adder: Callable[[Any, Any, Any], Any],
        *,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable:
        """`adder(key, value, so far)` from `initializer()`."""
        serde = value or self._grouped._draft.value_serde
        return self._aggregate(initializer, adder, serde, store, name, retention_ms)

    def summarize(
        self, summary: Summary, *, store: str | None = None, name: str | None = None, retention_ms: int = 0
    ) -> KTable:
        serde = summary.serde or self._grouped._draft.value_serde
        return self._aggregate(
            summary.initializer,
            summary.adder,
            serde,
            store,
            name,
            retention_ms,
            summary=summary.name,
            column=summary.column,
        )

    def _aggregate(
        self,
        initializer: Callable[[], Any] | None,
        adder: Callable[..., Any],
        value_serde: Serde,
        store: str | None,
        name: str | None,
        retention_ms: int,
        *,
        prefix: str = "KSTREAM-AGGREGATE",
        summary: str = "",
        column: Expression | None = None,
    ) -> KTable:
        grouped, windows, draft = self._grouped, self._windows, self._grouped._draft
        where = draft.here()
        node_name = draft.name(prefix, name)
        spec = window_store(
            store or draft.name(f"{prefix}-STATE-STORE"),
            grouped.key_serde,
            value_serde,
            windows,
            retention_ms,
        )
        spec = replace(spec, queryable=store is not None)
        parent, sources = grouped.belonging(spec.name)
        draft.add(
            WindowAggregate(
                name=node_name,
                parents=(parent,),
                where=where,
                initializer=initializer,
                adder=adder,
                store=spec,
                windows=windows,
                emit=self._emit,
                summary=summary,
                column=column,
            )
        )
        key_serde = TimeWindowedSerde(grouped.key_serde, windows.size_ms)
        return KTable(draft, node_name, key_serde, value_serde, sources, grace_ms=windows.grace_ms)


class SessionWindowedKStream:
    """Sessions. The table's keys are `Windowed(key, start_ms, end_ms)`; a merged session is told as removed."""

    def __init__(self, grouped: KGroupedStream, windows: SessionWindows) -> None:
        self._grouped = grouped
        self._windows = windows
        self._emit = EmitWhen.UPDATE

    def emit_on_close(self) -> "SessionWindowedKStream":
        closing = SessionWindowedKStream(self._grouped, self._windows)
        closing._emit = EmitWhen.CLOSE
        return closing

    def count(self, *, store: str | None = None, name: str | None = None, retention_ms: int = 0) -> KTable:
        return self._aggregate(_zero, _one_more, _both, LONG, store, name, retention_ms, summary="count")

    def reduce(
        self,
        reducer: Callable[[Any, Any], Any],
        *,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable:
        serde = self._grouped.value_serde
        return self._aggregate(None, reducer, None, serde, store, name, retention_ms, prefix="KSTREAM-REDUCE")

    def aggregate(
        self,
        initializer: Callable[[], Any],
        adder: Callable[[Any, Any, Any], Any],
        merger: Callable[[Any, Any, Any], Any],
        *,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable:
        """`adder(key, value, so far)`; `merger(key, one, other)` makes one of two sessions."""
        serde = value or self._grouped._draft.value_serde
        return self._aggregate(initializer, adder, merger, serde, store, name, retention_ms)

    def summarize(
        self, summary: Summary, *, store: str | None = None, name: str | None = None, retention_ms: int = 0
    ) -> KTable:
        serde = summary.serde or self._grouped._draft.value_serde
        return self._aggregate(
            summary.initializer,
            summary.adder,
            summary.merger,
            serde,
            store,
            name,
            retention_ms,
            summary=summary.name,
        )

    def _aggregate(
        self,
        initializer: Callable[[], Any] | None,
        adder: Callable[..., Any],
        merger: Callable[..., Any] | None,
        value_serde: Serde,
        store: str | None,
        name: str | None,
        retention_ms: int,
        *,
        prefix: str = "KSTREAM-AGGREGATE",
        summary: str = "",
    ) -> KTable:
        grouped, windows, draft = self._grouped, self._windows, self._grouped._draft
        where = draft.here()
        node_name = draft.name(prefix, name)
        spec = session_store(
            store or draft.name(f"{prefix}-STATE-STORE"), grouped.key_serde, value_serde, windows
        )
        # A session is told when the retention is over: one that ended at its very edge must still be there.
        kept_longer_ms = 1 if self._emit is EmitWhen.CLOSE else 0
        spec = replace(
            spec,
            queryable=store is not None,
            retention_ms=max(retention_ms, spec.retention_ms + kept_longer_ms),
        )
        parent, sources = grouped.belonging(spec.name)
        draft.add(
            SessionAggregate(
                name=node_name,
                parents=(parent,),
                where=where,
                initializer=initializer,
                adder=adder,
                merger=merger,
                store=spec,
                windows=windows,
                emit=self._emit,
                summary=summary,
            )
        )
        key_serde = SessionWindowedSerde(grouped.key_serde)
        grace_ms = windows.grace_ms + windows.gap_ms
        return KTable(draft, node_name, key_serde, value_serde, sources, grace_ms=grace_ms)


def window_store(
    name: str, key: Serde, value: Serde, windows: TimeWindows | SlidingWindows, retention_ms: int = 0
) -> StoreSpec:
    retention_ms = max(retention_ms, windows.retention_ms)
    return StoreSpec(name, StoreKind.WINDOW, key, value, retention_ms, windows.size_ms)


def session_store(name: str, key: Serde, value: Serde, windows: SessionWindows) -> StoreSpec:
    return StoreSpec(name, StoreKind.SESSION, key, value, windows.retention_ms)


def _both(key: Any, one: int, other: int) -> int:
    return one + other
