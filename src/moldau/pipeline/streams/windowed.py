"""Grouped streams with windows, to be aggregated per key and window, into tables with keys of the type `Windowed`."""

from collections.abc import Callable
from typing import Any, Generic, Self

from moldau.pipeline.plan.nodes import EmitWhen
from moldau.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows, Windowed, Windows
from moldau.pipeline.serdes.kinds import K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.folding import Fold, counting, folded, reducing, summarizing
from moldau.pipeline.streams.grouped import KGroupedStream
from moldau.pipeline.streams.summaries import Summary
from moldau.pipeline.streams.table import KTable


class WindowedKStream(Generic[K, V]):
    """What all kinds of windows have in common. `retention_ms`: how long they can be read, if longer than necessary."""

    def __init__(
        self, grouped: KGroupedStream[K, V], windows: Windows, emit: EmitWhen = EmitWhen.UPDATE
    ) -> None:
        self._grouped = grouped
        self._windows = windows
        self._emit = emit

    def emit_on_close(self) -> Self:
        """Emits each window once, when it has closed (KIP-825), instead of every update."""
        return type(self)(self._grouped, self._windows, EmitWhen.CLOSE)

    def count(
        self, *, store: str | None = None, name: str | None = None, retention_ms: int = 0
    ) -> KTable[Windowed[K], int]:
        return self._fold(counting(), store, name, retention_ms)

    def reduce(
        self,
        reducer: Callable[[V, V], V],
        *,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable[Windowed[K], V]:
        """`reducer(aggregate, value)`, starting with the first value in a window."""
        return self._fold(reducing(reducer, self._grouped.value_serde), store, name, retention_ms)

    def summarize(
        self, summary: Summary, *, store: str | None = None, name: str | None = None, retention_ms: int = 0
    ) -> KTable[Windowed[K], Any]:
        draft = self._grouped._draft
        return self._fold(summarizing(summary, draft.value_serde, draft.here()), store, name, retention_ms)

    def _fold(self, fold: Fold, store: str | None, name: str | None, retention_ms: int) -> KTable:
        return folded(
            self._grouped, fold, store, name, self._windows, retention_ms=retention_ms, emit=self._emit
        )


class TimeWindowedKStream(WindowedKStream[K, V]):
    """Tumbling, hopping and sliding windows."""

    _windows: TimeWindows | SlidingWindows

    def aggregate(
        self,
        initializer: Callable[[], R],
        adder: Callable[[K, V, R], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable[Windowed[K], R]:
        """`adder(key, value, aggregate)`, starting with `initializer()`."""
        serde = value or self._grouped._draft.value_serde
        return self._fold(Fold(initializer, adder, serde), store, name, retention_ms)


class SessionWindowedKStream(WindowedKStream[K, V]):
    """Session windows. A session that was merged into another is emitted as removed."""

    _windows: SessionWindows

    def aggregate(
        self,
        initializer: Callable[[], R],
        adder: Callable[[K, V, R], R],
        merger: Callable[[K, R, R], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
        retention_ms: int = 0,
    ) -> KTable[Windowed[K], R]:
        """`adder(key, value, aggregate)`. `merger(key, one, other)` merges two sessions."""
        serde = value or self._grouped._draft.value_serde
        return self._fold(Fold(initializer, adder, serde, merger), store, name, retention_ms)
