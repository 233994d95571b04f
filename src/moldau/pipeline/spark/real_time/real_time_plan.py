"""Which topologies Spark's Real-Time Mode can run, why it cannot run the others, and their translation to columns.

It runs a chain of one source, stateless operators that are column expressions, and one sink. Such a chain becomes three
columns of the input record (whether it is kept, its key, its value), and never leaves the JVM.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as fn

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Filter, MapValues, Node, Rule, SelectKey, Sink, Source, transforms_of
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.spark.real_time.expression_columns import Kind, NotInTheJvm, Typed, as_kind, spark_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FIXED_BYTES: Final = {"long": 8, "int": 4, "short": 2, "double": 8, "float": 4}
KINDS: Final[dict[str, Kind]] = {
    "string": "text",
    "json": "json",
    "bytes": "opaque",
    **dict.fromkeys(FIXED_BYTES, "opaque"),
}


class NotRealTime(ConfigError):
    """The topology cannot run in Real-Time Mode. The message says which part, and why."""

    def __init__(self, why: str) -> None:
        super().__init__(f"latency real_time: {why}. Or use latency micro_batch")


@dataclass(frozen=True)
class RealTimePlan:
    source: Source
    steps: tuple[Node, ...]
    sink: Sink

    def rows(self, records: "DataFrame", dead_letter_topic: str | None) -> "DataFrame":
        """Input rows to output rows of the connector. A record that cannot be read becomes a dead letter."""
        made = self._made()
        readable = _is_readable(self.source.key_serde, "key") & _is_readable(self.source.value_serde, "value")
        if dead_letter_topic is None:
            why = "a record cannot be read, and dead letters are off: turn them on, or move the group's offsets past it"
            readable = fn.when(readable, True).otherwise(fn.raise_error(fn.lit(why)).cast("boolean"))
        kept = records.select("*", readable.alias("readable")).where(~fn.col("readable") | made.kept)
        columns = {
            "topic": (fn.lit(self.sink.topic), fn.lit(dead_letter_topic)),
            "key": (made.key.column.cast("binary"), fn.col("key")),
            "value": (made.value.column.cast("binary"), fn.col("value")),
            "headers": (fn.col("headers"), _headers_with_reason()),
        }
        return kept.select(
            *(
                fn.when(fn.col("readable"), good).otherwise(dead).alias(name)
                for name, (good, dead) in columns.items()
            )
        )

    def _made(self) -> "_Made":
        made = _Made(
            fn.lit(True), _decoded(self.source.key_serde, "key"), _decoded(self.source.value_serde, "value")
        )
        for step in self.steps:
            try:
                made = _after(step, made)
            except NotInTheJvm as why:
                raise NotRealTime(f"{step.label} at {step.where} cannot run in the JVM: {why}") from None
        for part, serde in (("key", self.sink.key_serde), ("value", self.sink.value_serde)):
            given = made.key if part == "key" else made.value
            if serde.name not in KINDS or given.kind != KINDS[serde.name]:
                raise NotRealTime(
                    f"the {part} for {self.sink.topic} is {given.kind}, which {serde.name} cannot write there"
                )
        return made


@dataclass(frozen=True)
class _Made:
    kept: "Column"
    key: Typed
    value: Typed


def real_time_plan(topology: Topology) -> RealTimePlan:
    """Raises NotRealTime with the reason, and the user's line if there is one."""
    plan = real_time_chain(topology)
    plan._made()
    return plan


def real_time_chain(topology: Topology) -> RealTimePlan:
    """The checks that do not need Spark: no columns are created yet."""
    if topology.guarantee is not Guarantee.AT_LEAST_ONCE:
        raise NotRealTime(
            "Spark's sink in Real-Time Mode is at-least-once, but the topology promises exactly-once: "
            "build(guarantee=Guarantee.AT_LEAST_ONCE)"
        )
    for transform in transforms_of(topology.nodes):
        raise NotRealTime(
            f"transform at {transform.where} runs a function of DataFrames once for each batch, and Real-Time Mode has "
            "none: write it with filter, map_values and select_key as column expressions"
        )
    source, *steps = topology.nodes
    if not isinstance(source, Source) or not steps or not isinstance(steps[-1], Sink):
        raise NotRealTime("it takes one chain from a source to a sink")
    *between, sink = steps
    parent = source.name
    for node in (*between, sink):
        if node.parents != (parent,):
            raise NotRealTime(
                f"{node.label} at {node.where} is not in one chain with the operators before it"
            )
        parent = node.name
    for node in between:
        _check_step(node)
    assert isinstance(sink, Sink)
    if sink.topic is None or sink.partition_of is not None:
        raise NotRealTime(
            f"the sink at {sink.where} uses a Python function to choose the topic or the partition"
        )
    if source.timestamp is not None:
        raise NotRealTime(
            f"the source at {source.where} takes the timestamp from a field, and Spark's sink cannot write it"
        )
    for serde in (source.key_serde, source.value_serde):
        if serde.name not in KINDS:
            raise NotRealTime(f"the serde {serde.name} of {', '.join(source.topics)} runs only in Python")
    return RealTimePlan(source, tuple(between), sink)


def _check_step(node: Node) -> None:
    rule: Rule | None = None
    if isinstance(node, Filter):
        rule = node.predicate
    elif isinstance(node, MapValues | SelectKey):
        rule = node.mapper
    if rule is None:
        raise NotRealTime(f"{node.label} at {node.where} is none of filter, map_values and select_key")
    if not isinstance(rule, Expression):
        raise NotRealTime(
            f"{node.label} at {node.where} is a Python function, which would leave the JVM: write it as a column "
            "expression, as col('amount') > 5 or call('upper', col())"
        )


def _after(step: Node, made: _Made) -> _Made:
    def column(rule: Rule) -> Typed:
        assert isinstance(rule, Expression)
        return spark_column(rule, made.key, made.value, fn.col("timestamp"))

    match step:
        case Filter(predicate=predicate, negate=negate):
            holds = as_kind(column(predicate), "truth", predicate)
            return replace(made, kept=made.kept & fn.coalesce(~holds if negate else holds, fn.lit(False)))
        case MapValues(mapper=mapper):
            return replace(made, value=column(mapper))
        case SelectKey(mapper=mapper):
            return replace(made, key=column(mapper))
    raise AssertionError(step)


def _decoded(serde: Serde, part: str) -> Typed:
    kind = KINDS[serde.name]
    return Typed(fn.col(part) if kind == "opaque" else fn.col(part).cast("string"), kind)


def _is_readable(serde: Serde, part: str) -> "Column":
    checks: dict[str, Callable[[Column], Column]] = {
        "string": lambda data: fn.is_valid_utf8(data.cast("string")),
        "json": lambda data: fn.try_parse_json(data.cast("string")).isNotNull(),
        "bytes": lambda data: fn.lit(True),
    }
    size = FIXED_BYTES.get(serde.name)
    data = fn.col(part)
    holds = checks[serde.name](data) if size is None else fn.octet_length(data) == size
    return data.isNull() | holds


def _headers_with_reason() -> "Column":
    """As micro-batches write them, but without a stack trace."""
    why = {
        "exception": fn.lit("DecodingError"),
        "message": fn.lit("the source's serde cannot read the bytes of the record"),
        "topic": fn.col("topic"),
        "partition": fn.col("partition").cast("string"),
        "offset": fn.col("offset").cast("string"),
    }
    added = fn.array(
        *(
            fn.struct(fn.lit(f"__streams.errors.{name}").alias("key"), text.cast("binary").alias("value"))
            for name, text in why.items()
        )
    )
    return fn.when(fn.col("headers").isNull(), added).otherwise(fn.concat(fn.col("headers"), added))
