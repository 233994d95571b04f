"""Calls the user's function of DataFrames, looks at what it gives, and has Spark compute it. Lives in the driver."""

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.types import DataType, StructType, TimestampNTZType, TimestampType

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.plan.nodes import Sink
from moldau.pipeline.plan.topology import SubTopology
from moldau.pipeline.spark.driver.failures import cause_of
from moldau.pipeline.spark.row_values import PLAIN
from moldau.pipeline.spark.transforms.columns import (
    HEADER_WORDS,
    HEADERS,
    KEY,
    ORDER,
    RESERVED,
    TIMESTAMP,
    VALUE,
)
from moldau.pipeline.spark.transforms.incoming import InputLayout
from moldau.pipeline.spark.transforms.outgoing import ENCODED, OutputLayout
from moldau.pipeline.spark.transforms.places import in_order
from moldau.pipeline.spark.transforms.time_limit import DoesNotReturn, within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TransformFailed(MoldauError):
    """The function, or the Spark job that computes its result, failed: the batch is run again."""


class TransformJob:
    """One `transform` of a topology."""

    def __init__(self, session: "SparkSession", part: SubTopology) -> None:
        """Raises ConfigError for a schema that is none."""
        node = part.transform
        assert node is not None and node.function is not None
        self.node = node
        self.session = session
        self._function = node.function
        self._source = next(part.sources())
        self._sink = next(one for one in part.nodes if isinstance(one, Sink))
        source = self._source
        self.layout = InputLayout(source.topics[0], source.key_serde, source.value_serde, self._fields())

    @property
    def topic_out(self) -> str:
        assert self._sink.topic is not None
        return self._sink.topic

    def check(self, limit_ms: int) -> None:
        """Calls the function with no rows. Raises ConfigError for a result that cannot be written, TransformFailed when
        the function itself fails or does not return."""
        nothing = self.session.createDataFrame([], self.layout.schema)
        try:
            within(limit_ms, lambda: self._encoded(nothing))
        except DoesNotReturn:
            raise self.too_slow(limit_ms) from None

    def run(self, df: "DataFrame") -> list[OutputRecord]:
        """The records of the result in the order of their places. Raises as `check`."""
        encoded = self._encoded(df)
        try:
            table = encoded.toArrow()
        except (PySparkException, OSError, RuntimeError) as failure:
            raise self._failed(cause_of(failure)) from failure
        return in_order(table, self.topic_out)

    def too_slow(self, limit_ms: int) -> TransformFailed:
        return self._failed(
            f"it has not returned within {limit_ms} ms, or Spark has not computed its result by then: take smaller "
            "batches (--records-per-batch), or a higher limit (--record-ms-max)"
        )

    def _fields(self) -> StructType | None:
        if not self.node.schema:
            return None
        try:
            fields = self.session.createDataFrame([], self.node.schema).schema
        except PySparkException as refused:
            raise self._wrong(
                f"Spark cannot read the schema {self.node.schema!r}: {cause_of(refused)}"
            ) from None
        taken = [name for name in fields.names if name in RESERVED]
        if taken:
            raise self._wrong(
                f"the schema names the column {taken[0]}, which every record has beside its value: leave schema= out "
                "and take the value apart in the function, with from_json(value, ...)"
            )
        if self._source.value_serde.name in (*PLAIN, "bytes"):
            raise self._wrong(
                f"schema= names the fields of a value, but the stream's values are {self._source.value_serde.name}: "
                "leave it out, or give the stream the serde of what is there, as value=JSON"
            )
        return fields

    def _encoded(self, df: "DataFrame") -> "DataFrame":
        result: Any
        try:
            result = self._function(df)
        except Exception as failure:
            raise self._failed(_told(failure, self._function)) from failure
        if not _is_frame(result):
            raise self._wrong(
                f"the function must return a DataFrame, not {result!r:.100}, a {type(result).__name__}"
            )
        try:
            schema = result.schema
        except PySparkException as failure:
            raise self._failed(cause_of(failure)) from failure
        layout = self._output(schema)
        selected: DataFrame = result.selectExpr(*self._selected(schema))
        return selected.mapInArrow(layout.encoded, ENCODED)

    def _output(self, schema: StructType) -> OutputLayout:
        names = schema.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise self._wrong(
                f"the result has the column {twice[0]} {names.count(twice[0])} times: after a join, drop one of them "
                "(df.join(other, 'key') keeps one)"
            )
        for name in (KEY, TIMESTAMP) if self.layout.fields is not None else (KEY, VALUE, TIMESTAMP):
            if name not in names:
                raise self._wrong(_missing(name, names))
        _require_types(schema, self._wrong)
        fields = self._value_fields(names)
        if self.layout.fields is None and fields:
            raise self._wrong(
                f"a record has no place for the column {fields[0]}: drop it, or put it into the column value. The "
                f"result has {', '.join(names)}"
            )
        if self.layout.fields is not None and not fields:
            raise self._wrong(f"the result has no column for the value, only {', '.join(names)}")
        value: DataType = (
            schema[VALUE].dataType
            if self.layout.fields is None
            else StructType([schema[name] for name in fields])
        )
        try:
            return OutputLayout(
                self.topic_out, self._sink.key_serde, self._sink.value_serde, schema[KEY].dataType, value
            )
        except ConfigError as refused:
            raise self._wrong(str(refused)) from None

    def _value_fields(self, names: Sequence[str]) -> list[str]:
        beside = (*RESERVED, VALUE) if self.layout.fields is None else RESERVED
        return [name for name in names if name not in beside]

    def _selected(self, schema: StructType) -> list[str]:
        names = schema.names
        value = VALUE
        if self.layout.fields is not None:
            fields = [_quoted(name) for name in self._value_fields(names)]
            is_there = " OR ".join(f"{name} IS NOT NULL" for name in fields)
            # A record without a value is a row without any field, both ways.
            value = f"IF({is_there}, struct({', '.join(fields)}), NULL) AS {VALUE}"
        moment = TIMESTAMP
        if isinstance(schema[TIMESTAMP].dataType, TimestampNTZType):
            moment = f"CAST({TIMESTAMP} AS TIMESTAMP) AS {TIMESTAMP}"
        rest = [name for name in (HEADERS, ORDER) if name in names]
        return [KEY, value, moment, *rest]

    def _wrong(self, why: str) -> ConfigError:
        return ConfigError(f"{self.node.where}: transform {self.node.name}: {why}")

    def _failed(self, why: str) -> TransformFailed:
        return TransformFailed(f"{self.node.where}: transform {self.node.name} failed: {why}")


def _missing(name: str, names: Sequence[str]) -> str:
    has = f"it has {', '.join(names)}"
    if name == TIMESTAMP:
        return (
            f"the result has no column timestamp, so the time of its records is not known; {has}. Keep the column, or "
            "make one: an aggregation may take max(timestamp) AS timestamp"
        )
    return f"the result has no column {name}; {has}. Keep it, or name one so: .alias('{name}')"


def _require_types(schema: StructType, wrong: Any) -> None:
    given = schema[TIMESTAMP].dataType
    if not isinstance(given, TimestampType | TimestampNTZType):
        raise wrong(
            f"the column timestamp is {given.simpleString()}: make it TIMESTAMP, as timestamp_millis(column)"
        )
    if HEADERS in schema.names:
        words = schema[HEADERS].dataType.simpleString()
        if words != HEADER_WORDS:
            raise wrong(f"the column headers is {words}: it must be {HEADER_WORDS}")
    if ORDER in schema.names and schema[ORDER].dataType.simpleString() != "binary":
        raise wrong(f"the column {ORDER} is not what the function was given: leave it as it is, or drop it")


def _quoted(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def _is_frame(result: object) -> bool:
    """Of Spark or of Spark Connect."""
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(result).__mro__}
    return any(kind.startswith("pyspark.sql.") and kind.endswith(".DataFrame") for kind in kinds)


def _told(failure: Exception, function: Any) -> str:
    """With the line of the user's own file that was reached."""
    why = (
        cause_of(failure) if isinstance(failure, PySparkException) else f"{type(failure).__name__}: {failure}"
    )
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [one.lineno for one in traceback.extract_tb(failure.__traceback__) if one.filename == file]
    return f"line {lines[-1]}: {why}" if lines else why
