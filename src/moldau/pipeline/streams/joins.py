"""The joins of a stream: with a stream, with a table, with a global table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
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
from moldau.pipeline.serdes.kinds import K, R, V
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.global_table import GlobalKTable
from moldau.pipeline.streams.stateless import StatelessOperators
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


class StreamJoins(StatelessOperators[K, V]):
    """`joiner(left, right)`, with `with_key` `joiner(key, left, right)`. A join with a stream takes `windows`, one
    with a global table takes `on(key, value)`, the key to look up there, one with a table that keeps its history may
    take `grace_ms`, how long records wait for rows that come late."""

    def join(
        self,
        other: "KStream[K, Any] | KTable[K, Any] | GlobalKTable",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows | None = None,
        on: Callable[[K, V], object] | Expression | None = None,
        grace_ms: int | None = None,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Only records that have a partner."""
        return self._join(JoinKind.INNER, other, joiner, windows, on, grace_ms, with_key, value, name)

    def left_join(
        self,
        other: "KStream[K, Any] | KTable[K, Any] | GlobalKTable",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows | None = None,
        on: Callable[[K, V], object] | Expression | None = None,
        grace_ms: int | None = None,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Every record of this stream; the right value is None where there is no partner. With a stream, a record
        without a partner is told when its window has closed."""
        return self._join(JoinKind.LEFT, other, joiner, windows, on, grace_ms, with_key, value, name)

    def outer_join(
        self,
        other: "KStream[K, Any]",
        joiner: Callable[..., R],
        *,
        windows: JoinWindows,
        with_key: bool = False,
        value: Serde[R] | None = None,
        name: str | None = None,
    ) -> "KStream[K, R]":
        """Every record of both streams, with None where there is no partner."""
        return self._join(JoinKind.OUTER, other, joiner, windows, None, None, with_key, value, name)

    def _join(
        self,
        kind: JoinKind,
        other: "KStream | KTable | GlobalKTable",
        joiner: Callable[..., Any],
        windows: JoinWindows | None,
        on: Rule | None,
        grace_ms: int | None,
        with_key: bool,
        value: Serde | None,
        name: str | None,
    ) -> "KStream":
        where = self._draft.here()
        if not isinstance(other, StreamJoins | KTable | GlobalKTable):
            raise ConfigError(f"{where}: a stream is joined with a stream or a table, not with {other!r}")
        self._draft.check_builder(other, where)
        if grace_ms is not None and not isinstance(other, KTable):
            raise ConfigError(
                f"{where}: grace_ms= is for joins with a table; two streams have it in their windows="
            )
        match other:
            case GlobalKTable():
                if on is None:
                    raise ConfigError(
                        f"{where}: a join with a global table needs on=, the key to look up there"
                    )
                return self._join_global(kind, other, joiner, on, with_key, value, name)
            case KTable():
                if windows is not None or on is not None:
                    raise ConfigError(f"{where}: a join with a table takes neither windows= nor on=")
                return self._join_table(kind, other, joiner, grace_ms, with_key, value, name, where)
        if windows is None:
            raise ConfigError(f"{where}: a join of two streams needs windows=, how far apart records may be")
        if not isinstance(windows, JoinWindows):
            raise ConfigError(
                f"{where}: {windows!r} are no windows of a join: use within(milliseconds) or JoinWindows"
            )
        return self._join_stream(kind, other, joiner, windows, with_key, value, name, where)

    def _join_global(
        self,
        kind: JoinKind,
        other: GlobalKTable,
        joiner: Callable[..., Any],
        on: Rule,
        with_key: bool,
        value: Serde | None,
        name: str | None,
    ) -> "KStream":
        prefix = "KSTREAM-LEFTJOIN" if kind is JoinKind.LEFT else "KSTREAM-JOIN"
        node = StreamGlobalJoin(
            **self._next(prefix, name),
            table=other.node,
            kind=kind,
            selector=on,
            joiner=joiner,
            with_key=with_key,
        )
        return self._changed(node, None, value)

    def _join_table(
        self,
        kind: JoinKind,
        other: KTable,
        joiner: Callable[..., Any],
        grace_ms: int | None,
        with_key: bool,
        value: Serde | None,
        name: str | None,
        where: Location,
    ) -> "KStream":
        left = self._belonging(name, where, keeps_null_keys=kind is JoinKind.LEFT)
        other._check_same_key(left, where)
        sources = left._copartition(other)
        self._draft.need_values(other.node)
        prefix = "KSTREAM-LEFTJOIN" if kind is JoinKind.LEFT else "KSTREAM-JOIN"
        fields = left._next(prefix, name)
        fields["where"] = where
        buffer = None
        if grace_ms is not None:
            self._check_grace(grace_ms, other, where)
            buffer = StoreSpec(
                f"{fields['name']}-Buffer",
                StoreKind.ORDERED,
                left._keys(None, where),
                left._values(None, where),
            )
        node = StreamTableJoin(
            **fields,
            table=other.node,
            kind=kind,
            joiner=joiner,
            with_key=with_key,
            grace_ms=grace_ms or 0,
            buffer=buffer,
        )
        joined = left._changed(node, None, value)
        joined._sources = sources
        return joined

    def _check_grace(self, grace_ms: int, table: KTable, where: Location) -> None:
        history_ms = history_of(table.node, self._draft.nodes)
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

    def _join_stream(
        self,
        kind: JoinKind,
        other: "KStream",
        joiner: Callable[..., Any],
        windows: JoinWindows,
        with_key: bool,
        value: Serde | None,
        name: str | None,
        where: Location,
    ) -> "KStream":
        draft, relaxed = self._draft, kind is not JoinKind.INNER
        left = self._belonging(name and f"{name}-left", where, keeps_null_keys=relaxed)
        right = other._belonging(name and f"{name}-right", where, keeps_null_keys=relaxed)
        right._check_same_key(left, where)
        sources = left._copartition(right)
        join_name = draft.name("KSTREAM-JOIN", name)
        keys = left._keys(None, where)
        specs = [
            StoreSpec(
                f"{join_name}-{side}", StoreKind.JOIN, keys, stream._values(None, where), windows.retention_ms
            )
            for side, stream in (("left", left), ("right", right))
        ]
        outer = (
            StoreSpec(f"{join_name}-outer", StoreKind.ORDERED, keys, left._values(None, where))
            if relaxed
            else None
        )
        node = StreamJoin(
            name=join_name,
            parents=(left.node, right.node),
            where=where,
            kind=kind,
            windows=windows,
            joiner=joiner,
            with_key=with_key,
            left_store=specs[0],
            right_store=specs[1],
            outer_store=outer,
        )
        joined = left._changed(node, None, value)
        joined._sources = sources
        return joined

    def _belonging(self, name: str | None, where: Location, *, keeps_null_keys: bool) -> "KStream":
        """This stream where its keys belong: through a repartition topic if they may have changed."""
        from moldau.pipeline.streams.stream import KStream

        home = self._homes.get(keeps_null_keys) if self._rekeyed else self
        if home is not None:
            assert isinstance(home, KStream)
            return home
        keys, values = self._keys(None, where), self._values(None, where)
        given = name or (f"{self.node}-with-null-keys" if keeps_null_keys else self.node)
        node, topic = self._through_topic(given, keys, values, where, keeps_null_keys=keeps_null_keys)
        home = KStream(self._draft, node, keys, values, (topic,), value_sure=self._value_sure)
        self._homes[keeps_null_keys] = home
        return home
