"""Reads one table, or the result of the query, again and again: what is new since its position, in portions.

Owns the position. In timestamp mode a position is a timestamp, so all rows that share one belong together: a portion
ends between two timestamps. Only where more than GROUP_ROWS_MAX rows share one does it end within them, with the
position before them, and a crash then repeats rows instead of losing some.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError, SourceContext
from moldau.pipeline.connect.connectors.jdbc.columns import Column, Kind, column_schema, mapped, row_schema
from moldau.pipeline.connect.connectors.jdbc.drivers.database import Conversion, Database, Row, Rows
from moldau.pipeline.connect.connectors.jdbc.row_queries import Bounds, RowSource, Watched, rows_query
from moldau.pipeline.connect.connectors.jdbc.source_position import (
    INCREMENTING,
    Position,
    moment_offset,
    partitions_of,
)
from moldau.pipeline.connect.connectors.jdbc.timestamp_granularity import as_granularity
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct

GROUP_ROWS_MAX: Final = 100_000
"""As many rows with one timestamp are kept in memory, to be handed out together."""
_WHOLE: Final = (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64)


@dataclass(frozen=True)
class Reading:
    """How tables are read; the same for all of a task."""

    watched: Watched
    topic_prefix: str
    suffix: str = ""
    numeric_mapping: str = "none"
    granularity: str = "connect_logical"
    delay_ms: int = 0
    initial_ms: int | None = None
    """Where timestamps begin without a stored position. -1: now."""
    validates: bool = True


class TableReader:
    def __init__(
        self, source: RowSource, reading: Reading, database: Database, context: SourceContext
    ) -> None:
        self.source = source
        self.due_s = 0.0
        """When to read again, by the task's clock."""
        self._reading = reading
        self._database = database
        self._topic = reading.topic_prefix + (source.table.name if source.table is not None else "")
        partitions = partitions_of(source.table, database.settings.url.database)
        self._partition = None if reading.watched.is_bulk else partitions[0]
        stored = next((one for one in map(context.offset, partitions) if one is not None), None)
        self._position = Position.of(stored)
        self._watched: Watched | None = None
        """With the number's column found. None: not examined yet."""
        self._moment_columns: Sequence[Column] = ()
        self._open_moment: datetime | None = None
        """The timestamp within whose rows the last portion ended."""
        self._result: _Result | None = None

    @property
    def is_reading(self) -> bool:
        return self._result is not None

    def portion(self, count_max: int) -> list[SourceRecord]:
        """The next records. Afterwards `is_reading` says whether the result has more."""
        if self._result is None:
            self._result = self._query()
        result = self._result
        rows, is_end = result.next_rows(count_max)
        if is_end:
            self._result = None
            result.close()
        return self._records(result, rows, is_end)

    def abandon(self) -> None:
        """After a failure, and at the end: the position stays that of the last record."""
        if self._result is not None:
            self._result.close()
        self._result = self._open_moment = None

    # Queries.

    def _query(self) -> "_Result":
        reading, database = self._reading, self._database
        if self._watched is None:
            self._examine()
        watched = self._watched
        assert watched is not None
        bounds = Bounds(number=self._position.number)
        if watched.moments:
            now = database.now()
            if self._position.moment is None and reading.initial_ms is not None:
                first = (
                    now if reading.initial_ms == -1 else Position.of({"timestamp": reading.initial_ms}).moment
                )
                self._position = Position(first, self._position.number)
            start, end = self._position.moment, now - timedelta(milliseconds=reading.delay_ms)
            bounds = Bounds(
                None if start is None else database.moment(start, self._moment_columns),
                database.moment(end, self._moment_columns),
                self._position.number,
            )
        sql = rows_query(database.dialect, self.source, watched, bounds, reading.suffix)
        return _Result(database.read(self.source.table, sql), self.source, watched, reading, database)

    def _examine(self) -> None:
        """Finds the watched columns, and checks that they can be relied on."""
        reading, source = self._reading, self.source
        watched = reading.watched
        if watched.is_bulk:
            self._watched = watched
            return
        if source.table is not None:
            columns = self._database.columns(source.table)
            if columns is None:
                raise ConnectError(f"{self._database} has no {source}: it was dropped or renamed")
        else:
            columns = self._database.query_columns(source.query)
        if watched.number == "":
            automatic = [one.name for one in columns if one.is_auto]
            if len(automatic) != 1:
                raise ConnectError(
                    f"{source} has {len(automatic)} columns that the database numbers: name the one to use in "
                    "incrementing.column.name"
                )
            watched = Watched(watched.moments, automatic[0])
        self._moment_columns = [_named(columns, name, source) for name in watched.moments]
        number = None if watched.number is None else _named(columns, watched.number, source)
        if reading.validates and source.table is not None:
            if number is not None and number.is_optional:
                raise ConnectError(_nullable("incrementing column", number.name, source))
            if self._moment_columns and all(one.is_optional for one in self._moment_columns):
                names = ", ".join(watched.moments)
                raise ConnectError(_nullable("timestamp columns", names, source))
        for one in self._moment_columns:
            self._database.moment_reader(one)
        if number is not None and not (
            number.kind in _WHOLE or (number.kind is Kind.DECIMAL and not number.scale)
        ):
            raise ConnectError(
                f"the incrementing column {number.name} of {source} is no whole number "
                f"({number.type_name or number.kind.name}): name another one in incrementing.column.name"
            )
        self._watched = Watched([one.name for one in self._moment_columns], number.name if number else None)

    # Records.

    def _records(self, result: "_Result", rows: Sequence[Row], is_end: bool) -> list[SourceRecord]:
        if not rows:
            if self._open_moment is not None and is_end:
                self._position, self._open_moment = Position(self._open_moment), None
            return []
        topic, schema, partition = self._topic, result.schema, self._partition
        values = result.values(rows)
        watched = result.watched
        if watched.is_bulk:
            return [SourceRecord(topic, None, Struct(schema, row), None, schema) for row in values]
        if not watched.moments:
            offsets: list[dict[str, int]] = [{INCREMENTING: number} for number in result.numbers(rows)]
        elif watched.number is not None:
            pairs = zip(result.numbers(rows), result.moments(rows), strict=True)
            offsets = [{INCREMENTING: number, **moment_offset(moment)} for number, moment in pairs]
        else:
            offsets = self._group_offsets(
                result.moments(rows), is_complete=result.is_between_groups or is_end
            )
        self._position = Position.of(offsets[-1])
        return [
            SourceRecord(topic, None, Struct(schema, row), None, schema, None, None, (), partition, offset)
            for row, offset in zip(values, offsets, strict=True)
        ]

    def _group_offsets(self, moments: Sequence[datetime], *, is_complete: bool) -> list[dict[str, int]]:
        """Each row of a timestamp has the offset of the timestamp before, but the last one, which has its own."""
        before = self._position.offset()
        if self._open_moment is not None and moments[0] != self._open_moment:
            before = moment_offset(self._open_moment)
        offsets = []
        last = len(moments) - 1
        for place, moment in enumerate(moments):
            ends = moments[place + 1] != moment if place < last else is_complete
            if ends:
                before = moment_offset(moment)
            offsets.append(before)
        self._open_moment = None if is_complete else moments[last]
        return offsets


class _Result:
    """The rows of one query, and how they become values."""

    def __init__(
        self, rows: Rows, source: RowSource, watched: Watched, reading: Reading, database: Database
    ) -> None:
        self._rows = rows
        self.watched = watched
        self.is_between_groups = False
        self._kept: list[Row] = []
        """Read, and not handed out: the beginning of rows with one timestamp."""
        columns = rows.columns
        targets = [mapped(one, reading.numeric_mapping) for one in columns]
        name = source.table.name if source.table is not None else None
        convert_moments = as_granularity(reading.granularity)
        schema = row_schema(targets, name)
        conversions: list[Conversion | None] = []
        fields: dict[str, Schema] = {}
        for raw, target in zip(columns, targets, strict=True):
            convert = _both(database.reads(raw), _number(raw, target))
            if target.kind is Kind.TIMESTAMP and convert_moments is not None:
                conversions.append(_both(convert, convert_moments.convert))
                fields[target.name] = convert_moments.schema(target.is_optional)
            else:
                conversions.append(convert)
                fields[target.name] = column_schema(target)
        self.schema = schema if convert_moments is None else _replaced(schema, fields)
        self._conversions = [(place, one) for place, one in enumerate(conversions) if one is not None]
        places = {one.name: place for place, one in enumerate(columns)}
        self._moment_at = [places[name] for name in watched.moments]
        self._to_moment = [database.moment_reader(columns[at]) for at in self._moment_at]
        self._number_at = places[watched.number] if watched.number is not None else -1

    def next_rows(self, count_max: int) -> tuple[Sequence[Row], bool]:
        """At most `count_max`, or as many as belong together. None may be ready yet. True: there are no more."""
        fetched = self._rows.fetch(count_max)
        is_end = len(fetched) < count_max
        if not self.watched.moments or self.watched.number is not None:
            return fetched, is_end
        rows = [*self._kept, *fetched]
        self._kept = []
        self.is_between_groups = True
        if is_end or not rows:
            return rows, is_end
        unfinished = self._moment(rows[-1])
        cut = len(rows) - 1
        while cut > 0 and self._moment(rows[cut - 1]) == unfinished:
            cut -= 1
        if cut == 0 and len(rows) >= GROUP_ROWS_MAX:
            self.is_between_groups = False
            return rows, False
        self._kept = rows[cut:]
        return rows[:cut], False

    def values(self, rows: Sequence[Row]) -> Sequence[Row]:
        conversions = self._conversions
        if not conversions:
            return rows
        found = []
        for row in rows:
            values = list(row)
            for place, convert in conversions:
                value = values[place]
                if value is not None:
                    values[place] = convert(value)
            found.append(values)
        return found

    def moments(self, rows: Sequence[Row]) -> list[datetime]:
        return [self._moment(row) for row in rows]

    def _moment(self, row: Row) -> datetime:
        for place, convert in zip(self._moment_at, self._to_moment, strict=True):
            if row[place] is not None:
                moment: datetime = convert(row[place])
                return moment
        raise AssertionError("rows without a timestamp fulfil no condition")

    def numbers(self, rows: Sequence[Row]) -> list[int]:
        place = self._number_at
        return [int(row[place]) for row in rows]

    def close(self) -> None:
        self._rows.close()


def _number(raw: Column, target: Column) -> Conversion | None:
    """What `numeric.mapping` makes of a decimal."""
    if raw.kind is target.kind:
        return None
    return float if target.kind is Kind.FLOAT64 else int


def _both(first: Conversion | None, second: Conversion | None) -> Conversion | None:
    if first is None or second is None:
        return first or second
    return lambda value: None if (found := first(value)) is None else second(found)


def _replaced(schema: Schema, fields: Mapping[str, Schema]) -> Schema:
    made: Callable[..., Any] = type(schema.fields[0])
    return Schema(
        schema.type, name=schema.name, fields=tuple(made(one.name, fields[one.name]) for one in schema.fields)
    )


def _named(columns: Sequence[Column], name: str, source: RowSource) -> Column:
    """As it is written, or else but for the case."""
    exact = [one for one in columns if one.name == name]
    similar = exact or [one for one in columns if one.name.lower() == name.lower()]
    if len(similar) != 1:
        known = ", ".join(one.name for one in columns)
        raise ConnectError(f"{source} has no column {name}: it has {known}")
    return similar[0]


def _nullable(what: str, names: str, source: RowSource) -> str:
    return (
        f"Cannot make incremental queries using {what} {names} on {source} because nulls are allowed there, and rows "
        "with null would be missed: declare NOT NULL, or set validate.non.null=false"
    )
