"""Operators without state: sources and sinks, filter, map, split, merge, peek."""

from functools import partial
from typing import Any

from moldau.pipeline.operators.records import NULL_KEY, Headers, OutputRecord
from moldau.pipeline.operators.wiring import Push, Wiring, builds, iterated, no_pair, of_record
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import (
    Arm,
    Filter,
    FlatMap,
    FlatMapValues,
    Map,
    MapValues,
    Merge,
    Node,
    Peek,
    SelectKey,
    Sink,
    Source,
    Split,
    Transform,
    has_key,
)


@builds(Source)
def source(node: Source, wiring: Wiring) -> list[Push]:
    """The task pushes what it has read. A source only passes it on."""
    return [wiring.downstream(node)]


@builds(Merge)
def merge(node: Merge, wiring: Wiring) -> list[Push]:
    return [wiring.downstream(node)] * len(node.parents)


@builds(Arm)
def arm(node: Arm, wiring: Wiring) -> list[Push]:
    return [wiring.downstream(node)]


@builds(Filter)
def filter_(node: Filter, wiring: Wiring) -> list[Push]:
    forward, negate = wiring.downstream(node), node.negate
    if isinstance(node.predicate, Expression):
        evaluate = node.predicate.evaluator()

        def by_expression(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
            holds = evaluate(key, value, timestamp_ms)
            if holds is not None and bool(holds) is not negate:
                forward(key, value, timestamp_ms, headers)

        return [by_expression]
    predicate = node.predicate
    if predicate is has_key:
        context = wiring.context

        def by_key(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
            if key is None:
                context.outputs.drop(node.name, NULL_KEY)
            else:
                forward(key, value, timestamp_ms, headers)

        return [by_key]

    def by_function(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if bool(predicate(key, value)) is not negate:
            forward(key, value, timestamp_ms, headers)

    return [by_function]


@builds(Map)
def map_(node: Map, wiring: Wiring) -> list[Push]:
    forward, mapped = wiring.downstream(node), of_record(node.mapper)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        pair = mapped(key, value, timestamp_ms)
        if type(pair) is not tuple or len(pair) != 2:
            pair = _as_pair(node, pair)
        forward(pair[0], pair[1], timestamp_ms, headers)

    return [push]


def _as_pair(node: Node, given: Any) -> tuple[Any, Any]:
    """Accepts a pair that is not a plain tuple. A string or a dict of length two is not a pair."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    raise no_pair(node, given)


@builds(MapValues)
def map_values(node: MapValues, wiring: Wiring) -> list[Push]:
    forward = wiring.downstream(node)
    mapper = node.mapper
    if not isinstance(mapper, Expression) and not node.with_key:
        function = mapper

        def of_value(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
            forward(key, function(value), timestamp_ms, headers)

        return [of_value]
    mapped = of_record(mapper)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        forward(key, mapped(key, value, timestamp_ms), timestamp_ms, headers)

    return [push]


@builds(FlatMap)
def flat_map(node: FlatMap, wiring: Wiring) -> list[Push]:
    forward, mapper = wiring.downstream(node), node.mapper

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        for pair in iterated(node, mapper(key, value), "(key, value)"):
            if type(pair) is not tuple or len(pair) != 2:
                pair = _as_pair(node, pair)
            forward(pair[0], pair[1], timestamp_ms, headers)

    return [push]


@builds(FlatMapValues)
def flat_map_values(node: FlatMapValues, wiring: Wiring) -> list[Push]:
    forward, mapper, with_key = wiring.downstream(node), node.mapper, node.with_key

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        for new_value in iterated(node, mapper(key, value) if with_key else mapper(value), "values"):
            forward(key, new_value, timestamp_ms, headers)

    return [push]


@builds(SelectKey)
def select_key(node: SelectKey, wiring: Wiring) -> list[Push]:
    forward, key_of = wiring.downstream(node), of_record(node.mapper)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        forward(key_of(key, value, timestamp_ms), value, timestamp_ms, headers)

    return [push]


@builds(Peek)
def peek(node: Peek, wiring: Wiring) -> list[Push]:
    forward, action = wiring.downstream(node), node.action

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        action(key, value)
        forward(key, value, timestamp_ms, headers)

    return [push]


@builds(Split)
def split(node: Split, wiring: Wiring) -> list[Push]:
    arms = {
        child.index: wiring.inputs(child.name)[0] for child in wiring.children(node) if isinstance(child, Arm)
    }
    ways = [
        (None if predicate is None else of_record(predicate), arms.get(index))
        for index, predicate in enumerate(node.predicates)
    ]

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        for holds, forward in ways:
            if holds is None or holds(key, value, timestamp_ms):
                if forward is not None:
                    forward(key, value, timestamp_ms, headers)
                return

    return [push]


@builds(Sink)
def sink(node: Sink, wiring: Wiring) -> list[Push]:
    if node.topic is None:
        return [_sink_by_record(node, wiring)] * len(node.parents)
    topic, context = node.topic, wiring.context
    encode_key = node.key_serde.encoder(topic, is_key=True)
    encode_value = node.value_serde.encoder(topic, is_key=False)
    partition_of = node.partition_of
    make = partial(tuple.__new__, OutputRecord)  # as OutputRecord(...), in half the time
    if topic in wiring.topology.internal_topics:

        def push_inside(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
            partition = partition_of(topic, key, value) if partition_of else None
            context.outputs.records.append(
                make(
                    (
                        topic,
                        partition,
                        timestamp_ms,
                        encode_key(key),
                        encode_value(value),
                        headers,
                        context.order_ms,
                    )
                )
            )

        return [push_inside] * len(node.parents)

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        partition = partition_of(topic, key, value) if partition_of else None
        context.outputs.records.append(
            make((topic, partition, timestamp_ms, encode_key(key), encode_value(value), headers, -1))
        )

    return [push] * len(node.parents)


@builds(Transform)
def transform(node: Transform, wiring: Wiring) -> list[Push]:
    """The driver runs it, over the topics before and behind it: no task does."""

    def refuse(*_: Any) -> None:
        raise AssertionError(f"{node.name} is not for a task")

    return [refuse]


def _sink_by_record(node: Sink, wiring: Wiring) -> Push:
    topic_of, partition_of, context = node.topic_of, node.partition_of, wiring.context
    assert topic_of is not None
    encoders: dict[str, Any] = {}

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        topic = topic_of(key, value, context)
        pair = encoders.get(topic)
        if pair is None:
            pair = encoders[topic] = (
                node.key_serde.encoder(topic, is_key=True),
                node.value_serde.encoder(topic, is_key=False),
            )
        partition = partition_of(topic, key, value) if partition_of else None
        context.outputs.records.append(
            OutputRecord(topic, partition, timestamp_ms, pair[0](key), pair[1](value), headers)
        )

    return push
