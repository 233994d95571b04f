"""The topology of a persistent query: reads its sources, does its steps, writes its topic."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from moldau.pipeline.code.tree import Apply, Code, Operation
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.plan.windows import JoinWindows, SessionWindows, TimeWindows
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.serdes.windowed import SessionWindowedSerde, TimeWindowedSerde
from moldau.pipeline.sql.analysis.aggregation import arguments_row
from moldau.pipeline.sql.analysis.plan import Grouping, Input, JoinStep, JoinWithin, Output, QueryPlan
from moldau.pipeline.sql.analysis.scope import VALUE, read
from moldau.pipeline.sql.definitions import KeyWindow, SourceInfo
from moldau.pipeline.sql.expressions.times import timestamp_reader
from moldau.pipeline.sql.formats import internal_serde, row_serde
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.relations import JoinKind
from moldau.pipeline.sql.translation.metadata import AddToStream, AddToTable, SetTime
from moldau.pipeline.sql.translation.row import (
    Condition,
    Explode,
    Fold,
    ForeignKey,
    GroupOf,
    Joiner,
    KeyOf,
    OnFailure,
    Pair,
    Row,
    Swapped,
    log_failure,
)
from moldau.pipeline.sql.types import Column
from moldau.pipeline.streams.builder import StreamsBuilder
from moldau.pipeline.streams.stream import KStream
from moldau.pipeline.streams.table import KTable

EAGER_GRACE_MS = 24 * 3_600_000
GROUPS: Final = "Aggregate-GroupBy"
AGGREGATES: Final = "Aggregate-Aggregate-Materialize"
SUPPRESSED: Final = "Suppress"
"""ksqlDB's names. They do not depend on the steps before, so that CREATE OR REPLACE may add a WHERE."""


def topology_of(
    plan: QueryPlan,
    target: SourceInfo,
    query_id: str,
    *,
    guarantee: Guarantee = Guarantee.EXACTLY_ONCE,
    on_failure: OnFailure = log_failure,
    offset_reset: OffsetReset = OffsetReset.EARLIEST,
) -> Topology:
    """`target` is the stream or table the query fills; `query_id` becomes the application's id. `offset_reset` says
    where a new query begins to read streams; tables are always read from their beginning."""
    return _Translation(plan, target, query_id, on_failure, offset_reset).topology(guarantee)


def key_serde(source: SourceInfo) -> Serde:
    return windowed(row_serde(source.key_format, source.schema.key, is_key=True), source.window)


def windowed(inner: Serde, window: KeyWindow | None) -> Serde:
    if window is None:
        return inner
    return (
        SessionWindowedSerde(inner) if window.kind == "SESSION" else TimeWindowedSerde(inner, window.size_ms)
    )


class _Translation:
    def __init__(
        self,
        plan: QueryPlan,
        target: SourceInfo,
        query_id: str,
        on_failure: OnFailure,
        offset_reset: OffsetReset,
    ) -> None:
        self._plan = plan
        self._target = target
        self._on_failure = on_failure
        self._offset_reset = offset_reset
        self._builder = StreamsBuilder(query_id)

    def topology(self, guarantee: Guarantee) -> Topology:
        source = self._joined() if self._plan.joins else self._source(self._plan.first)
        if self._plan.where is not None:
            source = source.filter(Condition(self._plan.where, "WHERE", self._on_failure))
        if self._plan.explosion is not None:
            assert isinstance(source, KStream)
            source = self._exploded(source)
        if self._plan.grouping is not None:
            self._write(self._grouped(source, self._plan.grouping), project=True)
        elif self._plan.partition_by is not None:
            assert isinstance(source, KStream)
            self._write(self._repartitioned(source, self._plan.partition_by), project=False)
        else:
            self._write(source, project=True)
        return self._builder.build(guarantee=guarantee)

    # Reading

    def _source(self, one: Input) -> KStream | KTable:
        source = one.source
        keys, values = key_serde(source), row_serde(source.value_format, source.stored_columns, is_key=False)
        time = self._time_of(source)
        if source.is_table:
            table = self._builder.table(source.topic, key=keys, value=values, timestamp=time)
            if not one.metadata:
                return table
            add = partial(AddToTable, one.metadata)
            return table.transform_values(add, value=internal_serde(), store=f"{one.alias}-METADATA")
        stream = self._builder.stream(
            source.topic, key=keys, value=values, timestamp=time, offset_reset=self._offset_reset
        )
        if not one.metadata:
            return stream
        return stream.process_values(partial(AddToStream, one.metadata), value=internal_serde())

    def _time_of(self, source: SourceInfo) -> Expression | None:
        """The record's time where a column holds it."""
        if source.timestamp_column is None:
            return None
        names = [column.name for column in source.stored_columns]
        if source.timestamp_column not in names:
            hint = did_you_mean(source.timestamp_column, names) or f"The value has {', '.join(names)}."
            raise SqlError(f"the TIMESTAMP column {source.timestamp_column} is not in the value", hint=hint)
        index = names.index(source.timestamp_column)
        column = source.stored_columns[index]
        operation = Operation("time", function=timestamp_reader(column.type, source.timestamp_format))
        return TimeColumn(Apply(operation, (read(VALUE, index),)), column.name)

    def _row(self, codes: Sequence[Code], texts: Sequence[str], *, keeps_null: bool = False) -> Row:
        return Row(tuple(codes), tuple(texts), self._on_failure, keeps_null)

    # Joins

    def _joined(self) -> KStream | KTable:
        so_far: Any = self._flat(self._plan.first)
        for step in self._plan.joins:
            so_far = self._join(so_far, step)
        joined: KStream | KTable = so_far
        return joined

    def _flat(self, one: Input) -> KStream | KTable:
        source = self._source(one)
        columns = [column.name for column in (*one.source.schema.key, *one.source.schema.value)]
        texts = [*columns, *("pseudo column" for _ in range(len(one.flat) - len(columns)))]
        row = self._row(one.flat, texts, keeps_null=one.source.is_table)
        if isinstance(source, KTable):
            return source.map_values(row, value=internal_serde())
        return source.map_values(row, value=internal_serde())

    def _join(self, left: Any, step: JoinStep) -> Any:
        right: Any = self._flat(step.right)
        joiner = Joiner(step.left_width, step.right_width)
        if step.is_foreign_key:
            assert step.left_key is not None
            method = left.join if step.kind is JoinKind.INNER else left.left_join
            extract = ForeignKey(KeyOf((step.left_key,), ("the foreign key",), self._on_failure))
            return method(right, joiner, foreign_key=extract, value=internal_serde())
        keys = self._join_keys(left, right, step)
        left, right = self._keyed(left, step.left_key, keys), self._keyed(right, step.right_key, keys)
        more: dict[str, Any] = {"value": internal_serde()}
        if step.kind is JoinKind.RIGHT:
            left, right, joiner = right, left, Swapped(joiner)  # type: ignore[assignment]
        if step.within is not None:
            more["windows"] = _join_windows(step.within, swapped=step.kind is JoinKind.RIGHT)
        match step.kind:
            case JoinKind.INNER:
                return left.join(right, joiner, **more)
            case JoinKind.FULL:
                return left.outer_join(right, joiner, **more)
        return left.left_join(right, joiner, **more)

    def _join_keys(self, left: Any, right: Any, step: JoinStep) -> Serde:
        """Both sides of a join write their keys alike: as the side does that keeps its key."""
        if step.right_key is None:
            kept: Serde = right.key_serde
        elif step.left_key is None:
            kept = left.key_serde
        else:
            kept = row_serde(self._target.key_format, (Column("KEY", step.key_type),), is_key=True)
        return kept

    def _keyed(self, side: Any, code: Code | None, keys: Serde) -> Any:
        if code is None:
            return side
        return side.select_key(KeyOf((code,), ("the join's key",), self._on_failure), key=keys)

    # Rows of rows

    def _exploded(self, source: KStream) -> KStream:
        explosion = self._plan.explosion
        assert explosion is not None
        calls = self._row([code for code, _ in explosion.calls], [text for _, text in explosion.calls])
        wide = source.map_values(Explode(calls), value=internal_serde())
        return wide.flat_map_values(_same, value=internal_serde())

    def _repartitioned(self, source: KStream, keys: Sequence[Any]) -> KStream:
        outputs = self._outputs(self._plan.value)
        texts = [one.column.name for one in self._plan.key]
        key = KeyOf(tuple(one.code for one in keys), tuple(texts), self._on_failure)
        return source.map(Pair(key, outputs), key=self._target_key(), value=self._target_value())  # type: ignore[arg-type]

    # Groups

    def _grouped(self, source: KStream | KTable, grouping: Grouping) -> KTable:
        arguments, widths = arguments_row(grouping.calls)
        row = self._row(
            arguments, [f"an argument of {call.text}" for call in grouping.calls for _ in call.arguments]
        )
        fold = Fold(tuple(call.folding for call in grouping.calls), widths)
        key = KeyOf(
            tuple(one.code for one in grouping.keys),
            tuple(f"group {number}" for number, _ in enumerate(grouping.keys, 1)),
            self._on_failure,
            any_null=True,
        )
        if isinstance(source, KTable):
            table = source.group_by(
                GroupOf(key, row), key=self._inner_key(), value=internal_serde(), name=GROUPS
            ).aggregate(fold.initial, fold.add, fold.remove, value=internal_serde(), store=AGGREGATES)
        else:
            table = self._aggregated(source, grouping, key, row, fold)
        if self._plan.is_final:
            table = table.suppress(name=SUPPRESSED)
        if grouping.having is not None:
            table = table.filter(Condition(grouping.having, "HAVING", self._on_failure))
        return table

    def _aggregated(self, source: KStream, grouping: Grouping, key: KeyOf, row: Row, fold: Fold) -> KTable:
        rows: KStream
        if grouping.is_by_record_key:
            rows = source.map_values(row, value=internal_serde())
        else:  # in one step, since an argument may be a column of the old key
            rows = source.map(Pair(key, row), key=self._inner_key(), value=internal_serde())  # type: ignore[arg-type]
        grouped = rows.group_by_key(key=self._inner_key(), name=GROUPS)
        if grouping.window is None:
            return grouped.aggregate(fold.initial, fold.add, value=internal_serde(), store=AGGREGATES)
        window = grouping.window
        if window.key_window.kind == "SESSION":
            sessions = SessionWindows(window.retention_ms - window.grace_ms, window.grace_ms)
            return grouped.windowed_by(sessions).aggregate(
                fold.initial,
                fold.add,
                fold.merge,
                value=internal_serde(),
                store=AGGREGATES,
                retention_ms=window.retention_ms,
            )
        windows = TimeWindows(window.key_window.size_ms, window.advance_ms, window.grace_ms)
        return grouped.windowed_by(windows).aggregate(
            fold.initial,
            fold.add,
            value=internal_serde(),
            store=AGGREGATES,
            retention_ms=window.retention_ms,
        )

    # Writing

    def _outputs(self, outputs: Sequence[Output], *, keeps_null: bool = False) -> Row:
        codes = [one.code for one in outputs]
        assert None not in codes
        return self._row(
            [code for code in codes if code], [one.column.name for one in outputs], keeps_null=keeps_null
        )

    def _write(self, result: Any, *, project: bool) -> None:
        if project:
            row = self._outputs(self._plan.value, keeps_null=isinstance(result, KTable))
            result = result.map_values(row, value=self._target_value())
        if isinstance(result, KTable):
            result = result.to_stream()
        if self._target.timestamp_column is not None:
            result = result.process_values(self._set_time(), value=self._target_value())
        result.to(self._target.topic, key=self._target_key(), value=self._target_value())

    def _set_time(self) -> Callable[[], SetTime]:
        columns = [one.column for one in self._plan.value]
        index = [column.name for column in columns].index(self._target.timestamp_column or "")
        reader = timestamp_reader(columns[index].type, self._target.timestamp_format)
        return partial(SetTime, index, columns[index].name, reader, self._on_failure)

    def _inner_key(self) -> Serde:
        return row_serde(self._target.key_format, self._key_columns(), is_key=True)

    def _key_columns(self) -> tuple[Column, ...]:
        return tuple(one.column for one in self._plan.key)

    def _target_key(self) -> Serde:
        return windowed(self._inner_key(), self._plan.window)

    def _target_value(self) -> Serde:
        columns = tuple(one.column for one in self._plan.value)
        return row_serde(self._target.value_format, columns, is_key=False)


def _join_windows(within: JoinWithin, *, swapped: bool) -> JoinWindows:
    before_ms, after_ms = within.before_ms, within.after_ms
    if swapped:
        before_ms, after_ms = after_ms, before_ms
    if within.grace_ms is None:
        return JoinWindows(before_ms, after_ms, EAGER_GRACE_MS, is_eager=True)
    return JoinWindows(before_ms, after_ms, within.grace_ms)


def _same(rows: list[Any]) -> list[Any]:
    return rows


class TimeColumn(Expression):
    """The time of a record, from a column of its value; a record without one keeps its own."""

    def __init__(self, code: Code, column: str) -> None:
        self._code = code
        self._column = column

    def evaluator(self) -> Callable[[Any, Any, int], Any]:
        from moldau.pipeline.code.source import compile_value
        from moldau.pipeline.sql.analysis.scope import PARAMETERS

        compiled = compile_value(self._code, PARAMETERS)

        def time_of(key: Any, value: Any, timestamp_ms: int) -> Any:
            return timestamp_ms if value is None else compiled(key, value, timestamp_ms)

        return time_of

    def __str__(self) -> str:
        return self._column
