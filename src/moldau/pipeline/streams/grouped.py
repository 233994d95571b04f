"""KGroupedStream: records grouped by key, on their way to an aggregate."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Aggregate
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows, Windows
from moldau.pipeline.serdes.primitives import LONG
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.summaries import Summary
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.cogrouped import CogroupedKStream
    from moldau.pipeline.streams.stream import KStream


class KGroupedStream:
    """`name` names the repartition topic, where one is needed."""

    def __init__(self, stream: "KStream", key_serde: Serde, value_serde: Serde, name: str | None) -> None:
        self._stream = stream
        self._draft = stream._draft
        self.key_serde = key_serde
        self.value_serde = value_serde
        self._name = name
        self._repartitioned: tuple[str, tuple[str, ...]] | None = None

    def count(self, *, store: str | None = None, name: str | None = None) -> KTable:
        """How many records each key has had; records without a value do not count."""
        return self._aggregate(_zero, _one_more, LONG, store, name, summary="count")

    def reduce(
        self, reducer: Callable[[Any, Any], Any], *, store: str | None = None, name: str | None = None
    ) -> KTable:
        """`reducer(so far, value)`; the first value of a key starts it."""
        return self._aggregate(None, reducer, self.value_serde, store, name, "KSTREAM-REDUCE")

    def aggregate(
        self,
        initializer: Callable[[], Any],
        adder: Callable[[Any, Any, Any], Any],
        *,
        value: Serde | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable:
        """`adder(key, value, so far)` from `initializer()`; `value` is the serde of what comes out."""
        return self._aggregate(initializer, adder, value or self._draft.value_serde, store, name)

    def summarize(self, summary: Summary, *, store: str | None = None, name: str | None = None) -> KTable:
        """A ready-made aggregate: total, lowest, top_k, latest, collect_list and their kind."""
        return self._aggregate(
            summary.initializer,
            summary.adder,
            summary.serde or self._draft.value_serde,
            store,
            name,
            summary=summary.name,
            column=summary.column,
        )

    def windowed_by(self, windows: Windows) -> Any:
        """Aggregates per window: tumbling, hopping or sliding ones, or sessions."""
        from moldau.pipeline.streams.windowed import SessionWindowedKStream, TimeWindowedKStream

        if isinstance(windows, SessionWindows):
            return SessionWindowedKStream(self, windows)
        if isinstance(windows, TimeWindows | SlidingWindows):
            return TimeWindowedKStream(self, windows)
        raise ConfigError(
            f"{self._draft.here()}: {windows!r} are no windows; use tumbling, hopping, sliding or sessions"
        )

    def cogroup(self, adder: Callable[[Any, Any, Any], Any]) -> "CogroupedKStream":
        """Several grouped streams folded into one table, each by its own adder."""
        from moldau.pipeline.streams.cogrouped import CogroupedKStream

        return CogroupedKStream(self._draft, [(self, adder)])

    def _aggregate(
        self,
        initializer: Callable[[], Any] | None,
        adder: Callable[..., Any],
        value_serde: Serde,
        store: str | None,
        name: str | None,
        prefix: str = "KSTREAM-AGGREGATE",
        *,
        summary: str = "",
        column: Expression | None = None,
    ) -> KTable:
        draft, where = self._draft, self._draft.here()
        node_name = draft.name(prefix, name)
        store_name = store or draft.name(f"{prefix}-STATE-STORE")
        parent, sources = self.belonging(store_name)
        spec = StoreSpec(
            store_name, StoreKind.KEY_VALUE, self.key_serde, value_serde, queryable=store is not None
        )
        draft.add(
            Aggregate(
                name=node_name,
                parents=(parent,),
                where=where,
                initializer=initializer,
                adder=adder,
                store=spec,
                summary=summary,
                column=column,
            )
        )
        return KTable(draft, node_name, self.key_serde, value_serde, sources)

    def belonging(self, name: str) -> tuple[str, tuple[str, ...]]:
        """The node whose records lie where their group belongs, and the topics they come from."""
        stream = self._stream
        if not stream._rekeyed:
            return stream.node, stream._sources
        if self._repartitioned is None:
            where = self._draft.here()
            node, topic = stream._through_topic(self._name or name, self.key_serde, self.value_serde, where)
            self._repartitioned = node, (topic,)
        return self._repartitioned


def _zero() -> int:
    return 0


def _one_more(key: Any, value: Any, so_far: int) -> int:
    return so_far + 1
