"""KGroupedStream: records grouped by key, to be aggregated."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, overload

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows
from moldau.pipeline.serdes.kinds import K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.folding import Fold, counting, folded, reducing, summarizing
from moldau.pipeline.streams.summaries import Summary
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.cogrouped import CogroupedKStream
    from moldau.pipeline.streams.stream import KStream
    from moldau.pipeline.streams.windowed import SessionWindowedKStream, TimeWindowedKStream


class KGroupedStream(Generic[K, V]):
    """A stream grouped by key. `name` names the repartition topic, if one is needed."""

    def __init__(
        self, stream: "KStream[K, V]", key_serde: Serde[K], value_serde: Serde[V], name: str | None
    ) -> None:
        self._stream = stream
        self._draft = stream._draft
        self.key_serde = key_serde
        self.value_serde = value_serde
        self._name = name
        self._repartitioned: tuple[str, tuple[str, ...]] | None = None

    def count(self, *, store: str | None = None, name: str | None = None) -> KTable[K, int]:
        """Counts the records of each key. Records without a value do not count."""
        return folded(self, counting(), store, name)

    def reduce(
        self, reducer: Callable[[V, V], V], *, store: str | None = None, name: str | None = None
    ) -> KTable[K, V]:
        """`reducer(aggregate, value)`, starting with the first value of a key."""
        return folded(self, reducing(reducer, self.value_serde), store, name)

    def aggregate(
        self,
        initializer: Callable[[], R],
        adder: Callable[[K, V, R], R],
        *,
        value: Serde[R] | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> KTable[K, R]:
        """`adder(key, value, aggregate)`, starting with `initializer()`. `value` is the serde of the aggregate."""
        return folded(self, Fold(initializer, adder, value or self._draft.value_serde), store, name)

    def summarize(
        self, summary: Summary, *, store: str | None = None, name: str | None = None
    ) -> KTable[K, Any]:
        """A predefined aggregate, such as total, lowest, top_k, latest or collect_list."""
        fold = summarizing(summary, self._draft.value_serde, self._draft.here())
        return folded(self, fold, store, name)

    @overload
    def windowed_by(self, windows: TimeWindows | SlidingWindows) -> "TimeWindowedKStream[K, V]": ...
    @overload
    def windowed_by(self, windows: SessionWindows) -> "SessionWindowedKStream[K, V]": ...
    def windowed_by(self, windows: object) -> "TimeWindowedKStream[K, V] | SessionWindowedKStream[K, V]":
        """Aggregates per window: tumbling, hopping, sliding or session windows."""
        from moldau.pipeline.streams.windowed import SessionWindowedKStream, TimeWindowedKStream

        if isinstance(windows, SessionWindows):
            return SessionWindowedKStream(self, windows)
        if isinstance(windows, TimeWindows | SlidingWindows):
            return TimeWindowedKStream(self, windows)
        raise ConfigError(
            f"{self._draft.here()}: {windows!r} are no windows; use tumbling, hopping, sliding or sessions"
        )

    def cogroup(self, adder: Callable[[K, V, R], R]) -> "CogroupedKStream[K, R]":
        """Aggregates several grouped streams into one table, each with its own adder."""
        from moldau.pipeline.streams.cogrouped import CogroupedKStream

        return CogroupedKStream(self._draft, [(self, adder)])

    def belonging(self, name: str) -> tuple[str, tuple[str, ...]]:
        """The node whose records are partitioned by group, and the topics that they come from."""
        stream = self._stream
        if not stream._rekeyed:
            return stream.node, stream._sources
        if self._repartitioned is None:
            where = self._draft.here()
            node, topic = stream._through_topic(self._name or name, self.key_serde, self.value_serde, where)
            self._repartitioned = node, (topic,)
        return self._repartitioned
